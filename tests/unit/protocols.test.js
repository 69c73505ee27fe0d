/** What the turns of two sides say: intervals against the textbook, no difference flagged as no difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FEWEST_TURNS, compareTurns, figuresOf, judgeTarget } from '../../lib/protocols/compare.js';
import { ofFailedStart, ofProbes, worst } from '../../lib/protocols/outcome.js';
import { fewestPairs, pairedShift } from '../../lib/protocols/signed-rank.js';
import { verdictOf } from '../../lib/protocols/verdict.js';

const TARGETS = { throughput: 0.9, latency: 1.2, memory: 1, tolerance: 0.05 };

/** A linear congruential generator, so that a failure can be repeated. @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state + 1) / 2147483649;
  };
}

/** @param {() => number} uniform */
const normal = (uniform) => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

/** @param {() => number} uniform @param {number} count @param {{ mbit?: number, rtt?: number, rss?: number }} [factors] */
const turns = (uniform, count, { mbit = 1, rtt = 1, rss = 1 } = {}) =>
  Array.from({ length: count }, () => ({
    mbit_64k: 2000 * mbit * Math.exp(0.05 * normal(uniform)),
    rtt_ms: 0.2 * rtt * Math.exp(0.05 * normal(uniform)),
    peak_rss_mib: 55 * rss * Math.exp(0.01 * normal(uniform)),
  }));

test('the interval is that of the signed-rank test', () => {
  // Hollander and Wolfe, depression scale factors of 9 patients: R's wilcox.test(paired, conf.int) says the same.
  const x = [1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3];
  const y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
  const found = pairedShift(
    x.map((value, index) => value - y[index]),
    0.05,
  );
  assert.ok(found);
  const digits = (/** @type {number | null} */ value) => Number(Number(value).toFixed(4));
  assert.deepEqual([found.estimate, found.low, found.high].map(digits), [0.46, 0.01, 0.786]);
});

test('too few pairs have an estimate and no interval', () => {
  assert.equal(pairedShift([], 0.05), null);
  assert.deepEqual(pairedShift([1, 3], 0.05), { estimate: 2, low: null, high: null });
  assert.deepEqual([fewestPairs(0.05), FEWEST_TURNS], [6, 7]);
});

test('of rows without any difference at most one in twenty is flagged, and fewer miss a target', () => {
  const uniform = random(7);
  const runs = 2000;
  let flagged = 0;
  let missed = 0;
  for (let run = 0; run < runs; run += 1) {
    const lines = compareTurns(turns(uniform, 8), turns(uniform, 8), TARGETS);
    flagged += Number(lines.some(({ different }) => different));
    missed += Number(lines.some(({ judged }) => judged === 'missed'));
  }
  assert.ok(flagged / runs <= 0.05 + 0.015, `${flagged} of ${runs} flagged`);
  assert.ok(flagged > 0, 'the interval is not so wide that nothing is ever told');
  assert.ok(missed <= flagged);
});

for (const [what, factors, target] of /** @type {[string, object, string][]} */ ([
  ['half the throughput', { mbit: 0.5 }, 'throughput'],
  ['twice the round trip', { rtt: 2 }, 'latency'],
  ['a fifth more memory', { rss: 1.2 }, 'memory'],
])) {
  test(`${what} misses ${target} and nothing else`, () => {
    const uniform = random(3);
    const lines = compareTurns(turns(uniform, 10), turns(uniform, 10, factors), TARGETS);
    assert.deepEqual(
      lines.filter(({ judged }) => judged === 'missed').map((line) => line.target),
      [target],
    );
  });
}

