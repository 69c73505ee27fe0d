/**
 * Writes what a gate measured into its pull request: the one part with the right to write.
 *
 *   node ci/publish.js find    whose run was it, and where is its comment? Sets artifact and pull as outputs, none where there
 *                              is nothing to write
 *   node ci/publish.js write FOLDER    checks FOLDER/comment.md, writes the comment anew or in place, and the check
 *
 * It runs in the event workflow_run, with the code of the default branch and nothing of the pull request. Whose pull request it
 * is says the event, never the artifact. GATE_NAME is the gate.
 */
import { appendFileSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ask, each } from './github.js';
import { MOST_BYTES, checkComment } from './inert.js';

const { GITHUB_EVENT_PATH = '', GITHUB_OUTPUT, GITHUB_REPOSITORY, GATE_NAME = 'gate' } = process.env;
const ARTIFACT = `windtunnel-comment-${GATE_NAME}`;
/** Who writes with the token of a workflow. */
const WRITER = 'github-actions[bot]';

/** @param {string} line @returns {never} */
function refuse(line) {
  console.error(`publish: ${line}`);
  process.exit(1);
}

/** The run that ended. */
function ended() {
  const run = JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')).workflow_run;
  if (!run) refuse('this event is no workflow_run');
  return run;
}

/** The open pull request that a run was of; an event of a fork does not name it. @param {any} run @returns {Promise<number | null>} */
async function pullOf(run) {
  const owner = run.head_repository?.owner?.login;
  if (run.event !== 'pull_request' || !owner) return null;
  const head = encodeURIComponent(`${owner}:${run.head_branch}`);
  for await (const pull of each(`/pulls?state=open&head=${head}`)) {
    const same =
      pull.head.sha === run.head_sha && pull.head.repo?.full_name === run.head_repository.full_name;
    if (same && pull.base.repo.full_name === GITHUB_REPOSITORY) return pull.number;
  }
  return null;
}

/** @param {Record<string, unknown>} values */
function output(values) {
  for (const [name, value] of Object.entries(values)) {
    console.log(`${name}: ${value}`);
    if (GITHUB_OUTPUT) appendFileSync(GITHUB_OUTPUT, `${name}=${value}\n`);
  }
}

async function find() {
  const run = ended();
  const pull = await pullOf(run);
  if (pull === null)
    return console.log(
      'nothing to write: the run is of no open pull request, or a newer commit took its place',
    );
  const { artifacts } = await ask(
    'GET',
    `/actions/runs/${run.id}/artifacts?name=${encodeURIComponent(ARTIFACT)}`,
  );
  const [artifact] = artifacts.filter((/** @type {any} */ one) => one.name === ARTIFACT && !one.expired);
  if (!artifact) return console.log(`nothing to write: the run left no ${ARTIFACT}`);
  if (artifact.size_in_bytes > MOST_BYTES)
    refuse(`${ARTIFACT} has ${artifact.size_in_bytes} bytes, and at most ${MOST_BYTES} are taken`);
  return output({ pull, artifact: artifact.id });
}

/**
 * How the gate's job of a run ended: the one with its name, by itself or in a workflow that was called; where none or several have it,
 * how the whole run ended.
 * @param {any} run
 */
async function endOf(run) {
  const own = [];
  for await (const job of each(`/actions/runs/${run.id}/jobs?filter=latest`, 'jobs'))
    if (job.name === GATE_NAME || job.name.endsWith(` / ${GATE_NAME}`)) own.push(job.conclusion);
  return own.length === 1 ? own[0] : run.conclusion;
}

/**
 * The check has the worse of the job's end and the comment's conclusion.
 * @param {string} job how it ended @param {string} conclusion of the artifact
 */
export function conclusionOf(job, conclusion) {
  if (job === 'success') return conclusion;
  return job === 'cancelled' ? 'cancelled' : 'failure';
}

/** @param {string} folder */
function commentIn(folder) {
  const names = readdirSync(folder);
  const path = join(folder, 'comment.md');
  if (names.length !== 1 || names[0] !== 'comment.md' || !lstatSync(path).isFile())
    refuse(`${ARTIFACT} holds more than one file comment.md`);
  if (lstatSync(path).size > MOST_BYTES) refuse(`comment.md has more than ${MOST_BYTES} bytes`);
  const checked = checkComment(readFileSync(path), GATE_NAME);
  if ('wrong' in checked) return refuse(`comment.md is not shown: ${checked.wrong}`);
  return checked;
}

/** @param {string} folder */
async function write(folder) {
  const run = ended();
  const pull = await pullOf(run);
  if (pull === null) return console.log('nothing to write: a newer commit took its place');
  const { text, verdict, conclusion: own } = commentIn(folder);
  const body = `${text}\nMeasured at ${run.head_sha}.\n`;
  const marker = `<!-- windtunnel ${GATE_NAME} `;
  let old;
  for await (const comment of each(`/issues/${pull}/comments`)) {
    if (comment.user?.login === WRITER && comment.body?.startsWith(marker)) old = comment.id;
  }
  if (old === undefined) await ask('POST', `/issues/${pull}/comments`, { body });
  else await ask('PATCH', `/issues/comments/${old}`, { body });
  const conclusion = conclusionOf(await endOf(run), own);
  await ask('POST', '/check-runs', {
    name: `Windtunnel ${GATE_NAME}`,
    head_sha: run.head_sha,
    status: 'completed',
    conclusion,
    output: { title: verdict.replaceAll('-', ' '), summary: text },
  });
  return console.log(
    `${old === undefined ? 'wrote' : 'updated'} the comment of #${pull}, and a check: ${conclusion}`,
  );
}

const [command, folder] = process.argv.slice(2);
try {
  if (command === 'find') await find();
  else if (command === 'write' && folder) await write(folder);
  else if (import.meta.filename === process.argv[1]) refuse('usage: publish.js find | write FOLDER');
} catch (error) {
  refuse(/** @type {Error} */ (error).message);
}
