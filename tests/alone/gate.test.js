/**
 * The workflows' own steps, on made events, against two commits of a small proxy: one that costs SLOWER per cent more
 * for each byte (60 unless given, which is told within a minute; how often 15 are found, benchmarks/gate counts), one that differs in
 * a remark, one that differs in nothing that is built. KEEP=FOLDER keeps the comments.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { BUILD, contextOf, gate, proxyRepository, publish } from '../support/gate.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { runs } from '../support/workflow.js';

const folder = temporaryFolder('gate');
after(folder.remove);
let made = 0;
const fresh = () => {
  const path = join(folder.path, String((made += 1)));
  mkdirSync(path);
  return path;
};
const SLOWER = Number(process.env.SLOWER ?? 60);
const repository = proxyRepository(folder.path, {
  slower: (path) => writeFileSync(join(path, 'price'), `${100 + SLOWER}\n`),
  equal: (path) => appendFileSync(join(path, 'proxy.py'), '# nothing else\n'),
  broken: (path) => writeFileSync(join(path, 'price'), '"\n'),
});
const PROXY = {
  name: 'proxy',
  build: BUILD,
  binary: 'out/proxy',
  testbed: 'own-proxy',
  scenario: 'dataplane/socks-tcp',
  profile: 'smoke',
  minutes: '3',
  'worse-by': String(SLOWER / 3),
};
/** What a machine with others on it may make of a comparison. */
const MACHINE = /can be used|is unclear|too few|neighbour|too near the bound/;

/** @param {string} name @param {string} text */
function keep(name, text) {
  if (!process.env.KEEP) return;
  mkdirSync(process.env.KEEP, { recursive: true });
  writeFileSync(join(process.env.KEEP, `${name}.md`), text);
}

/** @param {Awaited<ReturnType<typeof gate>>} measured @param {string} verdict that must come, or none for a reason of the machine */
function assertVerdict(measured, verdict) {
  const found = measured.outputs.verdict;
  assert.ok([verdict, 'inconclusive'].includes(found), `${found}\n${measured.log}`);
  if (found !== verdict) assert.match(measured.comment, MACHINE);
  const conclusion = { pass: 'success', fail: 'failure', inconclusive: 'neutral' }[found];
  assert.equal(measured.outputs.conclusion, conclusion);
  assert.equal(measured.job.failed, conclusion === 'failure', measured.log);
  assert.ok(measured.comment.startsWith(`<!-- windtunnel proxy ${found} -->\n`), measured.comment);
  assert.ok(measured.summary.includes(measured.comment.trim()));
  assert.match(measured.junit, /<testsuite name="dataplane\/socks-tcp"/);
}

test('a gate holds no secret and no right to write', () => {
  for (const file of ['action.yml', '.github/workflows/gate.yml']) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    assert.doesNotMatch(text, /secrets\.|github\.token|: write/);
  }
  const { jobs } = parse(readFileSync(join(ROOT, '.github/workflows/publish.yml'), 'utf8'));
  const ran = jobs.publish.steps.map((/** @type {any} */ step) => step.run ?? '').join('\n');
  assert.doesNotMatch(ran, /\$\{\{/);
});

test('a pull request is measured with the label, and weekly, and by hand', () => {
  const { jobs } = parse(readFileSync(join(ROOT, '.github/workflows/compare.yml'), 'utf8'));
  const measured = (/** @type {any} */ context) => runs(jobs.panel, context, false);
  assert.equal(measured(contextOf('pull_request')), false);
  assert.equal(measured(contextOf('pull_request', { labels: ['other'] })), false);
  assert.equal(measured(contextOf('pull_request', { labels: ['other', 'windtunnel'] })), true);
  assert.equal(measured(contextOf('schedule')), true);
  assert.equal(measured(contextOf('workflow_dispatch')), true);
});

test('a pull request of a fork that costs more fails, and its comment is written', async () => {
  const measured = await gate(fresh(), repository, 'merged/slower', 'pull_request', PROXY);
  assertVerdict(measured, 'fail');
  keep('slower', measured.comment);
  /** @type {any[]} */
  const comments = [];
  const first = await publish(fresh(), measured, 'proxy', comments);
  assert.equal(first.job.failed, false, first.log);
  const again = await publish(fresh(), measured, 'proxy', comments);
  assert.equal(again.job.failed, false, again.log);
  assert.equal(comments.length, 1);
  assert.ok(comments[0].body.startsWith(measured.comment));
  assert.equal(again.checks[0].conclusion, measured.outputs.conclusion);
  assert.ok(!again.log.includes('the-token-of-this-job'));
});

test('a pull request that is as fast passes', async () => {
  const measured = await gate(fresh(), repository, 'merged/equal', 'pull_request', PROXY);
  assertVerdict(measured, 'pass');
  keep('equal', measured.comment);
});

test('where nothing can tell, the job succeeds and the check is neutral', async () => {
  const measured = await gate(fresh(), repository, 'merged/equal', 'pull_request', {
    ...PROXY,
    'worse-by': '0.1',
    minutes: '1',
  });
  assertVerdict(measured, 'inconclusive');
  assert.match(measured.log, /::notice title=Windtunnel cannot tell::/);
  keep('cannot-tell', measured.comment);
  const { job, log, checks } = await publish(fresh(), measured, 'proxy', []);
  assert.equal(job.failed, false, log);
  assert.equal(checks[0].conclusion, 'neutral');
});

test('a week in which nothing that is built has changed is neutral, and not measured', async () => {
  const measured = await gate(fresh(), repository, 'main', 'schedule', PROXY);
  assert.deepEqual([measured.outputs.verdict, measured.job.failed], ['inconclusive', false], measured.log);
  keep('same', measured.comment);
});

test('a build that fails is told, and is no verdict', async () => {
  const measured = await gate(fresh(), repository, 'merged/broken', 'pull_request', {
    ...PROXY,
    build: `${BUILD} && python3 -m py_compile out/proxy`,
  });
  assert.deepEqual([measured.outputs.verdict, measured.job.failed], ['set-up failed', true], measured.log);
  assert.match(measured.comment, /set-up failed/);
  keep('broken', measured.comment);
});
