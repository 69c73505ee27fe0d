/** Comparing the turns of two sides with the engine in bin/k6, and selecting the rows to continue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRows, figuresOf } from '../../lib/protocols/compare.js';
import { furtherMinutes, goFurther } from '../../lib/protocols/further.js';

const TARGETS = { throughput: 0.9, latency: 1.2, first_reply: 2, round_trips: 2, memory: 1, tolerance: 0.05 };

/** A linear congruential generator, so that a failure is reproducible. @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state + 1) / 2147483649;
  };
}

/** @param {() => number} uniform */
const normal = (uniform) => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

/** @param {() => number} uniform @param {number} count @param {{ mbit?: number, rtt?: number, memory?: number, reply?: number }} [factors] */
const turns = (uniform, count, { mbit = 1, rtt = 1, memory = 1, reply = 1 } = {}) =>
  Array.from({ length: count }, () => ({
    handshake_ms: 2 * reply * Math.exp(0.05 * normal(uniform)),
    mbit_64k: 2000 * mbit * Math.exp(0.05 * normal(uniform)),
    rtt_ms: 0.2 * rtt * Math.exp(0.05 * normal(uniform)),
    peak_anon_mib: 55 * memory * Math.exp(0.01 * normal(uniform)),
    measuring_cpus: 0.5,
    cpu_s_per_gib: 3,
    turn_cpu_s: 0.4,
    failed: 0,
  }));

/**
 * The lines of one row.
 * @param {import('../../lib/protocols/compare.js').Turn[]} baseline
 * @param {import('../../lib/protocols/compare.js').Turn[]} candidate
 */
const compareTurns = (baseline, candidate, paced = false) =>
  compareRows([{ baseline, candidate, paced }], TARGETS, []).comparisons[0];

test('a target that is missed by far is told as soon as the number of all targets allows, and not before', () => {
  const uniform = random(7);
  const of = (/** @type {number} */ rows, /** @type {number} */ count) => {
    const all = Array.from({ length: rows }, (_, row) => ({
      baseline: turns(uniform, count),
      candidate: turns(uniform, count, row === 0 ? { mbit: 0.4 } : {}),
      paced: false,
    }));
    const { comparisons, turnsToMiss } = compareRows(all, TARGETS, []);
    const [{ judged, to_decide: needed }] = comparisons[0];
    return { judged, needed, turnsToMiss };
  };
  assert.deepEqual(of(1, 2), { judged: 'uncertain', needed: 10, turnsToMiss: 10 });
  assert.deepEqual(of(1, 8), { judged: 'uncertain', needed: 10, turnsToMiss: 10 });
  assert.deepEqual(of(1, 10), { judged: 'missed', needed: null, turnsToMiss: 10 });
  assert.deepEqual(of(49, 10), { judged: 'uncertain', needed: 16, turnsToMiss: 16 });
  assert.deepEqual(of(49, 16), { judged: 'missed', needed: null, turnsToMiss: 16 });
});

/** Turns with a footprint. @param {() => number} uniform @param {number} count @param {Record<string, number>} factors */
const holdingTurns = (uniform, count, { memory = 1, files = 1, left = 0, wakeups = 0 } = {}) =>
  turns(uniform, count).map((turn) => ({
    ...turn,
    after_anon_mib: 40 * memory * Math.exp(0.02 * normal(uniform)),
    after_descriptors: 150 * files,
    after_left: left,
    after_wakeups_per_s: wakeups * uniform(),
  }));

test('a candidate misses by what it holds after its turns, and few are harmless', () => {
  const uniform = random(5);
  const expected = /** @type {[Record<string, number>, string[]][]} */ ([
    [{}, []],
    [{ memory: 1.33 }, ['memory after a turn']],
    [{ files: 1.33 }, ['number of descriptors']],
    [{ left: 20 }, []],
    [{ left: 60 }, ['number of left connections']],
    [{ wakeups: 100 }, []],
    [{ wakeups: 4000 }, ['rate of wake-ups']],
  ]);
  const rows = expected.map(([factors]) => ({
    baseline: holdingTurns(uniform, 16),
    candidate: holdingTurns(uniform, 16, factors),
    paced: false,
  }));
  const { comparisons } = compareRows(rows, TARGETS, []);
  assert.deepEqual(
    comparisons.map((lines) => lines.filter(({ judged }) => judged === 'missed').map(({ target }) => target)),
    expected.map(([, missed]) => missed),
  );
});

