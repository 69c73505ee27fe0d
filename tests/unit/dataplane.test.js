import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { cpusOf } from '../../lib/dataplane/environment.js';
import { wholeOf } from '../../lib/meter.js';
import { probeLoad, repeatedLoad } from '../../lib/dataplane/load.js';
import { recommend, sweepSection } from '../../lib/dataplane/sweep.js';
import { spreadOf } from '../../lib/spread.js';

afterEach(() => {
  globalThis.__ENV = {};
});

/** @param {Record<string, string>} values */
const given = (values) => {
  globalThis.__ENV = values;
};

test('CPU lists', () => {
  assert.deepEqual(cpusOf(''), []);
  assert.deepEqual(cpusOf('1'), [1]);
  assert.deepEqual(cpusOf('0-2,5'), [0, 1, 2, 5]);
  assert.throws(() => cpusOf('one'), /one: write CPUs as/);
});

const base = { smoke: 100, quick: 2000, full: 10000, rate: 500 };

test('quick deals its operations to rounds; full adds an open loop', () => {
  given({ PROFILE: 'quick' });
  const quick = probeLoad(base, 'ROUND_TRIPS');
  assert.deepEqual(quick.rounds, Array(4).fill({ loop: 'closed', count: 500, factor: 1 }));
  assert.equal(quick.iterations, 4);
  given({ PROFILE: 'full', RATE: '100', DURATION: '12s' });
  const full = probeLoad(base, 'ROUND_TRIPS');
  assert.equal(full.rounds.filter(({ loop }) => loop === 'closed').length, 10);
  const open = full.rounds.filter(({ loop }) => loop === 'open');
  assert.deepEqual(open, Array(6).fill({ loop: 'open', rate: 100, seconds: 1, factor: 1 }));
});

test('TIMES makes more rounds of the same size', () => {
  given({ PROFILE: 'quick', TIMES: '3' });
  const quick = probeLoad(base, 'ROUND_TRIPS');
  assert.deepEqual(quick.rounds, Array(12).fill({ loop: 'closed', count: 500, factor: 1 }));
  assert.equal(quick.times, 3);
  const sizes = {
    smoke: { rounds: 1, count: 4 },
    quick: { rounds: 3, count: 32 },
    full: { rounds: 9, count: 99 },
  };
  assert.equal(repeatedLoad(sizes, '').rounds.length, 9);
  given({ PROFILE: 'stress', TIMES: '3' });
  assert.equal(probeLoad(base, 'ROUND_TRIPS').times, undefined);
});

test('a soak repeats rounds of ten seconds, half of the time for the control', () => {
  given({ PROFILE: 'soak', DURATION: '5m' });
  const { rounds, seconds } = probeLoad(base, 'ROUND_TRIPS');
  assert.equal(rounds.length, 15);
  assert.equal(seconds, 300);
});

test('breakpoint has a step a round, each a multiple of the rate', () => {
  given({ PROFILE: 'breakpoint' });
  const rates = probeLoad(base, 'ROUND_TRIPS').rounds.map((round) => round.rate);
  assert.equal(rates.length, 20);
  assert.deepEqual([rates[0], rates[19]], [500, 10000]);
});

test('a load without a rate says what its shapes vary', () => {
  given({ PROFILE: 'spike' });
  const load = repeatedLoad(
    { smoke: { rounds: 1, count: 4 }, quick: { rounds: 3, count: 32 }, full: { rounds: 9, count: 99 } },
    'how much varies',
  );
  assert.deepEqual(
    load.rounds.map(({ factor }) => factor),
    [1, 1, 5, 1, 1],
  );
  assert.deepEqual(load.notes, ['spike: how much varies']);
});

/** One run per round. @param {number[]} rates @param {number} [lost] */
const runsAt = (rates, lost = 0) =>
  rates.map((rate, round) => ({
    round,
    mbit_per_s: rate,
    rtt_p95_ms: 1,
    rtt_p99_ms: 2,
    peak_rss_bytes: 1e6,
    lost_share: lost,
  }));

/** Rates around a middle, in a different order for each seed. @param {number} middle @param {number} seed @param {number} [count] */
const about = (middle, seed, count = 12) =>
  Array.from({ length: count }, (_, index) => middle * (1 + 0.01 * (((index * seed) % 7) - 3)));

