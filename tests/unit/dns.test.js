/** How many queries ought to have reached the authoritative server, and what is said where others did. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../fakes/k6-record.js';
import { integrityOf, recordUpstream } from '../../lib/protocols/dns-upstream.js';

/** @param {[number, number, number]} counts queries, expected, slack */
const metricsOf = ([queries, expected, slack]) =>
  /** @type {any} */ (
    Object.fromEntries(
      Object.entries({ queries, expected, slack }).map(([name, count]) => [
        `operation_upstream_${name}{operation:cached}`,
        { values: { count } },
      ]),
    )
  );

for (const [counts, ok, detail] of /** @type {[[number, number, number], boolean | null, RegExp][]} */ ([
  [[100, 100, 0], true, /as many/],
  [[110, 100, 0], false, /^10 queries too many reached the server/],
  [[95, 100, 0], false, /^5 queries were answered from a cache/],
  [[95, 100, 5], true, /as many/],
  [[105, 100, 4], false, /^5 queries too many/],
  [[0, 0, 0], null, /nothing was measured/],
])) {
  test(`${counts[0]} of ${counts[1]} with ${counts[2]} lost is ${ok}`, () => {
    const [line] = integrityOf(metricsOf(counts), [{ operation: 'cached' }]);
    assert.equal(line.ok, ok);
    assert.match(line.detail, detail);
    assert.equal(line.source, 'dns');
  });
}

/** @param {number | null} names @param {number} succeeded @param {number} [warmupFailed] */
function recorded(names, succeeded, warmupFailed = 0) {
  samples.length = 0;
  recordUpstream(
    'cached',
    120,
    names,
    50,
    /** @type {any} */ ({ attempted: 70, succeeded, warmup_failed: warmupFailed }),
  );
  return Object.fromEntries(
    samples.map(({ metric, value }) => [metric.replace('operation_upstream_', ''), value]),
  );
}

test('known names ought to get through once, new ones always, and what was lost may', () => {
  assert.deepEqual(recorded(10, 70), { queries: 120, expected: 10, slack: 0 });
  assert.deepEqual(recorded(null, 67), { queries: 120, expected: 120, slack: 3 });
  assert.equal(recorded(null, 67, 2).slack, 5);
  assert.ok(samples.every(({ tags }) => tags?.operation === 'cached'));
});