test('a turn without a footprint leaves the row uncertain, and is told once', () => {
  const uniform = random(6);
  const [base, gap] = [holdingTurns(uniform, 12), holdingTurns(uniform, 12)];
  for (const name of ['after_anon_mib', 'after_descriptors', 'after_left', 'after_wakeups_per_s'])
    Object.assign(gap[4], { [name]: null });
  const told = compareTurns(base, gap).filter(({ lacks }) => lacks !== null);
  assert.deepEqual(
    told.map(({ target, judged, lacks }) => [target, judged, lacks]),
    [['memory after a turn', 'uncertain', 'not measured in turn 5 of the candidate']],
  );
  const without = compareTurns(turns(uniform, 12), turns(uniform, 12));
  assert.ok(
    !without.some(({ target }) => target === 'memory after a turn'),
    'a scenario that does not read it',
  );
});

test('the further minutes of quick grow with the rows, unless the profile has more', () => {
  assert.deepEqual(
    [1, 20, 49].map((rows) => furtherMinutes('quick', rows)),
    [10, 10, 25],
  );
  assert.equal(furtherMinutes('smoke', 49), 3);
  assert.equal(furtherMinutes('full', 49), 60);
});

test('what is decided at a look has no further turns, and stays so', () => {
  const uniform = random(11);
  const quiet = {
    baseline: turns(uniform, 12),
    candidate: turns(uniform, 12, { memory: 0.9 }),
    paced: false,
  };
  const late = [...turns(uniform, 3), ...turns(uniform, 15, { mbit: 0.4 })];
  const slow = { baseline: turns(uniform, 18), candidate: late, paced: false };
  const { comparisons, looks } = compareRows([quiet, slow], TARGETS, [12, 18]);
  const of = (/** @type {number} */ row) => comparisons[row].map(({ judged, pairs }) => [judged, pairs]);
  assert.deepEqual(of(0).slice(0, 3), Array(3).fill(['met', 12]));
  assert.deepEqual(of(1)[0], ['missed', 18]);
  assert.deepEqual(
    looks.map(({ turns: at, confidence }) => [at, Number(confidence.toFixed(4))]),
    [
      [12, 0.98],
      [18, 0.9933],
    ],
  );
});

test('rows go on until they are decided, or the time or the turns are over', () => {
  /** @param {{ planned?: number, first?: number, until?: number, needs: number[] }} run turns that it takes to decide each row */
  const of = ({ planned = 8, first = 11, until = Infinity, needs }) => {
    const made = needs.map(() => planned);
    /** @type {number[][]} */
    const noted = [];
    let time = 0;
    const looks = goFurther({
      first,
      most: 50,
      until,
      clock: () => time,
      undecided: (at) =>
        needs.flatMap((need, row) => (Math.min(made[row], at.at(-1) ?? 0) < need ? [row] : [])),
      turn(row, most) {
        if (made[row] >= most) return false;
        made[row] += 1;
        time += 1;
        return true;
      },
      note: (at) => noted.push([...at]),
    });
    assert.deepEqual(noted.at(-1), looks);
    return { looks, made };
  };
  assert.deepEqual(of({ needs: [10, 11] }), { looks: [11], made: [11, 11] });
  assert.deepEqual(of({ needs: [11, 16, 20] }), { looks: [11, 18, 26], made: [11, 18, 26] });
  assert.deepEqual(of({ needs: [99] }), { looks: [11, 18, 26, 38], made: [38] });
  assert.deepEqual(of({ planned: 2, needs: [7, 0] }), { looks: [11], made: [11, 2] });
  assert.deepEqual(of({ planned: 12, first: 12, needs: [16] }), { looks: [12, 18], made: [18] });
  assert.deepEqual(
    of({ first: 17, needs: [17, 20] }),
    { looks: [17, 26], made: [17, 26] },
    '18 is hardly more than 17',
  );
  assert.deepEqual(
    of({ needs: [16, 16], until: 13 }),
    { looks: [11, 18], made: [18, 11] },
    'the time is over',
  );
  assert.deepEqual(of({ needs: [16], until: 0 }), { looks: [11], made: [8] });
});