test('a sweep recommends what is better beyond noise, and nothing else', () => {
  const slow = { value: 64, runs: runsAt(about(10, 3)) };
  const fast = { value: 512, runs: runsAt(about(20, 5)) };
  const up = recommend('queue', [slow, fast], 64);
  assert.equal(up.recommended, 512);
  assert.match(up.reason, /^queue = 512 moves more than 64 \((9\d|10\d)\.\d %, \d+\.\d to \d+\.\d %\)$/);
  const down = recommend('queue', [slow, fast], 512);
  assert.equal(down.recommended, null);
  assert.match(
    down.reason,
    /^queue = 64 moves less than 512 \(-(49|50)\.\d %, -\d+\.\d to -\d+\.\d %\); keep 512$/,
  );
  const faster = { value: 128, runs: runsAt(about(30, 4)) };
  for (const others of [
    [fast, faster],
    [faster, fast],
  ])
    assert.equal(recommend('queue', [slow, ...others], 64).recommended, 128, 'the fastest of several');
  const alike = { value: 512, runs: runsAt(about(10, 5)) };
  const noise = recommend('queue', [slow, alike], 64);
  assert.equal(noise.recommended, null);
  assert.match(
    noise.reason,
    /with 12 runs of each that may be noise; (about RUNS=\d\d would decide|even 50 runs would not distinguish them); keep 64$/,
  );
});

test('what drifts from round to round hides nothing, as the runs of a round are compared', () => {
  const drifting = (/** @type {number} */ factor, /** @type {number} */ seed) =>
    runsAt(about(10 * factor, seed).map((rate, round) => rate * (1 + round / 4)));
  const { recommended } = recommend(
    'queue',
    [
      { value: 64, runs: drifting(1, 3) },
      { value: 512, runs: drifting(1.1, 5) },
    ],
    64,
  );
  assert.equal(recommended, 512);
});

test('a sweep that can tell nothing says how many runs it takes, and as many tell', () => {
  const apart = (/** @type {number} */ values, /** @type {number} */ runs) =>
    Array.from({ length: values }, (_v, value) => ({ value, runs: runsAt(about(10 + 5 * value, 3, runs)) }));
  assert.deepEqual(recommend('queue', apart(2, 2), 0), {
    recommended: null,
    reason: '2 runs of each of 2 values cannot tell a difference: it takes RUNS=10; keep 0',
  });
  for (const [values, runs] of [
    [2, 10],
    [4, 12],
    [12, 14],
  ]) {
    assert.equal(recommend('queue', apart(values, runs), 0).recommended, values - 1, `${values} × ${runs}`);
    assert.match(
      recommend('queue', apart(values, runs - 1), 0).reason,
      new RegExp(`it takes RUNS=${runs}; keep 0$`),
    );
  }
});

test('loss comes before throughput', () => {
  const fast = { value: 64, runs: runsAt(about(30, 3), 0.1) };
  const whole = { value: 512, runs: runsAt(about(10, 5), 0) };
  const { recommended, reason } = recommend('queue', [fast, whole], 64);
  assert.equal(recommended, 512);
  assert.equal(reason, 'queue = 512 loses less than 64 (0.00 % against 10.00 %)');
  assert.deepEqual(recommend('queue', [whole, fast], 512), {
    recommended: null,
    reason: 'queue = 64 loses more than 512 (10.00 % against 0.00 %); keep 512',
  });
});

test('a value that moves more is found behind one that only loses less by chance', () => {
  const now = { value: 64, runs: runsAt(about(35, 3), 0.0002) };
  const lucky = { value: 128, runs: runsAt(about(35, 5), 0) };
  lucky.runs[0].lost_share = 0.001;
  lucky.runs[1].lost_share = 0.001;
  const fast = { value: 256, runs: runsAt(about(70, 4), 0.0002) };
  assert.equal(recommend('queue', [now, lucky, fast], 64).recommended, 256);
  const failing = { value: 256, runs: runsAt(about(70, 4)) };
  Object.assign(failing.runs[3], { mbit_per_s: 0, lost_share: 1 });
  Object.assign(failing.runs[7], { mbit_per_s: 0, lost_share: 1 });
  assert.equal(recommend('queue', [now, failing], 64).recommended, null, 'two of its runs carried nothing');
  assert.match(recommend('queue', [lucky, fast], 64).reason, /64, which is in use, was not measured/);
});

