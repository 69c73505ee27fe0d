/** The wire of the turns that are judged: a candidate that leaves out TLS later on is found out, and all real rows are what they say. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { CANDIDATE, matrix } from '../support/candidate.js';
import { temporaryFolder } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow, protocolRows } from '../support/sections.js';

/** Each end starts twice to meet the baseline's, and twice in each of the first turns: by itself, and for many tunnels. */
for (const [from, turn] of [
  ['5', 'turn 2'],
  ['4', 'turn 1, many tunnels'],
]) {
  test(`a candidate that leaves out TLS from its start ${from} on fails, and the turn is named`, async () => {
    const starts = temporaryFolder('protocols-wire');
    try {
      await matrix(
        {
          CANDIDATE,
          CANDIDATE_ENV: `CANDIDATE_FAULT=strips CANDIDATE_FROM=${from} CANDIDATE_STARTS=${join(starts.path, 'of-')}`,
          PROTOCOL: 'http-tls',
        },
        ({ code, result, bench }) => {
          assert.equal(code, 99, bench.output.stdout);
          assert.equal(result.verdict, 'fail');
          const { baseline, candidate, compared } = protocolRow(result, 'http-tls');
          assert.equal(baseline.outcome, 'measured', baseline.detail);
          assert.equal(candidate.outcome, 'wrong wire', candidate.detail);
          assert.equal(
            candidate.detail,
            `${turn}: the hop shows no TLS: HTTP plaintext; the payload and the address that is asked for can be read in the hop`,
          );
          assert.equal(compared?.ok ?? false, false);
          assert.ok(
            reasonsOf(result).some((line) => line.startsWith(`http-tls: candidate: wrong wire: ${turn}: `)),
            reasonsOf(result).join('\n'),
          );
        },
      );
    } finally {
      starts.remove();
    }
  });
}

test('each row of sing-box and xray shows the wire that it says, in each turn', async () => {
  for (const engine of ['sing-box', 'xray']) {
    const bench = startBench({
      ONLY: 'protocols/matrix',
      PROFILE: 'smoke',
      TURNS: '1',
      TUNNELS: '10',
      BASELINE_ENGINE: engine,
    });
    try {
      await bench.ended;
      for (const { row, baseline } of protocolRows(bench.result('protocols-matrix')))
        assert.notEqual(baseline.outcome, 'wrong wire', `${row} on ${engine}: ${baseline.detail}`);
    } finally {
      bench.remove();
    }
  }
});
