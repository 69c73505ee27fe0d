import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import execution from 'k6/execution';
import { hold, isHeld, release, samples } from '../fakes/k6-record.js';
import { recordErrors, recordSeries } from '../../lib/dataplane/probe-operation.js';
import { Repeats } from '../../lib/dataplane/repeats.js';
import { undisturbed } from '../../lib/protocols/undisturbed.js';

const placement = { probe_cpus: '1', echo_cpus: '1', system_cpus: '1' };
/** Duration of a part and of a look at the CPUs, ms. */
const PART = 300;
const LOOK = 500;

/** Use of CPU 1 in one second. @param {number} percent @param {number} [cpu] */
const used = (percent, cpu = 1) => [{ cpu, span_s: 1, busy_s: 1, others_s: percent / 100, steal_s: 0 }];

let at = 0;
beforeEach(() => {
  globalThis.__ENV = {};
  at = 0;
  mock.getter(execution.instance, 'currentTestRunDuration', () => at);
  samples.length = 0;
});
afterEach(() => {
  mock.restoreAll();
  release();
});

/**
 * A machine with a neighbour that is active at some times.
 * @param {(ms: number) => number} percent of the CPU that others use at a time
 */
function machine(percent) {
  /** @type {string[]} */
  const done = [];
  let begun = 0;
  return {
    done,
    begin(/** @type {string} */ name) {
      begun = at;
      done.push(`begin ${name}`);
      return true;
    },
    used: () => used(Math.max(percent(begun), percent(at - 1))),
    drop() {
      done.push('drop');
      return true;
    },
    look() {
      const began = at;
      at += LOOK;
      done.push('look');
      return used(Math.max(percent(began), percent(at - 1)));
    },
  };
}

/** @param {number} again */
function measure(again) {
  recordSeries('tcp', { values: { round_trip: [1e6 * (again + 1)] }, ends: {} });
  at += PART;
  return again;
}

const latencies = () => samples.filter(({ metric }) => metric === 'operation_ms').map(({ value }) => value);

test('a part that was left alone counts, and nothing is asked twice', () => {
  const quiet = machine(() => 3);
  const repeats = new Repeats(quiet, placement);
  assert.equal(repeats.part('tcp, round 1', measure), 0);
  assert.deepEqual(quiet.done, ['begin tcp, round 1']);
  assert.deepEqual(latencies(), [1]);
});

test('a disturbed part is thrown away and measured again once the neighbour has gone', () => {
  const busy = machine((ms) => (ms < 2000 ? 60 : 0));
  const repeats = new Repeats(busy, placement);
  assert.equal(repeats.part('tcp, round 1', measure), 1);
  assert.deepEqual(latencies(), [2], 'what was thrown away is in no figure');
  assert.deepEqual(busy.done, ['begin tcp, round 1', ...Array(5).fill('look'), 'drop', 'begin tcp, round 1']);
});

test('a neighbour on another CPU is no matter', () => {
  const other = machine(() => 0);
  const repeats = new Repeats({ ...other, used: () => used(90, 0) }, placement);
  assert.equal(repeats.part('tcp, round 1', measure), 0);
});

test('a part is measured again at most twice, and the last one counts', () => {
  const nasty = { ...machine(() => 60), look: () => used(0) };
  const repeats = new Repeats(nasty, placement);
  assert.equal(repeats.part('tcp, round 1', measure), 2);
  assert.deepEqual(latencies(), [3]);
  assert.equal(nasty.done.filter((what) => what === 'drop').length, 2);
});

test('AGAIN says how often at most', () => {
  globalThis.__ENV = { AGAIN: '0' };
  const busy = machine((ms) => (ms < 200 ? 60 : 0));
  assert.equal(new Repeats(busy, placement).part('tcp, round 1', measure), 0);
  assert.deepEqual(busy.done, ['begin tcp, round 1'], 'nobody is waited for');
});

test('a neighbour that stays is waited for once, and what was measured counts', () => {
  let leaves = Infinity;
  const constant = machine((ms) => (ms < leaves ? 60 : 0));
  const repeats = new Repeats(constant, placement);
  const round = (/** @type {number} */ number) => repeats.part(`tcp, round ${number}`, measure);
  for (let number = 1; number <= 10; number += 1) assert.equal(round(number), 0);
  assert.deepEqual(latencies(), Array(10).fill(1));
  assert.ok(!constant.done.includes('drop'));
  assert.equal(at, 10 * PART + 12_000);
  const told = machine(() => 60);
  assert.equal(new Repeats(told, placement, true).part('tcp, round 1', measure), 0);
  assert.ok(!told.done.includes('look'), 'one that the set-up has waited for already');
  leaves = at;
  assert.equal(round(11), 0);
  leaves = at + 100;
  assert.equal(round(12), 1, 'once it has gone, another one is waited for');
});

test('waits and repeats take no more than what was measured and some seconds', () => {
  // The neighbour is active in each part, and gone at the second look.
  let looks = 0;
  const nasty = {
    ...machine(() => 60),
    look() {
      at += LOOK;
      looks += 1;
      return used(looks % 2 === 0 ? 0 : 60);
    },
  };
  const repeats = new Repeats(nasty, placement);
  for (let round = 1; round <= 200; round += 1) repeats.part(`tcp, round ${round}`, measure);
  const counted = 200 * PART;
  assert.ok(at > counted + 20_000, `${at} ms`);
  assert.ok(at <= 2 * counted + 20_000 + LOOK, `${at} ms`);
});

