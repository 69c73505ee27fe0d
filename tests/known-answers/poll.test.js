/** Long polling against a relay with known faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRelay, within } from '../support/faulty.js';
import { operation, runScenario } from '../support/k6.js';
import { assertVerdict } from '../support/verdict.js';
import { undisturbed } from '../support/timely.js';

test(
  'poll reports the delay of a wake-up and the length of a wait',
  undisturbed(async () => {
    await withRelay({ delayMs: 120 }, async (relay) => {
      const { code, result } = await runScenario('poll', relay.url, { POLLS: '4', CLIENTS: '2' });
      const wake = operation(result, 'wake');
      const wait = operation(result, 'wait');
      assert.deepEqual([wake.success, wait.success], [40, 4]);
      // The relay delays the publish request by 120 ms, and then the answer of the poll by 120 ms.
      within(wake.latency_ms.p50, 242, 0.1);
      within(wait.latency_ms.avg, 1000, 0.1);
      assertVerdict(result, 'pass', code);
    });
  }),
);

test('a refused publish fails its wake-up under its own name', async () => {
  await withRelay({ publishError: { every: 10, status: 503 } }, async (relay) => {
    const { result } = await runScenario('poll', relay.url, { POLLS: '1', CLIENTS: '1' });
    // The poll itself then waits ten seconds in vain: one of ten.
    assert.deepEqual(operation(result, 'wake').errors, { http_5xx: 1 });
    assertVerdict(result, 'fail');
  });
});

test('an answer that cannot be read is a failure', async () => {
  await withRelay({ garbledEvery: 11 }, async (relay) => {
    const { result } = await runScenario('poll', relay.url, { POLLS: '2', CLIENTS: '1' });
    // A round has ten wake-ups and one wait, so every eleventh answer belongs to the wait.
    assert.deepEqual(operation(result, 'wake').errors, {});
    assert.deepEqual(operation(result, 'wait').errors, { bad_response: 2 });
    assertVerdict(result, 'fail');
  });
});
