/** The profile breakpoint against a relay with a known capacity. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRelay } from '../support/faulty.js';
import { runScenario } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

test('breakpoint finds a known capacity', async () => {
  await withRelay({ capacityPerSecond: 25 }, async (relay) => {
    // Steps of 4 s at 10, 20, 30 … requests per second. Not more steps: k6 creates the virtual users for the highest step at the start.
    const { result } = await runScenario('ingest', relay.url, {
      PROFILE: 'breakpoint',
      RATE: '10',
      DURATION: '80s',
    });
    const limit = result.notes.find((/** @type {string} */ note) => note.startsWith('the limit: '));
    // Step 3 is 20 % above the capacity: within 4 s its backlog may stay below the bound. In step 4 it cannot.
    assert.match(
      limit ?? result.notes.join('\n'),
      /^the limit: (20|30) requests a second held, (30|40) requests a second did not$/,
    );
    assertVerdict(result, 'pass');
  });
});

test('breakpoint fails on a target that never worked', async () => {
  await withRelay({ publishError: { every: 1, status: 401 } }, async (relay) => {
    const { result } = await runScenario('ingest', relay.url, {
      PROFILE: 'breakpoint',
      RATE: '5',
      DURATION: '80s',
    });
    assertVerdict(result, 'fail');
    assert.match(
      reasonsOf(result)[0],
      /the first step already exceeded the limit: .*no success, 100% failed/,
    );
  });
});