test('a target is met, missed, or cannot be told', () => {
  assert.equal(judgeTarget({ low: 0.95, high: 1 }, 0.9, true, 0.05), 'met');
  assert.equal(judgeTarget({ low: 0.86, high: 1 }, 0.9, true, 0.05), 'met');
  assert.equal(judgeTarget({ low: 0.8, high: 1 }, 0.9, true, 0.05), 'uncertain');
  assert.equal(judgeTarget({ low: 0.7, high: 0.89 }, 0.9, true, 0.05), 'missed');
  assert.equal(judgeTarget({ low: 1.21, high: 1.3 }, 1.2, false, 0.05), 'missed');
  assert.equal(judgeTarget({ low: null, high: null }, 1, false, 0.05), 'uncertain');
});

test('figures that one turn lacks are of the others', () => {
  assert.deepEqual(figuresOf([{ a: 1, b: null }, { a: 3 }, { a: 2, b: null }]), {
    a: { median: 2, min: 1, max: 3 },
    b: null,
  });
});

test('a start that failed has a name', () => {
  const ended = (/** @type {string} */ how) =>
    `process server of testbed protocols ended before it was ready (${how}); it printed nothing`;
  const name = (/** @type {string} */ line, binary = '/x/candidate') => ofFailedStart(line, binary).outcome;
  assert.equal(name('testbed protocols needs /x/candidate, which does not exist'), 'missing binary');
  assert.equal(name('testbed protocols needs /usr/sbin/sshd, which does not exist'), 'impossible here');
  assert.equal(name('testbed protocols needs /r/bin/sing-box, which does not exist', ''), 'missing binary');
  assert.equal(name(ended('signal 11')), 'crashed at start');
  assert.equal(name(ended('exit status 2')), 'crashed at start');
  assert.equal(name(ended('exit status 101')), 'crashed at start');
  assert.equal(name(ended('exit status 1')), 'refused configuration');
});

test('a turn has the name of the worst that happened in it', () => {
  const alive = [{ name: 'server', exit: null }];
  assert.equal(ofProbes({}, alive).outcome, 'measured');
  assert.equal(ofProbes({ closed: 1 }, alive).outcome, 'errors');
  assert.equal(ofProbes({ closed: 1, corrupted: 1 }, alive).outcome, 'corrupted payload');
  assert.equal(ofProbes({ corrupted: 1 }, [{ name: 'server', exit: 'signal 9' }]).outcome, 'died in mid-run');
  const measured = /** @type {const} */ ({ outcome: 'measured', detail: null });
  const errors = /** @type {const} */ ({ outcome: 'errors', detail: '1 × closed' });
  assert.deepEqual(worst([measured, errors, measured]), errors);
  assert.equal(worst([]).outcome, 'not reached');
});

/** @param {object} [more] @returns {import('../../lib/protocols/verdict.js').RowResult} */
const row = (more) => ({
  row: 'trojan',
  known: null,
  baseline: { outcome: 'measured', detail: null },
  candidate: null,
  comparison: [],
  ...more,
});
const PASS = { verdict: 'pass', reasons: [] };

test('the verdict is of rows and targets together', () => {
  const of = (/** @type {object} */ more, base = PASS) => verdictOf(base, [row(), row(more)], false).verdict;
  const errors = { outcome: 'errors', detail: '1 × closed' };
  assert.equal(of({}), 'pass');
  assert.equal(of({ baseline: { outcome: 'impossible here', detail: 'no sshd' } }), 'pass');
  assert.equal(of({ baseline: errors }), 'fail');
  assert.equal(of({ baseline: errors, known: 'breaks' }), 'pass');
  assert.equal(of({ candidate: { outcome: 'missing binary', detail: null } }), 'fail');
  const line = { target: 'memory', figure: 'peak_rss_mib', bound: 1, ratio: 1.1, low: 1.05, high: 1.2 };
  assert.equal(of({ comparison: [{ ...line, different: true, judged: 'missed' }] }), 'fail');
  assert.equal(of({ comparison: [{ ...line, different: false, judged: 'uncertain' }] }), 'inconclusive');
  assert.equal(of({}, { verdict: 'inconclusive', reasons: ['generator CPU: full'] }), 'inconclusive');
  assert.equal(verdictOf(PASS, [row({ baseline: errors })], true).verdict, 'inconclusive');
});
