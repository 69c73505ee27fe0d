/** A runner's steps and their order, if there are several runners. A single runner does none of it. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  cleanedOnce,
  deliver,
  madeOnce,
  orUndelivered,
  partOf,
  startTogether,
  waitSeconds,
} from '../../lib/runners.js';
import { calls, told } from '../fakes/k6-runner.js';

beforeEach(() => {
  calls.length = 0;
  Object.assign(told, { many: true, setsUp: true, tearsDown: true, data: undefined });
});

const make = () => ({ made: 'here' });

test('of one, nobody else is asked', () => {
  told.many = false;
  let cleaned = 0;
  assert.deepEqual(
    madeOnce(() => 'x', make),
    { made: 'here' },
  );
  startTogether();
  cleanedOnce(0, () => (cleaned += 1));
  assert.deepEqual([calls, cleaned, waitSeconds()], [[], 1, 0]);
});

test('who is told to set up makes it for all, and others take what it made', () => {
  assert.deepEqual(
    madeOnce(() => 'x', make),
    { made: 'here' },
  );
  Object.assign(told, { setsUp: false, data: { made: 'elsewhere' } });
  assert.deepEqual(
    madeOnce(() => 'x', make),
    { made: 'elsewhere' },
  );
  assert.deepEqual(calls, ['setsUp x', 'made', 'setsUp x']);
});

test('one cleans up, and says so even where that fails', () => {
  assert.throws(
    () =>
      cleanedOnce(0, () => {
        throw new Error('refused');
      }),
    /refused/,
  );
  told.tearsDown = false;
  cleanedOnce(0, () => assert.fail('another one does'));
  assert.deepEqual(calls, ['tearsDown ', 'tornDown its teardown() threw an exception', 'tearsDown ']);
});

test('a load that ends before its time is told, one that ends in time is not', () => {
  cleanedOnce(Date.now() + 60_000, () => {});
  cleanedOnce(Date.now() - 60_000, () => {});
  assert.deepEqual(calls, [
    'tearsDown its load ended before its time',
    'tornDown ',
    'tearsDown ',
    'tornDown ',
  ]);
});

test('a runner has no thresholds but those that abort', () => {
  const abort = { threshold: 'rate<=0.5', abortOnFail: true };
  const all = { a: ['count>=400'], b: ['p(95)<1', abort] };
  assert.deepEqual(partOf(all), { b: [abort] });
  told.many = false;
  assert.equal(partOf(all), all);
});

test('a runner whose handleSummary throws is told, since k6 would end with 0', () => {
  const broken = () => {
    throw new Error('refused');
  };
  assert.deepEqual(orUndelivered(broken), {});
  assert.deepEqual(calls, ['undelivered refused']);
  assert.equal(
    orUndelivered(() => 5),
    5,
  );
  told.many = false;
  assert.throws(() => orUndelivered(broken), /refused/);
  assert.equal(calls.length, 1, 'a run of one leaves it to k6');
});

test('what is shown beside the operations is made of the figures of all', () => {
  const evidenceOf = (/** @type {any} */ metrics) => /** @type {any} */ ({ sections: [metrics] });
  told.whole = 'all';
  deliver(evidenceOf, 'own', 'mine', 5);
  assert.deepEqual(calls, ['draft mine', 'deliver all 5']);
  calls.length = 0;
  deliver(() => /** @type {any} */ ({ sections: [] }), 'own', 'mine', 5);
  assert.deepEqual(calls, ['deliver undefined 5']);
});