test('a value that lacks a round is neither recommended nor called equal, and the reason names it', () => {
  const now = { value: 64, runs: runsAt(about(10, 3, 13)) };
  const fast = { value: 512, runs: runsAt(about(20, 5, 13)) };
  const equal = { value: 128, runs: runsAt(about(10, 7, 13)) };
  assert.equal(recommend('queue', [now, fast, equal], 64).recommended, 512);
  const lacks = 'queue = 512 was measured in 12 of 13 rounds: no conclusion is possible';
  for (const [what, runs] of Object.entries({
    'no run': fast.runs.slice(1),
    'no throughput': fast.runs.map((run, round) => (round === 4 ? { ...run, mbit_per_s: null } : run)),
    'less than nothing': fast.runs.map((run, round) => (round === 4 ? { ...run, mbit_per_s: -1 } : run)),
    'more than all lost': fast.runs.map((run, round) => (round === 4 ? { ...run, lost_share: 1.5 } : run)),
    'moves nothing, and loses nothing': fast.runs.map((run, round) =>
      round === 4 ? { ...run, mbit_per_s: 0 } : run,
    ),
    'a round twice': fast.runs.map((run, round) => (round === 4 ? { ...run, round: 3 } : run)).slice(1, 99),
  })) {
    const part = { value: 512, runs: /** @type {any} */ (runs) };
    const { recommended, reason } = recommend('queue', [now, part, equal], 64, 13);
    assert.equal(recommended, null, what);
    assert.match(
      reason,
      /queue = 512 was measured in 1[012] of 13 rounds: no conclusion is possible; keep 64$/,
    );
    if (what !== 'a round twice') assert.ok(reason.includes(lacks), reason);
  }
  const faster = { value: 256, runs: runsAt(about(15, 5, 13)) };
  assert.deepEqual(recommend('queue', [now, { ...fast, runs: [] }, faster], 64), {
    ...recommend('queue', [now, { ...fast, runs: [] }, faster], 64),
    recommended: 256,
  });
});

test('without each run of the value in use, or with fewer rounds than were planned, nothing is recommended', () => {
  const now = { value: 64, runs: runsAt(about(10, 3, 13)) };
  const fast = { value: 512, runs: runsAt(about(20, 5, 13)) };
  assert.deepEqual(recommend('queue', [{ ...now, runs: now.runs.slice(1) }, fast], 64), {
    recommended: null,
    reason:
      'queue = 64 was measured in 12 of 13 rounds, and it is in use: without it no other value can be judged; keep 64',
  });
  assert.equal(recommend('queue', [now, fast], 64, 14).recommended, null);
  const { headline } = sweepSection('queue', [now, { value: 512, runs: [] }], 64, 13);
  assert.match(String(headline?.detail), /queue = 512 was measured in 0 of 13 rounds/);
});

test('a table of spreads, with a gap where nothing was measured', () => {
  assert.deepEqual(spreadOf([3, 1, 2]), { median: 2, min: 1, max: 3 });
  assert.deepEqual(spreadOf([4, 1, 2, 3]).median, 2.5);
  const { rows, headline, notes } = sweepSection(
    'queue',
    [
      { value: 1, runs: runsAt([5]) },
      { value: 2, runs: [], refused: 'too many' },
    ],
    1,
  );
  const all = { value: 5, low: 5, high: 5 };
  assert.deepEqual(
    [rows[0].slice(0, 3), rows[1].slice(0, 3)],
    [
      [1, 1, all],
      [2, 0, null],
    ],
  );
  assert.deepEqual(headline, {
    value: 'no best value',
    of: 'of queue',
    detail: 'fewer than two values were measured',
  });
  assert.deepEqual(notes?.slice(0, 2), [
    'Recommendation: none: fewer than two values were measured',
    'The system refuses queue = 2: too many',
  ]);
});

test('what a probe did not begin, because the system ended it, has failed', () => {
  const outcome = /** @type {any} */ ({ attempted: 5, succeeded: 2, errors: { timeout: 3 } });
  const of = (/** @type {string | null} */ stopped, attempted = 5) => {
    const { errors, attempted: all } = wholeOf(20, { ...outcome, attempted, stopped });
    return [all, errors.cut ?? 0];
  };
  for (const stopped of ['failures', 'stalled', 'control_closed']) assert.deepEqual(of(stopped), [20, 15]);
  // The sidecar itself counts operations that its limit cut. It does not count operations that had not begun.
  for (const stopped of ['limit', 'cancelled', null]) assert.deepEqual(of(stopped), [5, 0]);
  assert.deepEqual(of('failures', 24), [24, 0]);
});
