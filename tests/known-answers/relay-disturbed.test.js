/** A relay that restarts in mid-run, or that has a subscriber who reads nothing: each fault is found and named, a right relay passes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withRelay } from '../support/faulty.js';
import { operation, runScenario } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const SUBSCRIBERS = 5;
const few = { PROFILE: 'smoke', SUBSCRIBERS: String(SUBSCRIBERS) };

/** @param {import('../fakes/relay.js').Faults} faults @param {(seen: { result: any, row: any, relay: import('../fakes/relay.js').FakeRelay }) => void} check */
const restarted = (faults, check) =>
  withRelay(faults, async (relay) => {
    const PULSAR_RESTART_URL = `${relay.url}/restart`;
    const { result } = await runScenario('restart', relay.url, { ...few, PULSAR_RESTART_URL });
    check({ result, relay, row: rowsOf(sectionOf(result, 'relay_restart'))[0] });
  });

describe('a relay that restarts', { concurrency: 3 }, () => {
  test(
    'and is right is back in its time, and loses only what came while it was down',
    undisturbed(() =>
      restarted({ downMs: 600 }, ({ result, row }) => {
        assert.deepEqual([row.subscribers, row.back], [SUBSCRIBERS, SUBSCRIBERS]);
        assert.deepEqual([row.lost_after, row.doubled], [0, 0]);
        for (const name of ['back', 'deliver', 'publish'])
          assert.deepEqual(operation(result, name).errors, {}, name);
        assert.equal(operation(result, 'back').success, SUBSCRIBERS);
        assert.ok(row.refused > 0 && row.all_s >= 0.6, JSON.stringify(row));
        timely(row.all_s < 1.2, `${row.all_s} s`);
      }),
    ),
  );

  test(
    'and loses 7 deliveries of subscribers that are back',
    undisturbed(() =>
      restarted({ losesBack: 7 }, ({ result, row }) => {
        assert.deepEqual([row.lost_before, row.doubled], [0, 0]);
        timely(row.lost_after === 7, `${row.lost_after}: not all were back in time`);
        assert.deepEqual(operation(result, 'deliver').errors, { lost: 7 });
        assert.equal(result.verdict, 'fail');
      }),
    ),
  );

  test('and doubles 4', () =>
    restarted({ doublesBack: 4 }, ({ result, row }) => {
      assert.deepEqual([row.lost_after, row.doubled], [0, 4]);
      assert.deepEqual(operation(result, 'deliver').errors, { duplicated: 4 });
      assert.equal(result.verdict, 'fail');
    }));
});

/** @param {import('../fakes/relay.js').Faults} faults @param {(rows: any[], result: any, relay: import('../fakes/relay.js').FakeRelay) => void} check @param {Record<string, string>} [more] */
const besideSlow = (faults, check, more = {}) =>
  withRelay(faults, async (relay) => {
    const given = { ...few, SUBSCRIBERS: '2', RATE: '40', ...more };
    const { result } = await runScenario('slow', relay.url, given);
    check(rowsOf(sectionOf(result, 'slow')), result, relay);
  });

describe('a relay with a subscriber that reads nothing', { concurrency: 2 }, () => {
  test(
    'and is right serves the others as before',
    undisturbed(() =>
      besideSlow({}, ([without, beside], result) => {
        assert.deepEqual([without.lost, beside.lost, beside.doubled], [0, 0, 0]);
        timely(sectionOf(result, 'slow').finding === undefined, 'the others were held up');
      }),
    ),
  );

  test(
    'and waits for that one holds up the others, and says so',
    undisturbed(() =>
      besideSlow({ waitsForSlow: true }, ([without, beside], result, relay) => {
        assert.deepEqual([without.lost, beside.lost], [0, 0]);
        timely(relay.restarts.heldMs > 0 && without.in_time > 0.9, 'too few messages came in time');
        const { finding = '' } = sectionOf(result, 'slow');
        timely(
          /^A subscriber that reads nothing holds up the others/.test(finding),
          `${beside.messages} messages: "${finding}"`,
        );
      }),
    ),
  );

  test('and drops each 20th delivery loses messages of both rooms; SLOW says how many read nothing', () =>
    besideSlow(
      { dropEvery: 20 },
      ([without, beside], result, { truth }) => {
        assert.ok(without.lost > 0 && beside.lost > 0);
        assert.equal(operation(result, 'deliver_slow').errors.lost, beside.lost);
        assert.equal(result.verdict, 'fail');
        assert.equal(truth.mostSubscribers, 2 + 5);
      },
      // Seven subscribers take turns in the lost deliveries, since 7 and 20 have no common factor.
      { SLOW: '5' },
    ));
});