for (const [what, factors, target] of /** @type {[string, object, string][]} */ ([
  ['half the throughput', { mbit: 0.5 }, 'throughput'],
  ['twice the round trip', { rtt: 2 }, 'latency'],
  ['a fifth more memory', { memory: 1.2 }, 'memory'],
  ['three times the first reply', { reply: 3 }, 'first reply'],
])) {
  test(`${what} misses ${target} and nothing else`, () => {
    const uniform = random(3);
    const lines = compareTurns(turns(uniform, 10), turns(uniform, 10, factors));
    assert.deepEqual(
      lines.filter(({ judged }) => judged === 'missed').map((line) => line.target),
      [target],
    );
  });
}

test('a throughput that the meter, or a told rate, bounds is met only where CPU does not say otherwise', () => {
  const uniform = random(9);
  const of = (/** @type {number} */ cpus, /** @type {number} */ cpu, told = false) => {
    const [own, other] = [1, cpu].map((factor) =>
      turns(uniform, 10).map((turn) => ({
        ...turn,
        // The candidate's values are below the bound: the baseline is the side that is faster than it looks.
        measuring_cpus: factor === cpu ? cpus - 0.1 : cpus,
        cpu_s_per_gib: 3 * factor * Math.exp(0.01 * normal(uniform)),
      })),
    );
    const lines = compareTurns(own, other, told);
    return [lines[0].judged, lines[4].target, lines[4].different];
  };
  assert.deepEqual(of(0.5, 1.5), ['met', 'CPU', true]);
  assert.deepEqual(of(0.95, 1.5), ['bound', 'CPU', true]);
  assert.deepEqual(of(0.5, 1.5, true), ['bound', 'CPU', true]);
  assert.deepEqual(of(1, 1.1), ['met', 'CPU', true]);
  assert.deepEqual(of(1, 0.5), ['met', 'CPU', true]);
  assert.deepEqual(of(1, 1), ['met', 'CPU', false]);
});

test('CPU time that a candidate puts off until nothing is sent counts in the turn, and puts a throughput in doubt', () => {
  const uniform = random(9);
  const of = (/** @type {number} */ later) => {
    const [own, other] = [0, later].map((puts) =>
      turns(uniform, 10).map((turn) => ({ ...turn, measuring_cpus: 0.95, turn_cpu_s: 0.4 + puts })),
    );
    const lines = compareTurns(own, other);
    const turn = lines.find(({ target }) => target === 'turn CPU');
    return [lines[0].judged, turn?.ratio?.toFixed(2), turn?.judged];
  };
  assert.deepEqual(of(0), ['met', '1.00', null]);
  assert.deepEqual(of(0.4), ['bound', '2.00', null]);
});

/** The judgement of a target after an edit of the turns. @param {string} target @param {(own: any[], other: any[]) => void} edit */
function judgedAfter(target, edit, { planned = 10, factors = {} } = {}) {
  const uniform = random(5);
  /** @type {any[][]} */
  const [baseline, candidate] = [turns(uniform, 10, { memory: 1.1 }), turns(uniform, 10, factors)];
  edit(baseline, candidate);
  const [lines] = compareRows([{ baseline, candidate, paced: false, planned }], TARGETS, []).comparisons;
  const { judged, lacks } = lines.find((line) => line.target === target) ?? {};
  return [judged, lacks];
}

