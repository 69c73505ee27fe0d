/** A run stops early if its target is gone for good. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { operation, runScenario } from '../support/k6.js';
import { until } from '../support/processes.js';
import { reasonsOf } from '../support/reasons.js';

test('a relay elsewhere that goes away ends the run, which fails and says since when', async () => {
  const relay = await startRelay({});
  const run = runScenario('ingest', relay.url, { PROFILE: 'soak', DURATION: '90s', RATE: '50' });
  /** @type {number} */
  let goneAt;
  try {
    await until(() => relay.truth.served.length > 250, 'the load');
  } finally {
    goneAt = Date.now();
    await relay.stop();
  }
  const { result } = await run;
  assert.equal(result.verdict, 'fail');
  assert.match(
    reasonsOf(result).join('\n'),
    /target: the system answered nothing for 10 s, from second [\d.]+ of the run/,
  );
  const row = operation(result, 'publish_open');
  assert.ok(row.success > 50, `${row.success} answered`);
  assert.ok(row.errors.connection_refused > 0, JSON.stringify(row.errors));
  const lasted = (new Date(result.run.end).getTime() - goneAt) / 1000;
  assert.ok(lasted > 9 && lasted < 60, `${lasted} s after the relay had gone, of 90 planned`);
});