test('a part in which something failed counts, whatever others did', () => {
  const busy = machine((ms) => (ms < 200 ? 60 : 0));
  const repeats = new Repeats(busy, placement);
  const failing = (/** @type {number} */ again) => {
    recordSeries('tcp', { values: { round_trip: [1e6] }, ends: {} });
    recordErrors('tcp', { connection_reset: 1 });
    assert.ok(!isHeld(), 'a failure is recorded at once, with what was held');
    recordSeries('tcp', { values: { round_trip: [2e6] }, ends: {} });
    return again;
  };
  assert.equal(repeats.part('tcp, round 1', failing), 0);
  assert.deepEqual(latencies(), [1, 2]);
});

test('a part whose failures a busy machine can cause is measured again, and the thrown away failures count nowhere', () => {
  const failing = (/** @type {string} */ kind) => {
    samples.length = 0;
    const busy = machine((ms) => (ms < at + 100 ? 60 : 0));
    const began = at;
    const repeats = new Repeats(
      { ...busy, used: () => used(at - began < 2000 ? 60 : 0), look: () => ((at += 2000), used(0)) },
      placement,
    );
    const again = repeats.part('tcp, round 1', (times) => {
      if (times === 0) recordErrors('tcp', { [kind]: 1 });
      at += PART;
      return times;
    });
    return [again, samples.filter(({ metric }) => metric === 'operation_errors').length];
  };
  assert.deepEqual(failing('lost'), [1, 0]);
  assert.deepEqual(failing('timeout'), [1, 0]);
  assert.deepEqual(failing('corrupted'), [0, 1]);
  assert.deepEqual(failing('duplicated'), [0, 1]);
});

test('a part inside of another belongs to it, and one that throws loses nothing', () => {
  const busy = machine((ms) => (ms < 200 ? 60 : 0));
  const repeats = new Repeats(busy, placement);
  repeats.part('outer', (again) => repeats.part('inner', () => measure(again)));
  assert.deepEqual(latencies(), [2]);
  assert.ok(busy.done.every((what) => !what.includes('inner')));
  assert.throws(
    () =>
      repeats.part('tcp, round 2', () => {
        recordSeries('tcp', { values: { round_trip: [7e6] }, ends: {} });
        throw new Error('the sidecar ended');
      }),
    /the sidecar ended/,
  );
  assert.deepEqual(latencies(), [2, 7]);
});

test('without a window, or where nothing can be dropped, each part is measured once', () => {
  const none = new Repeats({ ...machine(() => 60), begin: () => false }, placement);
  assert.equal(none.part('tcp, round 1', measure), 0);
  const fixed = new Repeats({ ...machine((ms) => (ms < 200 ? 60 : 0)), drop: () => false }, placement);
  assert.equal(fixed.part('tcp, round 2', measure), 0);
  assert.deepEqual(latencies(), [1, 1]);
});

/** A plane that measures each part twice, and reports whether the first time counted. */
function twice() {
  const plane = { counted: false };
  return Object.assign(plane, {
    part(/** @type {string} */ _name, /** @type {(again: number) => void} */ once) {
      hold();
      once(0);
      plane.counted = !isHeld();
      release();
      if (!plane.counted) once(1);
    },
  });
}

test('turns that are thrown away leave nothing in the notes', () => {
  const kept = { outcome: 'measured', detail: null };
  const notes = { turns: [{ rtt_ms: 1 }], outcomes: [kept], version: null };
  const plane = /** @type {any} */ (twice());
  let rtt = 5;
  undisturbed(plane, 'trojan, turn 2', [notes], () => {
    notes.outcomes.push({ outcome: 'measured', detail: null });
    notes.turns.push({ rtt_ms: (rtt -= 1) });
  });
  assert.ok(!plane.counted);
  assert.deepEqual(notes.turns, [{ rtt_ms: 1 }, { rtt_ms: 3 }]);
  assert.equal(notes.outcomes.length, 2);
});

test('a turn whose errors a busy machine can cause is thrown away as any other', () => {
  for (const [ended, counts] of /** @type {[object, boolean][]} */ ([
    [{ outcome: 'errors', detail: '2 × lost', busy: true }, false],
    [{ outcome: 'errors', detail: '2 × closed' }, true],
  ])) {
    const notes = { turns: [], outcomes: [], version: null };
    const plane = /** @type {any} */ (twice());
    undisturbed(plane, 'hysteria2, turn 1', [notes], () => {
      notes.outcomes.push(ended);
    });
    assert.equal(plane.counted, counts);
    assert.equal(notes.outcomes.length, 1);
  }
});

test('turns of which a side failed are not thrown away', () => {
  const notes = { turns: [], outcomes: [], version: null };
  const plane = /** @type {any} */ (twice());
  undisturbed(plane, 'trojan, turn 1', [notes], () => {
    notes.outcomes.push({ outcome: 'not ready', detail: 'port 1 did not open' });
  });
  assert.ok(plane.counted);
  assert.equal(notes.outcomes.length, 1);
});