test('a target of which a turn has no figure is not met, and the turn is named', () => {
  const of = (/** @type {string} */ figure, /** @type {any} */ value) =>
    judgedAfter('memory', (_own, other) => (other[2][figure] = value));
  const lacking = ['uncertain', 'not measured in turn 3 of the candidate'];
  assert.deepEqual(of('peak_anon_mib', 50), ['met', null]);
  for (const value of [null, undefined, 0, -5, NaN, Infinity, 1e-9])
    assert.deepEqual(of('peak_anon_mib', value), lacking, String(value));
  assert.deepEqual(
    judgedAfter('latency', (own) => (own[0].rtt_ms = null)),
    ['uncertain', 'not measured in turn 1 of the baseline'],
  );
  assert.deepEqual(
    judgedAfter('latency', (own, other) => {
      own[0].rtt_ms = 1e9;
      for (const turn of other) turn.rtt_ms = null;
    }),
    ['uncertain', 'not measured in turn 1 of the baseline and any turn of the candidate'],
  );
  assert.deepEqual(
    judgedAfter('first reply', (_own, other) => other.splice(7)),
    ['uncertain', 'not measured in 3 of 10 turns (the first is turn 8) of the candidate'],
  );
  assert.deepEqual(
    judgedAfter('first reply', (own, other) => [own.pop(), other.pop()]),
    ['uncertain', 'not measured in turn 10 of the baseline and turn 10 of the candidate'],
  );
});

test('what is missed without a turn stays missed', () => {
  const far = { planned: 12, factors: { memory: 3 } };
  const [judged] = judgedAfter('memory', () => {}, far);
  assert.equal(judged, 'missed');
});

test('a throughput of 0 is evidence against the candidate, and none for it', () => {
  assert.deepEqual(
    judgedAfter('throughput', (_own, other) => {
      for (const turn of other) turn.mbit_64k = 0;
    }),
    ['missed', null],
  );
  assert.deepEqual(
    judgedAfter('throughput', (own) => (own[4].mbit_64k = 0)),
    ['uncertain', 'not measured in turn 5 of the baseline'],
  );
});

test('a figure that no turn of the candidate has, as its operations failed, is missed', () => {
  const of = (/** @type {number} */ failed) =>
    judgedAfter('latency', (_own, other) => {
      for (const turn of other) Object.assign(turn, { rtt_ms: null, failed });
    });
  const lacks = 'not measured in any turn of the candidate';
  assert.deepEqual(of(5), ['missed', lacks]);
  assert.deepEqual(of(0), ['uncertain', lacks], 'the meter may have failed');
  const noMemory = (/** @type {object} */ more) =>
    judgedAfter('memory', (_own, other) => {
      for (const turn of other) Object.assign(turn, { peak_anon_mib: null, failed: 1, ...more });
    });
  assert.deepEqual(noMemory({}), ['uncertain', lacks], 'its transfers came through');
  assert.deepEqual(noMemory({ mbit_64k: null }), ['missed', lacks]);
});

test('a throughput that may be bound is not met where nobody knows the CPU', () => {
  const unknown = (/** @type {any} */ cpus) =>
    judgedAfter('throughput', (own, other) => {
      for (const turn of own) turn.measuring_cpus = cpus;
      other[1].cpu_s_per_gib = 0;
    });
  assert.deepEqual(unknown(0.5), ['met', null]);
  const lacks = ['uncertain', 'CPU not measured in turn 2 of the candidate'];
  assert.deepEqual(unknown(0.9), lacks);
  assert.deepEqual(unknown(null), lacks, 'it may be bound');
  const untold = judgedAfter('throughput', (own, other) => {
    for (const turn of own) turn.measuring_cpus = 0.9;
    other[1].turn_cpu_s = null;
  });
  assert.deepEqual(untold, ['uncertain', 'turn CPU not measured in turn 2 of the candidate']);
});

test('figures that one turn lacks are of the others', () => {
  assert.deepEqual(figuresOf([{ a: 1, b: null }, { a: 3 }, { a: 2, b: null }]), {
    a: { median: 2, min: 1, max: 3 },
    b: null,
  });
});
