/** The matrix scenario: rows in named outcomes, bad input in one line; tests/real/smoke has the figures of a row. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { assertRefused, startBench } from '../support/bench.js';
import { CANDIDATE } from '../support/candidate.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { descendants, until } from '../support/processes.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow, protocolRows, sectionOf } from '../support/sections.js';

const ONLY = 'protocols/matrix';

/** The lines on what rows left open: whether it is right, and the detail. @param {any} result @returns {[boolean | null, string][]} */
const leftOf = ({ integrity }) =>
  integrity
    .filter((/** @type {any} */ { check }) => check === 'left open')
    .map((/** @type {any} */ { ok, detail }) => [ok, detail]);
const folder = temporaryFolder('protocols-matrix');
after(folder.remove);

test('rows of every way in are measured, or say what this machine lacks, and the coverage says what was', async () => {
  const rows = ['direct', 'ssh', 'naive', 'wireguard', 'redirect', 'tproxy', 'tun'];
  const bench = startBench({ ONLY, PROFILE: 'smoke', TUNNELS: '10', PROTOCOL: rows.join(',') });
  try {
    await bench.ended;
    const result = bench.result('protocols-matrix');
    for (const name of rows) {
      const { outcome, detail, figures } = protocolRow(result, name).baseline;
      if (outcome === 'impossible here' && !['direct', 'naive', 'wireguard'].includes(name)) continue;
      assert.equal(outcome, 'measured', `${name}: ${detail}`);
      for (const figure of ['handshake_ms', 'rtt_ms', 'mbit_64k', 'peak_anon_mib', 'tunnels_10_p95_ms'])
        assert.ok(figures[figure]?.median > 0, `${name}: ${figure}`);
    }
    const [[closed, about], ...left] = leftOf(result);
    assert.deepEqual([closed, left], [true, []], about);
    assert.match(about, /^\d rows: at most \d+ more than before, at most [\d.]+ s after a turn/);
    const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
    const program = createHash('sha256')
      .update(readFileSync(join(ROOT, 'bin/sing-box')))
      .digest('hex');
    assert.ok(report.includes(`SHA-256 of the program: ${program}.`));
    assert.match(report, /### Baseline: sing-box 1\.12\.12/);
    assert.match(report, /\| ✓ \| inbound \| direct \| direct: measured/);
    assert.match(report, /\| \? \| outbound \| tor \| no row: needs the Tor network/);
  } finally {
    bench.remove();
  }
});

describe('a candidate of the matrix', { concurrency: 2 }, () => {
  test('a candidate with faults has a named outcome in each row, and the other rows go on', async () => {
    const bench = startBench({
      ONLY,
      CANDIDATE,
      PROFILE: 'smoke',
      TURNS: '1',
      TUNNELS: '10,100',
      PROTOCOL: 'socks,http,http-tls,mixed,vmess,vless,tuic,anytls',
    });
    try {
      assert.equal(await bench.ended, 99);
      const result = bench.result('protocols-matrix');
      const outcome = (/** @type {string} */ row) => protocolRow(result, row).candidate.outcome;
      assert.deepEqual(['socks', 'http', 'mixed', 'vmess', 'vless', 'tuic', 'anytls'].map(outcome), [
        'corrupted payload',
        'measured',
        'errors',
        'died in mid-run',
        'crashed at start',
        'not ready',
        'refused configuration',
      ]);
      const left = leftOf(result);
      assert.ok(
        left.some(([ok, text]) => ok === false && /^socks, candidate: 4[0-4] other descriptors/.test(text)),
        JSON.stringify(left),
      );
      assert.ok(
        left.every(([ok, text]) => ok !== false || /candidate: /.test(text)),
        JSON.stringify(left),
      );
      const few = protocolRow(result, 'http-tls').candidate;
      assert.deepEqual(
        [few.outcome, few.detail.split(':')[0]],
        ['errors', 'the candidate carried fewer simultaneous tunnels than the baseline'],
      );
      assert.match(protocolRow(result, 'anytls').candidate.detail, /unknown inbound type: anytls/);
      assert.match(protocolRow(result, 'vmess').candidate.detail, /^server ended: exit status 3/);
      assert.ok(
        protocolRow(result, 'vmess').candidate.figures.rtt_ms.median > 0,
        'it died after it had worked',
      );
      const mute = protocolRow(result, 'mixed').candidate.figures;
      assert.deepEqual([mute.rtt_ms, mute.mbit_64k], [null, null], 'what never answers is not asked on');
      for (const { row, baseline } of protocolRows(result))
        assert.equal(baseline.outcome, 'measured', `${row}: ${baseline.detail}`);
      assert.equal(result.verdict, 'fail');
      assert.ok(
        reasonsOf(result).some((line) => /anytls: candidate: refused configuration/.test(line)),
        reasonsOf(result).join('\n'),
      );
    } finally {
      bench.remove();
    }
  });

  test('a candidate that cannot be executed is told, and the baseline is measured all the same', async () => {
    const file = join(folder.path, 'no-interpreter');
    writeFileSync(file, '#!/nowhere/interpreter\n', { mode: 0o755 });
    const bench = startBench({
      ONLY,
      CANDIDATE: file,
      PROFILE: 'smoke',
      TURNS: '1',
      TUNNELS: '10',
      PROTOCOL: 'socks,http',
    });
    try {
      assert.equal(await bench.ended, 99);
      for (const { baseline, candidate } of protocolRows(bench.result('protocols-matrix'))) {
        assert.deepEqual(
          [baseline.outcome, candidate.outcome],
          ['measured', 'missing binary'],
          candidate.detail,
        );
      }
    } finally {
      bench.remove();
    }
  });
});

describe('a run of the matrix', { concurrency: 3 }, () => {
  test('a candidate that is no engine is refused before anything starts', async () => {
    const bench = startBench({ ONLY, CANDIDATE: 'sing-box-rust' });
    try {
      assert.equal(await bench.ended, 2);
      assert.match(bench.output.stderr, /^CANDIDATE=sing-box-rust: no such engine; .*\n$/);
    } finally {
      bench.remove();
    }
  });

  test('a run that can compare nothing is not passed', async () => {
    const bench = startBench({ ONLY, CANDIDATE: 'xray', PROFILE: 'smoke', TUNNELS: '10', PROTOCOL: 'tuic' });
    try {
      assert.equal(await bench.ended, 3);
      const result = bench.result('protocols-matrix');
      const { verdict } = result;
      const reasons = reasonsOf(result);
      assert.equal(verdict, 'inconclusive');
      assert.ok(reasons.includes('no row was compared'), reasons.join('\n'));
    } finally {
      bench.remove();
    }
  });

  test('a crossed threshold of the environment fails the run', async () => {
    const environment = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
    environment.systems.protocols.thresholds = { matrix: { socks: { 'p(95)': 1e-6 } } };
    delete environment.$schema;
    const file = join(folder.path, 'local.json');
    writeFileSync(file, JSON.stringify(environment));
    const bench = startBench({ ONLY, ENV: file, PROFILE: 'smoke', PROTOCOL: 'socks' });
    try {
      await bench.ended;
      const result = bench.result('protocols-matrix');
      const { verdict, validity } = result;
      const reasons = reasonsOf(result);
      const valid = validity.every((/** @type {any} */ { ok }) => ok !== false);
      // On a busy machine a threshold has no verdict.
      assert.equal(verdict, valid ? 'fail' : 'inconclusive', reasons.join('\n'));
      assert.ok(
        reasons.some((line) => /^socks: P95 .* ms, at most .* ms$/.test(line)),
        reasons.join('\n'),
      );
    } finally {
      bench.remove();
    }
  });

  test('a result is written though the sidecar ends in mid-run', async () => {
    const bench = startBench({ ONLY, PROFILE: 'smoke', TURNS: '50', TUNNELS: '10', PROTOCOL: 'socks' });
    try {
      const all = () => descendants(Number(bench.child.pid));
      // The run also has the environment's own testbed.
      const clients = () => all().filter(({ command }) => /run -c client\.json/.test(command)).length;
      await until(() => clients() > 1, 'the first turn');
      const children = all();
      const sidecar = children.filter(({ command }) => /sidecar serve/.test(command));
      assert.equal(sidecar.length, 1, JSON.stringify(children));
      process.kill(sidecar[0].pid, 'SIGKILL');
      assert.notEqual(await bench.ended, 0);
      const result = bench.result('protocols-matrix');
      assert.notEqual(result.verdict, 'pass');
      assert.equal(protocolRow(result, 'socks').baseline.outcome, 'not reached');
    } finally {
      bench.remove();
    }
  });

  test('xray is compared in the rows that it has, and says why not in the others', async () => {
    const bench = startBench({
      ONLY,
      CANDIDATE: 'xray',
      PROFILE: 'smoke',
      TURNS: '2',
      TUNNELS: '10',
      PROTOCOL: 'vless,tuic',
    });
    try {
      await bench.ended;
      const result = bench.result('protocols-matrix');
      assert.match(sectionOf(result, 'candidate').title, /^Candidate: xray /);
      assert.equal(protocolRow(result, 'vless').candidate.outcome, 'measured');
      const { compared } = protocolRow(result, 'vless');
      assert.equal(compared.turns, 2, 'a fixed number of turns does not go on');
      for (const target of ['throughput', 'latency', 'memory', 'first_reply', 'cpu'])
        assert.ok(compared[target], target);
      assert.equal(protocolRow(result, 'tuic').candidate.outcome, 'impossible here');
      assert.equal(protocolRow(result, 'tuic').compared, null);
    } finally {
      bench.remove();
    }
  });
});

for (const [variables, line] of /** @type {[Record<string, string>, RegExp][]} */ ([
  [{ PROTOCOL: 'socks6' }, /PROTOCOL=socks6: no such row; there are socks, http/],
  [{ CANDIDATE: 'v2ray:/bin/sh' }, /CANDIDATE=v2ray:\/bin\/sh: no such engine; .*sing-box, xray/],
  [{ CANDIDATE, BASELINE_ENGINE: 'xray' }, /BASELINE_ENGINE is gone: give BASELINE=FILE\.toml/],
  [{ PROFILE: 'soak' }, /choose smoke, quick or full/],
  [{ TURNS: '51' }, /TURNS=51: at most 50/],
  [{ CANDIDATE, MINUTES: '0.5' }, /MINUTES=0\.5: a whole number/],
  [{ TUNNELS: '0' }, /TUNNELS=0/],
])) {
  test(`${JSON.stringify(variables)} is refused in one line`, () =>
    assertRefused({ ONLY, ...variables }, line));
}
