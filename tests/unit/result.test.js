import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonsOf } from '../support/reasons.js';
import { disturbedSeconds } from '../../lib/placement-load.js';
import { evaluate } from '../../lib/result.js';
import { againstControl, k6Thresholds } from '../../lib/thresholds.js';

const spec = { title: 'Send', loop: /** @type {const} */ ('closed'), latencyIs: 'from start to end' };

/** A summary as k6 gives it. */
function summary({
  success = 1000,
  failed = 0,
  errors = {},
  p99 = 20,
  dropped = 0,
  iterations = success + failed,
} = {}) {
  const metric = (values) => ({ values });
  const metrics = {
    'operation_ms{operation:send}': metric({
      count: success,
      avg: 5,
      min: 1,
      med: 4,
      'p(90)': 8,
      'p(95)': 10,
      'p(99)': p99,
      'p(99.9)': 30,
      max: 40,
    }),
    'operation_failed{operation:send}': metric({
      rate: failed / (success + failed),
      passes: failed,
      fails: success,
    }),
    'operation_items{operation:send}': metric({ count: success }),
    'operation_clock_ms{operation:send}': metric({ value: 1, min: 1000, max: 3000 }),
    'operation_lateness_ms{operation:send}': metric({ count: 0 }),
    iterations: metric({ count: iterations, rate: 1 }),
    dropped_iterations: metric({ count: dropped, rate: 1 }),
  };
  for (const [kind, count] of Object.entries(errors)) {
    metrics[`operation_errors{operation:send,kind:${kind}}`] = metric({ count });
  }
  return metrics;
}

const usage = (cpuPercent, busyPercent, exit = null, relayPercent = 50) => ({
  duration_s: 2,
  host: { cpus: 2, busy_percent: busyPercent },
  processes: [
    { name: 'relay', role: 'system', cpu_s: 1, cpu_percent: relayPercent, peak_rss_bytes: 1e6, exit },
    { name: 'k6', role: 'generator', cpu_s: 1, cpu_percent: cpuPercent, peak_rss_bytes: 1e6, exit: null },
  ],
  total: { cpu_s: 1, cpu_percent: 50, peak_rss_bytes: 1e6 },
});

/** @param {object} bounds @param {object} [wanted] */
const wants = (bounds, wanted) => ({ send: { bounds, leastItems: 1000, ...wanted } });

function measure(metrics, changes = {}) {
  return evaluate({
    metrics,
    operations: { send: spec },
    wanted: wants({ failed: 0, 'p(95)': 100 }),
    bounds: {},
    usage: usage(40, 60),
    plannedIterations: 1000,
    plannedSeconds: 0,
    seconds: 2,
    limit: undefined,
    ...changes,
  });
}

test('a clean run passes, with the rate over its own window', () => {
  const result = measure(summary());
  assert.deepEqual(result.reasons, []);
  assert.equal(result.verdict, 'pass');
  const [row] = result.operations;
  assert.deepEqual([row.requests, row.success, row.window_s, row.rate_per_s], [1000, 1000, 2, 500]);
  assert.deepEqual(
    result.thresholds.map((line) => [line.expression, line.value, line.unit]),
    [
      ['count>=1000', 1000, 'count'],
      ['p(95)<100', 10, 'ms'],
      ['rate<=0', 0, 'share'],
    ],
  );
  assert.equal(result.processes.at(-1).role, 'total');
});

test('rate limiting fails with a reason that says so', () => {
  const result = measure(summary({ success: 120, failed: 880, errors: { http_429: 880 } }));
  assert.equal(result.verdict, 'fail');
  assert.deepEqual(result.operations[0].errors, { http_429: 880 });
  assert.match(result.reasons[0].text, /send: 880 × http_429 in 1000 requests: the target limited the rate/);
});

test('no sample at all is never a pass, and its latency threshold has no value', () => {
  const result = measure(summary({ success: 0, iterations: 1000 }));
  assert.notEqual(result.verdict, 'pass');
  assert.equal(result.operations[0].latency_ms, null);
  assert.equal(result.operations[0].rate_per_s, null);
  assert.equal(result.thresholds.find((line) => line.unit === 'ms').value, null);
});

test('where k6 counts iterations, the successes among them are judged', () => {
  const wanted = wants({}, { uncounted: true });
  const line = measure(summary({ success: 990, failed: 10 }), { wanted }).thresholds.find(
    ({ unit }) => unit === 'count',
  );
  assert.deepEqual([line.metric, line.value, line.ok], ['successes', 990, false]);
});

