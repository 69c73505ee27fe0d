import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorReasons, fold, reasonOf } from '../../lib/reasons.js';
import { toText } from '../../lib/table.js';
import { sentenceOf, wordsOf } from '../../lib/threshold-words.js';
import { evaluate } from '../../lib/result.js';

test('each kind of threshold is a sentence in plain words', () => {
  /** @type {[string, string, number | null, string][]} */
  const cases = [
    ['operation_ms', 'med<0.01', 0.5609265, 'P50 0.561 ms, at most 0.01 ms'],
    ['operation_ms', 'p(99.9)<1000', 1000.4, 'P99.9 1,000.4 ms, at most 1,000 ms'],
    ['operation_ms', 'avg<25', 24.2, 'average 24.2 ms, at most 25 ms'],
    ['operation_ms', 'max<25', 1398.2, 'max 1,398 ms, at most 25 ms'],
    ['operation_ms', 'p(95)<25', 25, 'P95 25.0 ms, below 25 ms'],
    ['operation_ms', 'p(95)<25', null, 'P95: no sample, at most 25 ms'],
    ['operation_errors', 'count<=0', 65, '65 errors, at most 0'],
    ['operation_errors', 'count<=0', 1, '1 error, at most 0'],
    ['operation_anomalies', 'count<=10', 1234, '1,234 anomalies, at most 10'],
    ['operation_failed', 'rate<=0', 1, '100% failed, at most 0%'],
    ['operation_failed', 'rate<=0.07', 0.0700001, '7.00001% failed, at most 7%'],
    ['operation_items', 'count>=80', 25, '25 successes, at least 80'],
    ['successes', 'count>=1000', 990, '990 successes, at least 1,000'],
    ['rate', 'rate>=500', 499.96, 'rate 499.96/s, at least 500/s'],
    ['rate', 'rate>=500', null, 'rate: no sample, at least 500/s'],
  ];
  for (const [metric, expression, value, text] of cases)
    assert.equal(sentenceOf(wordsOf({ metric, expression, value })), text);
  const batches = { metric: 'operation_items', expression: 'count>=5000', value: 4950 };
  assert.equal(sentenceOf(wordsOf(batches, 'messages')), '4,950 messages, at least 5,000');
});

/** A data plane whose proxy ended in mid-run: all that follows from it, as k6 would tell it. */
function killed() {
  const names = Array.from({ length: 24 }, (_, index) => `up_${index}`);
  const metrics = Object.fromEntries(
    names.flatMap((name) => [
      [`operation_ms{operation:${name}}`, { values: { count: 0 } }],
      [`operation_failed{operation:${name}}`, { values: { rate: 1, passes: 50, fails: 0 } }],
      [`operation_items{operation:${name}}`, { values: { count: 0 } }],
      [`operation_errors{operation:${name}}`, { values: { count: 50 } }],
      [`operation_errors{operation:${name},kind:connection_refused}`, { values: { count: 50 } }],
    ]),
  );
  const process = { role: 'system', cpu_s: 1, cpu_percent: 10, peak_rss_bytes: 1e6 };
  return evaluate({
    metrics: { ...metrics, probes_cut: { values: { count: 60 } }, iterations: { values: { count: 24 } } },
    operations: Object.fromEntries(
      names.map((name) => [name, { title: name, loop: 'closed', latencyIs: 'x' }]),
    ),
    wanted: Object.fromEntries(
      names.map((name) => [name, { bounds: { 'p(95)': 5, failed: 0, errors: 0 }, leastItems: 1 }]),
    ),
    bounds: {},
    usage: {
      duration_s: 2,
      host: { cpus: 2, busy_percent: 50 },
      processes: [
        { name: 'proxy', ...process, exit: 'signal 9' },
        { name: 'k6', ...process, role: 'generator', exit: null },
      ],
      total: { cpu_s: 1, cpu_percent: 10, peak_rss_bytes: 1e6 },
    },
    plannedIterations: 24,
    plannedSeconds: 0,
    seconds: 2,
    limit: undefined,
    leftovers: '',
    integrity: undefined,
  });
}

