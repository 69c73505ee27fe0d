/** Candidates with a fault of time: other tests beside them would cause the same fault. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANDIDATE, faulty, matrix } from '../support/candidate.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';
import { assertVerdict } from '../support/verdict.js';

test(
  'a candidate that burns a core at rest is told so',
  undisturbed(() =>
    matrix({ CANDIDATE: faulty('burns'), PROTOCOL: 'vless', TURNS: '1' }, ({ result }) => {
      const { baseline, candidate } = protocolRow(result, 'vless');
      const [burnt, rested] = [candidate, baseline].map(({ figures }) => figures.rest_cpu_percent.median);
      timely(burnt > 20, `${burnt} % of a CPU at rest`);
      timely(rested < 20, `${rested} % of a CPU at rest, of the baseline`);
      assert.match(candidate.detail, /while idle, this row's processes used \d+ % of a CPU/);
    }),
  ),
);

test(
  'work that a candidate puts off until nothing is sent counts in its turn',
  undisturbed(() =>
    matrix({ CANDIDATE: faulty('defers'), PROTOCOL: 'vless', TURNS: '1' }, ({ result }) => {
      const { baseline, candidate } = protocolRow(result, 'vless');
      const [later, own] = [candidate, baseline].map(({ figures }) => figures.quiet_cpu_s.median);
      // The fault takes 0.3 s of CPU time, all after the last probe. A process that waits for a CPU uses less.
      timely(later > 0.25 && later < 0.45, `${later} s of CPU in the quiet period`);
      timely(own < 0.1, `${own} s of CPU in the quiet period, of the baseline`);
      assert.ok(candidate.figures.turn_cpu_s.median > later);
    }),
  ),
);

test(
  'a candidate with Nagle on each hop is told so',
  undisturbed(() =>
    matrix({ CANDIDATE: faulty('nagle'), PROTOCOL: 'vless' }, ({ code, result, bench }) => {
      const { candidate } = protocolRow(result, 'vless');
      timely(candidate.outcome !== 'measured', candidate.detail);
      assert.equal(candidate.outcome, 'too slow', candidate.detail);
      assertVerdict(result, 'fail', Number(code));
      const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
      // A round trip shows its waits by its time, to which others add.
      const told = /vless, candidate: RTT \d+\.\d ms \(\w+ waits?\).*Is TCP_NODELAY set on each connection/;
      timely(told.test(report), candidate.detail);
    }),
  ),
);

test(
  'a candidate that is slower and holds more files misses its targets',
  undisturbed(() =>
    // With four targets the candidate needs 10 turns to miss one.
    matrix({ CANDIDATE, TURNS: '11', PROTOCOL: 'trojan' }, ({ code, result }) => {
      const reasons = reasonsOf(result).join('\n');
      const { judged } = protocolRow(result, 'trojan');
      timely(judged.throughput !== 'uncertain' && judged.latency !== 'uncertain', JSON.stringify(judged));
      assert.equal(judged.throughput, 'missed', 'its server takes six times as long');
      assert.equal(judged.latency, 'missed', 'each answer is held for 1 ms and more');
      assertVerdict(result, 'fail', Number(code));
      assert.match(reasons, /trojan: number of descriptors is \d+ (%|times) of the baseline/);
      // A transfer that others delay too long has no figure.
      timely(/trojan: throughput is \d+ % of the baseline/.test(reasons), reasons);
    }),
  ),
);
