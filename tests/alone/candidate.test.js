/** Candidates whose fault is one of time: beside others it would be theirs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANDIDATE, matrix } from '../support/candidate.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow } from '../support/sections.js';

test('a candidate that burns a core at rest is told so', () =>
  matrix({ CANDIDATE, CANDIDATE_ENV: 'CANDIDATE_FAULT=burns', PROTOCOL: 'vless' }, ({ result }) => {
    const { baseline, candidate } = protocolRow(result, 'vless');
    assert.ok(
      candidate.figures.rest_cpu_percent.median > 20,
      JSON.stringify(candidate.figures.rest_cpu_percent),
    );
    assert.ok(
      baseline.figures.rest_cpu_percent.median < 20,
      JSON.stringify(baseline.figures.rest_cpu_percent),
    );
    assert.match(candidate.detail, /at rest, while nothing was sent, its processes took \d+ % of a CPU/);
  }));

test('work that a candidate puts off until nothing is sent counts in its turn', () =>
  matrix(
    { CANDIDATE, CANDIDATE_ENV: 'CANDIDATE_FAULT=defers', PROTOCOL: 'vless', TURNS: '1' },
    ({ result }) => {
      const { baseline, candidate } = protocolRow(result, 'vless');
      const later = (/** @type {typeof baseline} */ side) => side.figures.quiet_cpu_s.median;
      // It is 0.3 s, all of it after the last probe.
      assert.ok(later(candidate) > 0.25 && later(candidate) < 0.45, JSON.stringify(candidate.figures));
      assert.ok(later(baseline) < 0.1, JSON.stringify(baseline.figures));
      assert.ok(candidate.figures.turn_cpu_s.median > later(candidate));
    },
  ));

test('a candidate with Nagle on each hop is told so', () =>
  matrix(
    { CANDIDATE, CANDIDATE_ENV: 'CANDIDATE_FAULT=nagle', PROTOCOL: 'vless' },
    ({ code, result, bench }) => {
      assert.equal(code, 99);
      const { candidate } = protocolRow(result, 'vless');
      assert.equal(candidate.outcome, 'too slow', candidate.detail);
      const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
      assert.match(
        report,
        /vless, candidate: RTT \d+\.\d ms \(\w+ waits?\).*Is TCP_NODELAY set on each connection/,
      );
    },
  ));

test('a candidate that is slower misses its targets', () =>
  // With four targets it takes 8 turns to miss one; a busy machine may spoil a third of them.
  matrix({ CANDIDATE, TURNS: '14', PROTOCOL: 'trojan' }, ({ code, result }) => {
    assert.equal(code, 99);
    const { judged } = protocolRow(result, 'trojan');
    assert.equal(judged.throughput, 'missed', 'its server takes six times as long');
    assert.equal(judged.latency, 'missed', 'each answer is held for 1 ms and more');
    assert.equal(result.verdict, 'fail');
    assert.ok(
      reasonsOf(result).some((line) => /trojan: throughput is \d+ % of the baseline/.test(line)),
      reasonsOf(result).join('\n'),
    );
  }));
