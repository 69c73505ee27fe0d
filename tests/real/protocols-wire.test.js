/** The wire of judged turns: a candidate that later leaves out TLS is found, and all real rows match their names. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CANDIDATE, matrix, sideFile } from '../support/candidate.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow, protocolRows } from '../support/sections.js';

/** Each end starts twice with the baseline's other end, and twice in each of the first turns: alone, and for many tunnels. */
const FIRST_FOR_TUNNELS = 4;

// tests/real/evidence.test.js has a candidate without TLS from turn 2 on.
test('a candidate that leaves out TLS for many tunnels alone fails, and the turn is named', async () => {
  const starts = temporaryFolder('protocols-wire');
  try {
    await matrix(
      {
        CANDIDATE: sideFile({
          program: CANDIDATE,
          env: {
            CANDIDATE_FAULT: 'strips',
            CANDIDATE_FROM: String(FIRST_FOR_TUNNELS),
            CANDIDATE_STARTS: join(starts.path, 'of-'),
          },
        }),
        PROTOCOL: 'http-tls',
        TURNS: '1',
      },
      ({ code, result, bench }) => {
        assert.equal(code, 99, bench.output.stdout);
        assert.equal(result.verdict, 'fail');
        const { baseline, candidate, compared } = protocolRow(result, 'http-tls');
        assert.equal(baseline.outcome, 'measured', baseline.detail);
        assert.equal(candidate.outcome, 'wrong wire', candidate.detail);
        const turn = 'turn 1, many tunnels';
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

/** One of each kind of hop: tests/real/protocols-hop.test.js has each row, by the sidecar alone. */
const ROWS = {
  'sing-box': 'vless-tls,vless-mux,tuic,shadowsocks-2022,wireguard',
  xray: 'vless-reality-vision,hysteria2',
};

describe('a wire', { concurrency: 2 }, () => {
  for (const [engine, rows] of Object.entries(ROWS)) {
    test(`rows of ${engine} show the wire that they say`, async () => {
      await matrix(
        { BASELINE: engine, CANDIDATE: join(ROOT, 'bin', engine), PROTOCOL: rows, TURNS: '1' },
        ({ result }) => {
          assert.equal(protocolRows(result).length, rows.split(',').length);
          for (const { row, baseline, candidate } of protocolRows(result))
            for (const { outcome, detail } of [baseline, candidate])
              assert.notEqual(outcome, 'wrong wire', `${row}: ${detail}`);
          const unchecked = reasonsOf(result).filter((line) => line.includes('the hop was not checked'));
          assert.deepEqual(unchecked, []);
        },
      );
    });
  }
});
