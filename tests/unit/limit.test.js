import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLimit } from '../../lib/limit.js';

/** Steps of which the second does not hold. */
const metrics = Object.fromEntries(
  [0, 40].flatMap((failures, step) => [
    [`operation_ms{operation:send,step:${step}}`, { type: 'trend', values: { count: 100, 'p(95)': 5 } }],
    [
      `operation_failed{operation:send,step:${step}}`,
      { type: 'rate', values: { passes: failures, fails: 100, rate: failures / (100 + failures) } },
    ],
  ]),
);

/** @param {object[]} validity */
const judged = (validity) =>
  findLimit(
    metrics,
    { send: { 'p(95)': 100 } },
    { count: 2, seconds: 15 },
    (step) => `load ${step}`,
    /** @type {any} */ (validity),
  );

test('a limit that was found is a pass', () => {
  const found = judged([{ check: 'processes', kind: 'process', ok: true, detail: 'all alive' }]);
  assert.equal(found.verdict, 'pass');
  assert.match(found.notes.join('\n'), /the limit: load 0 held, load 1 did not/);
});

test('a system that ended at its limit has failed', () => {
  const ended = judged([{ check: 'processes', kind: 'process', ok: false, detail: 'relay ended' }]);
  assert.equal(ended.verdict, 'fail');
  assert.deepEqual(
    ended.reasons.map(({ text }) => text),
    ['processes: relay ended'],
  );
});

test('a limit beside neighbours, or of the generator, is none', () => {
  for (const [check, kind] of [
    ['neighbours', 'machine'],
    ['generator limits', 'meter'],
    ['controls', 'meter'],
    ['support processes', 'process'],
  ]) {
    assert.equal(judged([{ check, kind, ok: false, detail: '' }]).verdict, 'inconclusive', check);
  }
});
