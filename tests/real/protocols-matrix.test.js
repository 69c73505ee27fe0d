/** The matrix scenario: rows in named outcomes, a slowed candidate flagged where it is slow, bad input in one line. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { ROOT } from '../support/k6.js';

const ONLY = 'protocols/matrix';
const CANDIDATE = join(ROOT, 'tests/fixtures/candidate');

/** @param {any} result @param {string} name */
const rowOf = (result, name) => result.protocols.rows.find((/** @type {any} */ { row }) => row === name);

test('a row has its figures, and the coverage says what was measured', async () => {
  const bench = startBench({ ONLY, PROFILE: 'smoke', PROTOCOL: 'shadowsocks-2022,ssh,direct' });
  try {
    await bench.ended;
    const result = bench.result('protocols-matrix');
    const { figures, outcome, detail } = rowOf(result, 'shadowsocks-2022').baseline;
    assert.equal(outcome, 'measured', detail);
    for (const name of [
      'handshake_ms',
      'rtt_ms',
      'mbit_1k',
      'mbit_64k',
      'mbit_1m',
      'udp_rtt_ms',
      'tunnels_10_p95_ms',
      'tunnels_100_p95_ms',
      'cpu_s_per_gib',
      'peak_rss_mib',
      'measuring_cpus',
    ])
      assert.ok(figures[name]?.median > 0, name);
    assert.equal(figures.udp_lost_share.median < 0.05, true);
    assert.equal(rowOf(result, 'direct').baseline.outcome, 'measured');
    assert.match(rowOf(result, 'ssh').baseline.outcome, /measured|impossible here/);
    const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
    assert.match(report, /### Baseline: sing-box 1\.12\.12/);
    assert.match(report, /\| ✓ \| inbound \| direct \| direct: measured/);
    assert.match(report, /\| \? \| outbound \| tor \| no row: needs the Tor network/);
  } finally {
    bench.remove();
  }
});

test('a candidate with faults has a named outcome in each row, and the other rows go on', async () => {
  const bench = startBench({
    ONLY,
    CANDIDATE,
    PROFILE: 'smoke',
    TURNS: '7',
    TUNNELS: '10',
    PROTOCOL: 'socks,http,shadowsocks-aes-128-gcm,trojan,vmess,vless,anytls',
  });
  try {
    assert.equal(await bench.ended, 99);
    const result = bench.result('protocols-matrix');
    const outcome = (/** @type {string} */ row) => rowOf(result, row).candidate.outcome;
    assert.deepEqual(['socks', 'http', 'vmess', 'vless', 'anytls'].map(outcome), [
      'corrupted payload',
      'measured',
      'died in mid-run',
      'crashed at start',
      'refused configuration',
    ]);
    assert.match(rowOf(result, 'anytls').candidate.detail, /unknown inbound type: anytls/);
    for (const { row, baseline } of result.protocols.rows)
      assert.equal(baseline.outcome, 'measured', `${row}: ${baseline.detail}`);
    const judged = (/** @type {string} */ row, /** @type {string} */ target) =>
      rowOf(result, row).comparison.find((/** @type {any} */ line) => line.target === target).judged;
    assert.equal(judged('trojan', 'throughput'), 'missed', 'the server runs a thirtieth of the time');
    const delayed = judged('shadowsocks-aes-128-gcm', 'latency');
    assert.equal(delayed, 'missed', 'each answer is held for 5 ms');
    for (const target of ['throughput', 'latency'])
      assert.notEqual(judged('http', target), 'missed', 'the same program is no slower');
    assert.equal(result.verdict, 'fail');
    for (const part of [
      /anytls: candidate: refused configuration/,
      /trojan: throughput is \d+ % of the baseline/,
    ])
      assert.ok(
        result.reasons.some((/** @type {string} */ line) => part.test(line)),
        result.reasons.join('\n'),
      );
  } finally {
    bench.remove();
  }
});

test('a candidate that is missing is told, and the baseline is measured all the same', async () => {
  const bench = startBench({
    ONLY,
    CANDIDATE: '/nowhere/sing-box',
    PROFILE: 'smoke',
    PROTOCOL: 'socks,http',
  });
  try {
    assert.equal(await bench.ended, 99);
    for (const { baseline, candidate } of bench.result('protocols-matrix').protocols.rows)
      assert.deepEqual([baseline.outcome, candidate.outcome], ['measured', 'missing binary']);
  } finally {
    bench.remove();
  }
});

test('xray is compared in the rows that it has, and says why not in the others', async () => {
  const bench = startBench({ ONLY, CANDIDATE: 'xray', PROFILE: 'smoke', PROTOCOL: 'vless,tuic' });
  try {
    await bench.ended;
    const result = bench.result('protocols-matrix');
    assert.equal(result.protocols.candidate.engine, 'xray');
    assert.equal(rowOf(result, 'vless').candidate.outcome, 'measured');
    assert.equal(rowOf(result, 'vless').comparison.length, 3);
    assert.equal(rowOf(result, 'tuic').candidate.outcome, 'impossible here');
    assert.deepEqual(rowOf(result, 'tuic').comparison, []);
  } finally {
    bench.remove();
  }
});

for (const [variables, line] of /** @type {[Record<string, string>, RegExp][]} */ ([
  [{ PROTOCOL: 'socks6' }, /PROTOCOL=socks6: no such row; there are socks, http/],
  [{ CANDIDATE: 'sing-box-rust' }, /CANDIDATE=sing-box-rust: give the absolute path/],
  [{ CANDIDATE, CANDIDATE_ENGINE: 'v2ray' }, /CANDIDATE_ENGINE=v2ray: choose from/],
  [{ PROFILE: 'soak' }, /choose smoke, quick or full/],
  [{ TURNS: '51' }, /TURNS=51: at most 50/],
  [{ TUNNELS: '0' }, /TUNNELS=0/],
])) {
  test(`${JSON.stringify(variables)} is refused in one line`, async () => {
    const bench = startBench({ ONLY, ...variables });
    try {
      assert.equal(await bench.ended, 4, bench.output.stdout);
      const lines = errorLines({ stdout: bench.output.stdout, stderr: '' });
      assert.equal(lines.length, 1, bench.output.stdout);
      assert.match(lines[0], line);
    } finally {
      bench.remove();
    }
  });
}