test('an interrupted run is inconclusive whatever it measured', () => {
  const result = measure(summary({ success: 300, iterations: 300 }));
  assert.equal(result.verdict, 'inconclusive');
  assert.ok(
    result.validity.some(
      (check) => check.check === 'complete' && !check.ok && /300 of 1000/.test(check.detail),
    ),
  );
});

test('a run bound by time is interrupted when it is shorter than planned', () => {
  const changes = { plannedIterations: undefined, plannedSeconds: 30 };
  assert.equal(measure(summary(), { ...changes, seconds: 12 }).verdict, 'inconclusive');
  assert.equal(measure(summary(), { ...changes, seconds: 30.2 }).verdict, 'pass');
});

test('a percentile that too few samples carry is not shown, and a threshold on it is inconclusive', () => {
  const result = measure(summary({ success: 50, iterations: 1000 }), { wanted: wants({ 'p(99)': 100 }) });
  assert.equal(result.operations[0].latency_ms.p99, null);
  assert.equal(result.operations[0].latency_ms.p95, 10);
  assert.equal(result.verdict, 'inconclusive');
  assert.ok(result.reasons.some(({ text }) => /50 samples cannot carry a threshold on P99/.test(text)));
});

test('a generator that took most of a full machine makes the run inconclusive', () => {
  assert.equal(measure(summary(), { usage: usage(150, 99) }).verdict, 'inconclusive');
  assert.equal(
    measure(summary(), { usage: usage(60, 99, null, 120) }).verdict,
    'pass',
    'the system was the larger part',
  );
  assert.equal(measure(summary(), { usage: usage(150, 80) }).verdict, 'pass', 'the machine had room');
});

test('a third process that took a large part of a full machine is named', () => {
  const result = measure(summary(), { usage: usage(60, 99, null, 50) });
  assert.equal(result.verdict, 'inconclusive');
  assert.match(result.reasons[0].text, /88\.0 % of one core with something else/);
});

test('systems that a scenario started by itself are not something else', () => {
  const own = (/** @type {number} */ count) => ({
    ...summary(),
    own_instances_cpu_s: { type: 'counter', values: { count } },
  });
  const full = usage(60, 99, null, 50);
  const seconds = full.duration_s;
  assert.equal(measure(own(0.88 * seconds), { usage: full }).verdict, 'pass');
  assert.match(
    measure(own(0.3 * seconds), { usage: full }).reasons[0].text,
    /58\.0 % of one core with something/,
  );
});

test('a round that was cut off, or a latency below zero, is inconclusive', () => {
  const cut = { ...summary(), rounds_begun: { type: 'counter', values: { count: 1001 } } };
  assert.match(measure(cut).reasons[0].text, /rounds: 1 of 1001 rounds were cut off/);
  const jumped = summary();
  jumped['operation_ms{operation:send}'].values.min = -3;
  assert.match(measure(jumped).reasons[0].text, /clock: send: a latency of -3\.000 ms/);
});

test('dropped iterations and a dead process are named', () => {
  assert.match(
    measure(summary({ dropped: 7 })).reasons[0].text,
    /dropped iterations: 7 iterations were never sent/,
  );
  const dead = measure(summary(), { usage: usage(40, 60, 'signal 9') });
  assert.equal(dead.verdict, 'fail');
  assert.match(dead.reasons[0].text, /relay ended in mid-run \(signal 9\)/);
});

test('a system that ended fails a run that was stopped for it, and the moment is told', () => {
  const used = usage(40, 60, 'signal 9');
  Object.assign(used.processes[0], { exit_after_s: 5.23 });
  const result = measure(summary({ success: 500 }), { usage: used });
  assert.equal(result.verdict, 'fail');
  assert.match(reasonsOf(result).join('\n'), /processes: relay ended 5\.2 s after the start \(signal 9\)/);
});

test('what a testbed has beside the system is no failure of the system', () => {
  const used = usage(40, 60, 'signal 9');
  used.processes[0].role = 'support';
  const result = measure(summary(), { usage: used });
  assert.equal(result.verdict, 'inconclusive');
  assert.match(result.reasons[0].text, /support processes: relay ended in mid-run/);
});

test('a target that fell silent fails the run that was stopped for it', () => {
  const silent = { type: 'gauge', values: { value: 12_300, min: 12_300, max: 12_300 } };
  const result = measure({ ...summary({ success: 500 }), target_silent_since_ms: silent });
  assert.equal(result.verdict, 'fail');
  assert.match(reasonsOf(result).join('\n'), /target: it answered nothing for 10 s, from 12\.3 s/);
});