test('the cause comes first, and what follows from it is one line of each kind', () => {
  const { reasons } = killed();
  assert.ok(reasons.length > 120, `${reasons.length} reasons`);
  const folded = fold(reasons);
  assert.deepEqual(
    folded.map(({ role, kind, count, text }) => [role, kind, count, text]),
    [
      ['cause', 'process', 1, 'processes: proxy ended in mid-run (signal 9)'],
      ['cause', 'probe', 1, 'probes: 60 ended early: the log says why'],
      [
        'consequence',
        'error',
        24,
        'up_0 and 23 more operations: 1,200 × connection_refused: nothing accepted the connection: the target is down or died in mid-run',
      ],
      ['consequence', 'threshold', 72, 'up_0: 0 successes, at least 1 (and 71 more thresholds)'],
      [
        'consequence',
        'samples',
        24,
        'samples: up_0: 0 samples cannot carry a threshold on P95 (and 23 more operations)',
      ],
    ],
  );
  assert.equal(
    folded.reduce((sum, { count }) => sum + count, 0),
    reasons.length,
    'none is lost',
  );
  assert.deepEqual(
    folded.flatMap(({ text, all }) => all ?? [text]).sort(),
    reasons.map(({ text }) => text).sort(),
    'each is kept word for word',
  );
});

test('an interrupt comes before what it cut, and errors of two kinds are not one', () => {
  const error = (/** @type {string} */ name, /** @type {string} */ operation) => ({
    ...reasonOf('error', `${operation}: 1 × ${name} in 9 requests: why`, name),
    error: { operation, count: 1, mend: name === 'timeout' ? 'the target did not answer in time' : 'why' },
  });
  const folded = fold([
    error('timeout', 'a'),
    error('closed', 'a'),
    error('timeout', 'b'),
    reasonOf('probe', 'probes: 1 ended early'),
    reasonOf('interrupt', 'complete: 3 of 9 iterations: ended early'),
  ]);
  assert.deepEqual(
    folded.map(({ kind, text }) => `${kind} ${text}`),
    [
      'interrupt complete: 3 of 9 iterations: ended early',
      'probe probes: 1 ended early',
      'error a and 1 more operation: 2 × timeout: the target did not answer in time',
      'error a: 1 × closed in 9 requests: why',
    ],
  );
});

test('errors blame the proxy where the same without it was clean', () => {
  const operations = (/** @type {Record<string, number>} */ direct) => [
    { name: 'tcp', requests: 9, errors: { connection_reset: 3, corrupted: 1 } },
    { name: 'tcp_direct', requests: 9, errors: direct },
  ];
  const texts = (/** @type {Record<string, number>} */ direct) =>
    errorReasons(operations(direct), [{ operation: 'tcp', control: 'tcp_direct' }]).map(({ text }) => text);
  assert.deepEqual(texts({}), [
    'tcp: 3 × connection_reset in 9 requests: the proxy broke connections off: without it none broke',
    'tcp: 1 × corrupted in 9 requests: the payload that came back differs from what was sent',
  ]);
  assert.match(texts({ connection_reset: 1 })[0], /: the target broke connections off$/);
  assert.match(errorReasons(operations({}), [])[0].text, /: the target broke connections off$/);
});

test('a single k6 run prints five lines of reasons at most', () => {
  const reasons = fold(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => reasonOf('row', `${name} broke`, name)),
  );
  const run = { system: 's', scenario: 'x', profile: 'smoke', environment: 'local' };
  const lines = (/** @type {any[]} */ shown) =>
    toText({ run, verdict: 'fail', operations: [], notes: [], reasons: shown })
      .split('\n')
      .filter((line) => line.startsWith('  !'));
  assert.deepEqual(lines(reasons).slice(3), ['  ! d broke', '  ! and 3 more: the result has them']);
  assert.equal(lines(reasons.slice(0, 5)).at(-1), '  ! e broke');
});
