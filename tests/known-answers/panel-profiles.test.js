/** The long profiles of the panel's scenarios, cut short: each of them works, changes what it says, and leaves nobody. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withPanel } from '../support/faulty.js';
import { runPanel } from '../support/k6.js';

const SCENARIOS = ['users-create', 'users-disable', 'users-enable', 'users-lifecycle', 'users-list', 'mixed'];
/** Without it a closed loop takes a whole CPU from all tests beside this one. */
const DELAY_MS = 20;
/** Where a few seconds suffice for a way back, and for each kind of request. */
const VARIABLES = { USERS: '60', CLIENTS: '6', DURATION: '4s' };
/** Requests a second. A breakpoint goes to twenty times as many, and has three virtual users for each two of them. */
const RATES = { full: '20', breakpoint: '5' };

describe('long profiles', { concurrency: 3 }, () => {
  for (const name of SCENARIOS) {
    for (const [profile, RATE] of Object.entries(RATES)) {
      test(`${name} in ${profile}`, async () => {
        await withPanel({ foreign: ['alice', 'bob'], delayMs: DELAY_MS }, async (panel) => {
          const variables = { ...VARIABLES, RATE, PROFILE: profile };
          const { result, stderr } = await runPanel(name, panel.url, variables);
          for (const row of result.operations) {
            assert.deepEqual(row.errors, {}, `${row.name}: ${stderr}`);
            const optional = row.title.includes('on the way back');
            assert.ok((row.requests > 0 || optional) && row.success === row.requests, row.name);
          }
          const wrong = result.integrity.filter((/** @type {any} */ line) => line.ok !== true);
          assert.deepEqual(wrong, []);
          assert.equal(panel.truth.unchanged, 0, 'every switch changes something');
          assert.deepEqual([panel.truth.violations, panel.truth.mistakes], [[], []]);
          assert.deepEqual(panel.users().toSorted(), ['alice', 'bob']);
        });
      });
    }
  }
});
