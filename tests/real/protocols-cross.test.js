/** Candidates that break their own claims: each run finds and names the fault, and never says that the candidate meets its targets. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT } from '../support/k6.js';
import { CANDIDATE, faulty, matrix, sideFile } from '../support/candidate.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow, sectionOf } from '../support/sections.js';
import { assertVerdict } from '../support/verdict.js';

describe('a candidate', { concurrency: 3 }, () => {
  for (const [fault, protocol, outcome, detail] of /** @type {[string, string, string, RegExp][]} */ ([
    [
      'plain',
      'vless-tls',
      'not encrypted',
      /^the payload and the address that is asked for can be read in the hop$/,
    ],
    [
      'own',
      'vless',
      'does not interoperate',
      /^its server with the baseline's client: TCP: 0 of .*server says \d+ × ".*\(logs\/vless\/baseline-to-candidate\); its client with the baseline's server: TCP: 0 of/,
    ],
    ['fields', 'vless', 'refused configuration', /FATAL decode config: json: unknown field 'tcp_fast_open'/],
    ['exits', 'vless', 'ended at start', /exit status 1/],
    [
      'crawls',
      'vless',
      'too slow',
      /(a round trip takes [\d.]+ ms, the baseline's 0\.\d+|a download reaches [\d.]+ Mbit\/s, the baseline's [\d.e+]+): \d+ times slower.*; cut short$/,
    ],
    ['renamed', 'vless', 'refused configuration', /missing field `listenPort`/],
  ])) {
    test(`a candidate with the fault ${fault} is ${outcome} in ${protocol}`, () =>
      matrix({ CANDIDATE: faulty(fault), PROTOCOL: protocol, TURNS: '1' }, ({ code, result, bench }) => {
        const { baseline, candidate } = protocolRow(result, protocol);
        assertVerdict(result, 'fail', Number(code));
        assert.equal(baseline.outcome, 'measured', baseline.detail);
        assert.equal(candidate.outcome, outcome, candidate.detail);
        assert.match(candidate.detail, detail);
        assert.ok(
          reasonsOf(result).some((line) => line.startsWith(`${protocol}: candidate: ${outcome}`)),
          reasonsOf(result).join('\n'),
        );
        const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
        assert.doesNotMatch(report, new RegExp(`\\| ✓ \\| ${protocol} `), 'it is never met');
        // eslint-disable-next-line no-control-regex
        assert.doesNotMatch(report, /\x1b/);
      }));
  }

  test('a filter makes a candidate run that reads another configuration', () =>
    matrix(
      {
        CANDIDATE: faulty('renamed', { filter: join(ROOT, 'tests/fixtures/rename') }),
        PROTOCOL: 'vless-tls,shadowsocks-aes-128-gcm',
        TURNS: '1',
      },
      ({ result }) => {
        for (const name of ['vless-tls', 'shadowsocks-aes-128-gcm']) {
          const { candidate, compared } = protocolRow(result, name);
          assert.equal(candidate.outcome, 'measured', candidate.detail);
          assert.match(compared.round_trips, /^[1-9]\d* of \d+$/);
          assert.doesNotMatch(compared.targets, /round trips/);
        }
      },
    ));
});

describe('a program', { concurrency: 3 }, () => {
  test('a filter makes a baseline run that reads another configuration', () =>
    matrix(
      {
        BASELINE: faulty('renamed', { filter: join(ROOT, 'tests/fixtures/rename') }),
        PROTOCOL: 'vless-tls',
        TURNS: '1',
      },
      ({ result }) => {
        const { baseline } = protocolRow(result, 'vless-tls');
        assert.equal(baseline.outcome, 'measured', baseline.detail);
        const { baseline_env: env, baseline_filter: filter } = result.run.parameters;
        assert.deepEqual([env, filter], ['CANDIDATE_FAULT=renamed', join(ROOT, 'tests/fixtures/rename')]);
      },
    ));

  test('each end can be a candidate by itself', () =>
    matrix(
      {
        CANDIDATE: sideFile({ server: CANDIDATE, env: { CANDIDATE_FAULT: 'own' } }),
        PROTOCOL: 'vless',
        TURNS: '1',
      },
      ({ code, result }) => {
        assert.equal(code, 99);
        const { title } = sectionOf(result, 'candidate');
        assert.match(title, /^Candidate: sing-box .*\(client sing-box, server candidate\)$/);
        assert.equal(protocolRow(result, 'vless').candidate.outcome, 'errors');
      },
    ));

  test('who understands whom is a table of each client with each server', async () => {
    const bench = startBench({
      ONLY: 'protocols/interop',
      PROGRAMS: 'sing-box,xray',
      CANDIDATE: faulty('own'),
      PROTOCOL: 'vless,trojan,tuic,vless-mux',
    });
    try {
      assert.equal(await bench.ended, 99, bench.output.stdout);
      const section = sectionOf(bench.result('protocols-interop'), 'interop');
      const cells = (/** @type {string} */ name) =>
        section.rows.find((/** @type {any[]} */ [row]) => row === name).slice(1);
      const [ok, no, not] = [true, false, null];
      assert.deepEqual(cells('vless'), [ok, ok, no, ok, ok, no, no, no, ok]);
      assert.deepEqual(cells('trojan'), Array(9).fill(ok));
      assert.deepEqual(
        cells('tuic').map((/** @type {unknown} */ one) => one === not),
        [false, true, false, true, true, true, false, true, false],
      );
      assert.deepEqual(cells('vless-mux')[1], not);
      assert.match(section.notes[0], /^A: sing-box 1\.12\.12, SHA-256 /);
      const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
      assert.match(report, /\| vless \| ✓ \| ✓ \| ✗ \| ✓ \| ✓ \| ✗ \| ✗ \| ✗ \| ✓ \|/);
      assert.ok(bench.files().some(({ path }) => path === 'logs/vless/sing-box-to-candidate/server.log'));
    } finally {
      bench.remove();
    }
  });
});
