/** The workflows' own steps, on made events, against commits of a small proxy: their contents, and their output without a verdict. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { BUILD, contextOf } from '../support/gate.js';
import { ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';
import { assertMeasured, assertVerdict, keep, smallProxy } from '../support/small-proxy.js';
import { runs } from '../support/workflow.js';

const proxy = smallProxy();
after(proxy.remove);

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

test('where nothing can tell, the job succeeds and the check is neutral', async () => {
  // Long rests take most of the minute, so that few pairs are measured.
  const inputs = { 'worse-by': '0.1', minutes: '1' };
  const measured = await proxy.gate('merged/equal', 'pull_request', inputs, { REST_S: '8' });
  assertVerdict(measured, 'inconclusive');
  assert.match(measured.log, /::notice title=Windtunnel cannot tell, too (noisy|little time)::/);
  keep('cannot-tell', measured);
  const { job, log, checks } = await proxy.publish(measured);
  assert.equal(job.failed, false, log);
  assert.equal(checks[0].conclusion, 'neutral');
});

test('a week in which nothing that is built has changed is neutral, and not measured', async () => {
  const measured = await proxy.gate('main', 'schedule');
  const { verdict, doubt } = measured.outputs;
  const found = [verdict, doubt, measured.job.failed];
  assert.deepEqual(found, ['inconclusive', 'both sides are the same', false], measured.log);
  keep('same', measured);
});

test('rows of the matrix take two commits that are built, base as the baseline', async () => {
  const inputs = {
    protocol: 'socks',
    scenario: '',
    testbed: '',
    'worse-by': '',
    minutes: '1',
    // The file differs for each commit, but each file is still sing-box.
    build: `mkdir -p out && { printf '#!/bin/sh\\nexec %s "$@"\\n' '${join(ROOT, 'bin/sing-box')}'; sed 's/^/# /' proxy.py; } >out/proxy && chmod +x out/proxy`,
  };
  const measured = await proxy.gate('merged/equal', 'pull_request', inputs, { TURNS: '2', TUNNELS: '10' });
  assertMeasured(measured, 'pass');
  assert.match(measured.comment, /\| socks<br>/);
  keep('rows', measured);
});

test('an input that is wrong is a failure, and the comment names it', async () => {
  const wrong = await proxy.gate('merged/equal', 'pull_request', { testbed: 'nothing' });
  assert.deepEqual([wrong.outputs.conclusion, wrong.job.failed], ['failure', true], wrong.log);
  assert.match(
    wrong.comment,
    /^<!-- windtunnel proxy set-up-failed failure -->\n[^]*there is no testbed "nothing"/,
  );
});

test('an input that nothing would read is refused, and nothing of a gate before is shown', () => {
  const folder = temporaryFolder('gate-inputs');
  const GATE = { GATE_BASE: '/a', GATE_HEAD: '/b', GATE_OUT: folder.path };
  const gate = (/** @type {string} */ what, /** @type {Record<string, string>} */ inputs) =>
    spawnSync(join(ROOT, 'ci/gate'), [what], {
      encoding: 'utf8',
      env: { ...cleanEnvironment(), ...GATE, GITHUB_RUN_ID: `inputs-${process.pid}`, ...inputs },
    });
  try {
    for (const [inputs, why] of /** @type {[Record<string, string>, RegExp][]} */ ([
      [{ GATE_BASE: '' }, /base and head are not both given/],
      [{ GATE_ON_INCONCLUSIVE: 'pass' }, /on-inconclusive: 'pass' is neither neutral nor fail/],
      [{}, /neither scenario nor protocol is given/],
      [{ GATE_SCENARIO: 'dataplane/socks-tcp' }, /testbed is not given/],
      [{ GATE_PROTOCOL: 'socks', GATE_WORSE_BY: '5' }, /worse-by is given beside protocol/],
      [{ GATE_PROTOCOL: 'socks', GATE_TESTBED: 'own-proxy' }, /testbed is given beside protocol/],
      [{ GATE_PROTOCOL: 'socks', GATE_BUILD: 'make' }, /binary, source and wheel are not given/],
    ])) {
      writeFileSync(join(folder.path, 'verdict'), 'code=0\n');
      writeFileSync(join(folder.path, 'comment.md'), 'of the gate before');
      const { status, stdout } = gate('run', inputs);
      assert.equal(status, 0, stdout);
      assert.match(stdout, why);
      const comment = readFileSync(join(folder.path, 'comment.md'), 'utf8');
      assert.match(comment, /^<!-- windtunnel gate set-up-failed failure -->/);
      assert.match(comment, why);
      assert.equal(gate('end', inputs).status, 1);
    }
    for (const name of ['..', 'a/b', 'a--b', 'A']) {
      const { status, stderr } = gate('run', { GATE_NAME: name });
      assert.equal(status, 2);
      assert.match(stderr, /^gate: name: '.*' is not of at most 40 .*\n$/);
    }
  } finally {
    folder.remove();
    rmSync(join(ROOT, `results/gate-gate-inputs-${process.pid}-1`), { recursive: true, force: true });
  }
});

test('a build that fails is told in a comment of a fork’s pull request, and is no verdict', async () => {
  const measured = await proxy.gate('merged/broken', 'pull_request', {
    build: `${BUILD} && python3 -m py_compile out/proxy`,
  });
  assert.deepEqual([measured.outputs.verdict, measured.job.failed], ['set-up failed', true], measured.log);
  assert.match(measured.comment, /set-up failed/);
  keep('broken', measured);
  // The comment is written once, however often publish.yml runs.
  /** @type {any[]} */
  const comments = [];
  const first = await proxy.publish(measured, comments);
  assert.equal(first.job.failed, false, first.log);
  const again = await proxy.publish(measured, comments);
  assert.equal(again.job.failed, false, again.log);
  assert.equal(comments.length, 1);
  assert.ok(comments[0].body.startsWith(measured.comment));
  assert.equal(again.checks[0].conclusion, measured.outputs.conclusion);
  assert.ok(!again.log.includes('the-token-of-this-job'));
});
