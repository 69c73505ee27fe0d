/** The real 3x-ui: its dialect, and its proxy's users. `make test-engines` builds it first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { assertVerdict } from '../support/verdict.js';

/** Two changes at once lose users in this panel. */
const ONE_CLIENT = { ENV: '3x-ui-1', CLIENTS: '1', USERS: '40', REQUESTS: '100' };
const SWITCHES = ['panel-users-disable', 'panel-users-enable'];
const REST = ['panel-users-create', 'panel-users-lifecycle', 'panel-mixed'];

test('the real 3x-ui stores what it claims, its proxy obeys, and it keeps no user of a run', async () => {
  const all = [...SWITCHES, ...REST];
  const bench = startBench({ ...ONE_CLIENT, ONLY: all.join(',').replaceAll('panel-', 'panel/') });
  try {
    await bench.ended;
    for (const name of all) assertVerdict(bench.result(name), 'pass');
    for (const name of SWITCHES) {
      const { notes, leftovers } = bench.result(name);
      assert.ok(
        notes.includes('20 of 40 users were tried in the data plane, each with its own key'),
        notes.join('\n'),
      );
      assert.deepEqual(leftovers ?? [], []);
    }
  } finally {
    bench.remove();
  }
});
