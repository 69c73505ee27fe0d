/** The workflows' own steps, on made events, against commits of a small proxy: what they hold, and what they say where nothing can tell. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { BUILD, contextOf } from '../support/gate.js';
import { ROOT } from '../support/k6.js';
import { assertVerdict, keep, smallProxy } from '../support/small-proxy.js';
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
  const measured = await proxy.gate('merged/equal', 'pull_request', {
    'worse-by': '0.1',
    minutes: '1',
  });
  assertVerdict(measured, 'inconclusive');
  assert.match(measured.log, /::notice title=Windtunnel cannot tell::/);
  keep('cannot-tell', measured);
  const { job, log, checks } = await proxy.publish(measured);
  assert.equal(job.failed, false, log);
  assert.equal(checks[0].conclusion, 'neutral');
});

test('a week in which nothing that is built has changed is neutral, and not measured', async () => {
  const measured = await proxy.gate('main', 'schedule');
  assert.deepEqual([measured.outputs.verdict, measured.job.failed], ['inconclusive', false], measured.log);
  keep('same', measured);
});

test('a build that fails is told, and is no verdict', async () => {
  const measured = await proxy.gate('merged/broken', 'pull_request', {
    build: `${BUILD} && python3 -m py_compile out/proxy`,
  });
  assert.deepEqual([measured.outputs.verdict, measured.job.failed], ['set-up failed', true], measured.log);
  assert.match(measured.comment, /set-up failed/);
  keep('broken', measured);
});
