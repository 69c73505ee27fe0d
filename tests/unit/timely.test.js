/** tests/support/timely.js: only times are tried again, not forever, and only a busy machine excuses them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../support/faulty.js';
import { SPOILT, timely, undisturbed } from '../support/timely.js';
import { assertTooManyFailed, assertVerdict } from '../support/verdict.js';

/**
 * @param {(tries: number) => void} body
 * @param {(tries: number) => number} [used] CPU use of others in a try, percent
 */
async function triesOf(body, used = () => 0) {
  let tries = 0;
  /** @type {string | null} */
  let told = null;
  const run = undisturbed(
    async () => {
      tries += 1;
      body(tries);
    },
    () => () => ({ percent: used(tries), most: used(tries), busy: used(tries) > 10 }),
  );
  await run({ skip: (why) => (told = `skipped: ${why}`) }).catch(
    (/** @type {Error} */ error) => (told = error.message),
  );
  return [tries, told];
}

test('a time that holds once holds', async () => {
  assert.deepEqual(await triesOf((tries) => timely(tries === 3, 'late')), [3, null]);
  assert.deepEqual(await triesOf((tries) => within(tries, 2, 0.1)), [2, null]);
});

test('a time that never holds fails, with what was found', async () => {
  assert.deepEqual(await triesOf(() => within(3, 2, 0.1)), [5, `${SPOILT}3 is not within 10 % of 2`]);
});

test('a time that never holds on a busy machine is skipped, with what others used', async () => {
  const [tries, told] = await triesOf(
    () => timely(false, 'late'),
    () => 37,
  );
  assert.equal(tries, 5);
  assert.match(String(told), /^skipped: the machine was busy \(37 % used by others, at most 37 %\): .*late$/);
});

test('a time that does not hold in a quiet try fails, however busy the others were', async () => {
  const used = (/** @type {number} */ tries) => (tries === 4 ? 1 : 90);
  assert.deepEqual(await triesOf(() => timely(false, 'late'), used), [5, `${SPOILT}late`]);
});

test('what is no time is asked once, on a busy machine too', async () => {
  const wrong = (/** @type {number} */ tries) => assert.ok(tries > 1, 'counted wrong');
  assert.deepEqual(await triesOf(wrong, () => 90), [1, 'counted wrong']);
});

test('a verdict that only the machine prevents is a time; another one is not', async () => {
  const of = (/** @type {string} */ kind) => ({
    verdict: 'inconclusive',
    reasons: [{ kind, text: 'a reason' }],
  });
  const tried = (/** @type {string} */ kind, /** @type {'pass' | 'fail'} */ verdict) =>
    triesOf(() => assertVerdict(of(kind), verdict));
  assert.equal((await tried('machine', 'fail'))[0], 5);
  assert.equal((await tried('samples', 'fail'))[0], 1);
  const reasons = [{ kind: 'machine' }, { kind: 'error', busy_machine: true }].map((one) => ({
    ...one,
    text: 'a reason',
  }));
  const both = () => assertVerdict({ verdict: 'inconclusive', reasons }, 'fail');
  assert.equal((await triesOf(both))[0], 5, 'others can have caused all of it');
  assert.deepEqual(await tried('machine', 'pass'), [1, null]);
  assert.equal((await tried('samples', 'pass'))[0], 1);
});

test('an operation that fails too much is told on any machine, and excused on a crowded one alone', async () => {
  const told = { kind: 'error', busy_machine: true, text: 'tcp: 5.00% failed, at most 0.1%' };
  const machine = { kind: 'machine', text: 'crowded' };
  const tried = (
    /** @type {string} */ verdict,
    /** @type {object[]} */ reasons,
    /** @type {number} */ code,
  ) => triesOf(() => assertTooManyFailed({ verdict, reasons }, 'tcp', code));
  assert.deepEqual(await tried('fail', [told], 99), [1, null]);
  assert.deepEqual(await tried('inconclusive', [told, machine], 3), [1, null]);
  for (const [verdict, reasons, code] of /** @type {[string, object[], number][]} */ ([
    ['fail', [told], 3],
    ['inconclusive', [told, machine], 99],
    ['inconclusive', [told], 3],
    ['inconclusive', [machine], 3],
    ['inconclusive', [told, machine, { kind: 'error', text: 'wrong' }], 3],
    ['pass', [], 0],
  ]))
    assert.notEqual((await tried(verdict, reasons, code))[1], null, `${verdict}, ${JSON.stringify(reasons)}`);
});
