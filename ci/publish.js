/**
 * Publishes what a gate measured: a check of the commit, and the comment of its pull request. Only this job has the right to write.
 *
 *   node ci/publish.js find            finds the commit and the pull request of the run, and the comment's artifact. Sets the outputs
 *                                      `commit`, `pull` and `artifact`, or no output if nothing is to be written
 *   node ci/publish.js write FOLDER    checks FOLDER/comment.md, and writes the comment and the check. FOLDER is missing if the gate
 *                                      failed before it could write a comment; then both report a failed set-up
 *
 * It runs in the event workflow_run, with the code of the default branch and nothing from the pull request. The event identifies the
 * pull request or the commit; the artifact never does. GATE_NAME is the gate.
 */
import { appendFileSync, existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ask, each, upsert } from './github.js';
import { MOST_BYTES, checkComment } from './inert.js';

const { GITHUB_EVENT_PATH = '', GITHUB_OUTPUT, GITHUB_REPOSITORY, GATE_NAME = 'gate' } = process.env;
const ARTIFACT = `windtunnel-comment-${GATE_NAME}`;
/** The user name of a workflow's token. */
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

/** Events whose runs belong to a pull request. */
const OF_PULLS = ['pull_request', 'pull_request_target'];
/** Events whose runs belong to a commit of this repository. */
const OF_COMMITS = ['merge_group', 'push', 'schedule', 'workflow_dispatch'];

/** The open pull request of a run; the event of a fork does not name it. @param {any} run @returns {Promise<number | null>} */
async function pullOf(run) {
  const owner = run.head_repository?.owner?.login;
  if (!owner) return null;
  for await (const pull of each('GET /pulls', { state: 'open', head: `${owner}:${run.head_branch}` })) {
    const same =
      pull.head.sha === run.head_sha && pull.head.repo?.full_name === run.head_repository.full_name;
    if (same && pull.base.repo.full_name === GITHUB_REPOSITORY) return pull.number;
  }
  return null;
}

/**
 * The commit and the pull request of a run; null if nothing is written of the run.
 * @param {any} run @returns {Promise<{ commit: string, pull: number | null } | null>}
 */
async function placeOf(run) {
  if (OF_PULLS.includes(run.event)) {
    const pull = await pullOf(run);
    return pull === null ? null : { commit: run.head_sha, pull };
  }
  const ours = OF_COMMITS.includes(run.event) && run.head_repository?.full_name === GITHUB_REPOSITORY;
  return ours ? { commit: run.head_sha, pull: null } : null;
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
  const place = await placeOf(run);
  if (place === null)
    return console.log(
      `nothing to write: the run (${run.event}) is of no open pull request and of no commit of this repository, or a newer commit took its place`,
    );
  const { artifacts } = await ask(`GET /actions/runs/${run.id}/artifacts`, { name: ARTIFACT });
  const [artifact] = artifacts.filter((/** @type {any} */ one) => one.name === ARTIFACT && !one.expired);
  // If the workflow skipped the gate, nothing is written. A failed gate must be reported, or a required check would wait forever.
  if (!artifact && (await endOf(run)) !== 'failure')
    return console.log(`nothing to write: the run left no ${ARTIFACT}`);
  if (artifact?.size_in_bytes > MOST_BYTES)
    refuse(`${ARTIFACT} has ${artifact.size_in_bytes} bytes, and at most ${MOST_BYTES} are taken`);
  return output({ commit: place.commit, pull: place.pull ?? '', artifact: artifact?.id ?? '' });
}

/**
 * The conclusion of the gate's job: the job with the gate's name, also in a called workflow. If no job or several jobs have that
 * name, the conclusion of the whole run.
 * @param {any} run
 */
async function endOf(run) {
  const conclusions = [];
  for await (const job of each(`GET /actions/runs/${run.id}/jobs`, { filter: 'latest' }))
    if (job.name === GATE_NAME || job.name.endsWith(` / ${GATE_NAME}`)) conclusions.push(job.conclusion);
  return conclusions.length === 1 ? conclusions[0] : run.conclusion;
}

/**
 * The conclusion of the check: the worse of the job's and the comment's conclusion.
 * @param {string} job the job's conclusion @param {string} conclusion of the artifact
 */
export function conclusionOf(job, conclusion) {
  if (job === 'success') return conclusion;
  return job === 'cancelled' ? 'cancelled' : 'failure';
}

/** Comment and check of a gate that left no comment. */
const NO_COMMENT = {
  text: `<!-- windtunnel ${GATE_NAME} set-up-failed failure -->\n### Windtunnel: set-up failed\n\nThe log of the gate's job says why.\n`,
  verdict: 'set-up-failed',
  conclusion: 'failure',
};

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

/** The newest of a gate's comments. Older ones are deleted. @param {number} pull @returns {Promise<number | undefined>} */
async function onlyComment(pull) {
  const marker = `<!-- windtunnel ${GATE_NAME} `;
  const ids = [];
  for await (const comment of each(`GET /issues/${pull}/comments`))
    if (comment.user?.login === WRITER && comment.body?.startsWith(marker)) ids.push(comment.id);
  for (const id of ids.slice(0, -1)) await ask(`DELETE /issues/comments/${id}`);
  return ids.at(-1);
}

/** The check of this run of the gate. @param {string} name @param {any} run @returns {Promise<number | undefined>} */
async function checkOf(name, run) {
  const filter = { check_name: name, filter: 'all' };
  for await (const check of each(`GET /commits/${run.head_sha}/check-runs`, filter))
    if (check.external_id === runKey(run)) return check.id;
  return undefined;
}

/** Identifies a run and its attempt. @param {any} run */
const runKey = (run) => `${run.id}-${run.run_attempt ?? 1}`;

/** @param {string} folder */
async function write(folder) {
  const run = ended();
  const place = await placeOf(run);
  if (place === null) return console.log('nothing to write: a newer commit took its place');
  const { pull } = place;
  const { text, verdict, conclusion: stated } = existsSync(folder) ? commentIn(folder) : NO_COMMENT;
  const done = [];
  if (pull !== null) {
    const how = await upsert(() => onlyComment(pull), {
      create: `POST /issues/${pull}/comments`,
      change: (id) => `PATCH /issues/comments/${id}`,
      body: { body: `${text}\nMeasured at ${run.head_sha}.\n` },
    });
    done.push(`${how} the comment of #${pull}`);
  }
  const name = `Windtunnel ${GATE_NAME}`;
  const conclusion = conclusionOf(await endOf(run), stated);
  await upsert(() => checkOf(name, run), {
    create: 'POST /check-runs',
    change: (id) => `PATCH /check-runs/${id}`,
    body: {
      name,
      head_sha: run.head_sha,
      external_id: runKey(run),
      status: 'completed',
      conclusion,
      output: { title: verdict.replaceAll('-', ' '), summary: text },
    },
  });
  return console.log([...done, `wrote the check of ${run.head_sha}: ${conclusion}`].join('; '));
}

const [command, folder] = process.argv.slice(2);
try {
  if (command === 'find') await find();
  else if (command === 'write' && folder) await write(folder);
  else if (import.meta.filename === process.argv[1]) refuse('usage: publish.js find | write FOLDER');
} catch (error) {
  refuse(/** @type {Error} */ (error).message);
}