test('limits of the generator and failed controls are inconclusive, whatever the system did', () => {
  const limits = measure(summary({ success: 990, failed: 10, errors: { too_many_files: 10 } }));
  assert.equal(limits.verdict, 'inconclusive');
  assert.match(reasonsOf(limits).join('\n'), /generator limits: 10 × too_many_files: .*ulimit -n/);
  const failing = summary({ success: 990, failed: 10, errors: { socks_general_failure: 10 } });
  assert.equal(measure(failing).verdict, 'fail');
  const both = Object.fromEntries(
    Object.entries(failing).flatMap(([name, metric]) => [
      [name, metric],
      [name.replace('operation:send', 'operation:send_direct'), metric],
    ]),
  );
  const controlled = measure(both, {
    operations: { send: { ...spec, control: 'send_direct' }, send_direct: spec },
    wanted: {
      send: { bounds: { failed: 0 }, leastItems: 0 },
      send_direct: { bounds: { failed: 0 }, leastItems: 0 },
    },
  });
  assert.equal(controlled.verdict, 'inconclusive');
  assert.match(reasonsOf(controlled).join('\n'), /controls: send_direct failed without the system/);
});

test('the seconds in which a CPU of the placement was disturbed are told', () => {
  const placement = { probe_cpus: '1', echo_cpus: '1', system_cpus: '' };
  const at = (ms, others, steal = 0) => ({
    at_unix_ms: 1_000_000 + ms,
    span_s: 0.1,
    cpus: [
      { cpu: 0, others_s: 0.1, steal_s: 0 },
      { cpu: 1, others_s: others, steal_s: steal },
    ],
  });
  const samples = [
    at(100, 0.01),
    at(900, 0),
    at(1100, 0.06),
    at(1200, 0.04),
    at(2500, 0, 0.08),
    at(3100, 0.02),
  ];
  assert.deepEqual(disturbedSeconds(samples, placement, 1_000_000), [
    { second: 1, cpu: 1, others_percent: 50, steal_percent: 0 },
    { second: 2, cpu: 1, others_percent: 0, steal_percent: 80 },
  ]);
});

test('a neighbour on a CPU of the placement makes the run inconclusive', () => {
  const placement = { probe_cpus: '1', echo_cpus: '1', system_cpus: '1' };
  const of = (others) => {
    const used = usage(40, 52);
    used.host.by_cpu = [
      { cpu: 0, span_s: 2, busy_s: 1.9, others_s: 1.8, steal_s: 0 },
      { cpu: 1, span_s: 2, busy_s: 1.9, others_s: others, steal_s: 0.01 },
    ];
    return measure(summary(), { usage: used, placement });
  };
  assert.equal(of(0.1).verdict, 'pass');
  const disturbed = of(0.9);
  assert.equal(disturbed.verdict, 'inconclusive');
  assert.match(
    disturbed.reasons[0].text,
    /neighbours: CPU 1: 45\.0 % used by others, 0\.5 % taken by the hypervisor/,
  );
  assert.doesNotMatch(disturbed.reasons[0].text, /CPU 0/);
});

test('without a sidecar the CPU check is open, not passed, and not a reason', () => {
  const result = measure(summary(), { usage: null });
  assert.equal(result.validity.find((check) => check.check === 'generator CPU').ok, null);
  assert.equal(result.verdict, 'pass');
});

test('a crossed latency bound fails a valid run', () => {
  const result = measure(summary(), { wanted: wants({ 'p(95)': 5 }) });
  assert.equal(result.verdict, 'fail');
  assert.match(result.reasons[0].text, /^send: P95 10\.0 ms, at most 5 ms$/);
});

test('a least rate is judged over the window', () => {
  const bounds = (rate) => ({ wanted: wants({ failed: 0, rate }) });
  assert.equal(measure(summary(), bounds(499)).verdict, 'pass');
  assert.equal(measure(summary(), bounds(501)).verdict, 'fail');
});

