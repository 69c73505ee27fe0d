/** How many queries should have reached the authoritative server, and the counters that the judge compares. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../fakes/k6-record.js';
import { factsOf, recordUpstream } from '../../lib/protocols/dns-upstream.js';

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

test('the judge is told by the counters that were recorded', () => {
  recorded(10, 68);
  const [fact] = factsOf([{ operation: 'cached' }]);
  const named = [fact.found, fact.reported, { counted: fact.slack ?? [] }].map((amount) =>
    'counted' in amount ? amount.counted.map(({ metric, tags }) => `${metric} ${tags.operation}`) : [],
  );
  assert.deepEqual(
    named.flat(),
    samples.map(({ metric, tags }) => `${metric} ${tags?.operation}`),
  );
  assert.equal(fact.source, 'dns');
});
