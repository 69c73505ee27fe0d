/** A relay or a panel stops at the start, in the middle or at the end of a run that time ends: nothing that began may be lost. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withPanel, withRelay } from '../support/faulty.js';
import { operation, runPanel, runScenario } from '../support/k6.js';

const SECONDS = 3;
const RATE = 40;
/** Longer than a request's timeout and, at the end, longer than the run, ms. */
const SILENT_MS = 3000;
const VARIABLES = { DURATION: `${SECONDS}s`, REQUEST_TIMEOUT_S: '2' };
/** The load's first request, after the warm-up of set-up. */
const FIRST_PUBLISH = 21;
const FIRST_REQUEST = 36;
/** Start of the outage, as a share of a loop's time. */
const PLACES = Object.entries({ start: 0.3, middle: 0.5, end: 0.85 });

/** @param {any} result @param {string} name @param {number} code */
function told(result, name, code) {
  const row = operation(result, name);
  const failed = row.requests - row.success;
  assert.equal(result.verdict, 'fail', JSON.stringify(result.reasons));
  assert.equal(code, 99);
  assert.ok(failed > 0 && row.errors.timeout > 0, JSON.stringify(row.errors));
  return { row, failed };
}

describe('an outage', { concurrency: 2 }, () => {
  for (const [place, share] of PLACES) {
    // The outage begins at a time, not after a number of requests, which a slow machine might not reach.
    const length = { laterMs: SECONDS * 1000 * share, ms: SILENT_MS };

    test(`of a relay, at the ${place} of an open loop`, async () => {
      await withRelay({ stall: { afterPublishes: FIRST_PUBLISH, ...length } }, async (relay) => {
        const variables = { ...VARIABLES, PROFILE: 'soak', RATE: String(RATE) };
        const { code, result } = await runScenario('ingest', relay.url, variables);
        const { row, failed } = told(result, 'publish_open', code);
        assert.equal(row.requests, row.success + failed);
        const recorded = SECONDS * 0.75;
        assert.ok(row.window_s >= recorded, `${row.window_s} s`);
        assert.ok(row.rate_per_s <= row.success / recorded + 0.001, `${row.rate_per_s}/s`);
      });
    });

    test(`of a panel, at the ${place} of a closed loop`, async () => {
      const stall = { afterRequests: FIRST_REQUEST, ...length };
      await withPanel({ delayMs: 50, stall }, async (panel) => {
        const variables = { ...VARIABLES, PROFILE: 'full', CLIENTS: '4' };
        const { code, result } = await runPanel('users-lifecycle', panel.url, variables);
        const rows = result.operations.filter((/** @type {any} */ row) => row.errors.timeout > 0);
        assert.ok(rows.length > 0, JSON.stringify(result.operations));
        const { row } = told(result, rows[0].name, code);
        assert.ok(row.window_s >= SECONDS * 0.99, `${row.window_s} s`);
        const all = rows.reduce((/** @type {number} */ sum, { errors }) => sum + errors.timeout, 0);
        assert.equal(all, 4, 'each client waits once');
      });
    });
  }
});