test('every latency bound of k6 comes with a count', () => {
  const thresholds = k6Thresholds({
    send: { bounds: { 'p(50)': 50, 'p(95)': 100, failed: 0, errors: 0 }, leastItems: 1000 },
    poll: { bounds: {}, leastItems: 7, uncounted: true },
    look: { bounds: { failed: 1 }, leastItems: 0 },
  });
  assert.deepEqual(thresholds, {
    'operation_ms{operation:send}': ['med<50', 'p(95)<100'],
    'operation_items{operation:send}': ['count>=1000'],
    'operation_failed{operation:send}': ['rate<=0'],
    'operation_errors{operation:send}': ['count<=0'],
    'iterations{operation:poll}': ['count>=7'],
  });
});

test('a late generator makes an open loop inconclusive, and a closed one only when it is swamped', () => {
  const late = (p99) => ({
    ...summary(),
    'operation_lateness_ms{operation:send}': { values: { count: 9, 'p(99)': p99 } },
  });
  const open = { operations: { send: { ...spec, loop: 'open' } } };
  assert.equal(measure(late(9.9), open).verdict, 'pass', 'half of the p99 of 20 ms');
  assert.equal(measure(late(10.1), open).verdict, 'inconclusive');
  assert.equal(measure(late(10.1)).verdict, 'pass');
  assert.equal(measure(late(300)).verdict, 'inconclusive');
});

test('what a comparison must find within its bound is in the result where the scenario names it', () => {
  const rowOf = (own) =>
    evaluate({
      metrics: summary(),
      operations: { send: { ...spec, ...own } },
      wanted: { send: { bounds: {}, leastItems: 0 } },
      bounds: {},
      usage: null,
      plannedIterations: 1000,
      plannedSeconds: 0,
      seconds: 2,
      limit: undefined,
      leftovers: '',
      integrity: undefined,
    }).operations[0];
  assert.equal(rowOf({ primary: 'p50' }).primary, 'p50');
  assert.ok(!('primary' in rowOf({})));
});

test('a percentile that may be the lateness of the generator is not shown, and no threshold on it is crossed', () => {
  const open = { ...spec, loop: /** @type {const} */ ('open') };
  const judged = (/** @type {Record<string, number>} */ bounds) => {
    const metrics = summary({ p99: 0.4 });
    metrics['operation_ms{operation:send}'].values = {
      ...metrics['operation_ms{operation:send}'].values,
      med: 0.1,
      'p(95)': 0.3,
      'p(99.9)': 4,
    };
    metrics['operation_lateness_ms{operation:send}'] = {
      values: { count: 1000, med: 0.01, 'p(90)': 0.1, 'p(95)': 0.12, 'p(99)': 0.35, 'p(99.9)': 1 },
    };
    return evaluate({
      metrics,
      operations: { send: open },
      wanted: wants(bounds),
      bounds: {},
      usage: usage(20, 40),
      plannedIterations: 1000,
      plannedSeconds: 0,
      seconds: 2,
      limit: undefined,
      leftovers: '',
      integrity: undefined,
    });
  };
  const fine = judged({ 'p(99)': 1 });
  const { p50, p95, p99, p99_9: last } = fine.operations[0].latency_ms ?? {};
  assert.deepEqual([p50, p95, p99, last], [0.1, 0.3, null, 4]);
  assert.equal(fine.verdict, 'pass', 'with the lateness in it, it holds');
  assert.match(JSON.stringify(fine.validity), /more than half of P99, not shown/);
  const crossed = judged({ 'p(99)': 0.2 });
  assert.equal(crossed.verdict, 'inconclusive');
  assert.match(
    reasonsOf(crossed).join('\n'),
    /generator lateness: send: .*P99 at most 0\.2 ms cannot be judged/,
  );
  assert.equal(judged({ 'p(95)': 0.2 }).verdict, 'fail', 'the P95 can be told');
});

test('a wait through the proxy that is grossly longer than without it fails, whatever the bounds are', () => {
  const judged = (/** @type {number | null} */ own, /** @type {number | null} */ direct) =>
    againstControl({ name: 'handshake', latency_ms: { p50: own } }, { latency_ms: { p50: direct } }).map(
      ({ ok, expression, measured, required }) => [ok, expression, measured, required],
    );
  assert.deepEqual(judged(47, 0.05), [[false, 'med<20', 'P50 47.0 ms', 'at most 20 ms']]);
  assert.deepEqual(judged(19, 0.05), [[true, 'med<20', 'P50 19.0 ms', 'at most 20 ms']]);
  // Over a path of 30 ms twenty times as much.
  assert.deepEqual(judged(61, 30)[0].slice(0, 2), [true, 'med<600']);
  assert.deepEqual([judged(null, 1), judged(1, null)], [[], []]);
});
