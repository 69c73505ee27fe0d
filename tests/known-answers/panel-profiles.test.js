/** The long profiles of the panel's scenarios, shortened: each works, changes what it should, and leaves no users. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withPanel } from '../support/faulty.js';
import { runPanel } from '../support/k6.js';

const SCENARIOS = ['users-create', 'users-disable', 'users-enable', 'users-lifecycle', 'users-list', 'mixed'];
/** Without a delay, a closed loop takes a whole CPU from the tests beside it, ms. */
const DELAY_MS = 20;
/** So few users that a few seconds suffice to switch them back, and for requests of each kind. */
const VARIABLES = { USERS: '60', CLIENTS: '6', DURATION: '4s' };
/**
 * Requests per second, and scenarios. `full` runs the open loop of each scenario, so `breakpoint` runs one of each kind. A breakpoint goes
 * up to twenty times its rate, with 1.5 virtual users per request and second.
 * @type {Record<string, { RATE: string, scenarios: string[] }>}
 */
const PROFILES = {
  full: { RATE: '20', scenarios: SCENARIOS },
  breakpoint: { RATE: '5', scenarios: ['users-create', 'users-disable', 'mixed'] },
};

describe('long profiles', { concurrency: 3 }, () => {
  for (const [profile, { RATE, scenarios }] of Object.entries(PROFILES)) {
    for (const name of scenarios) {
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
