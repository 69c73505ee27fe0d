/** The wire of the turns that are judged: a candidate that leaves out TLS later on is found out, and all real rows are what they say. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { CANDIDATE, matrix } from '../support/candidate.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
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

const ROWS = {
  'sing-box':
    'vless,vless-tls,vless-grpc,vless-mux,trojan-quic,tuic,hysteria2-obfs,shadowsocks-2022,shadowtls,vmess,wireguard,ssh',
  xray: 'vless-ws,vless-reality-vision,shadowsocks-aes-128-gcm,vmess-mux,hysteria2,http-tls',
};

for (const [engine, rows] of Object.entries(ROWS)) {
  test(`rows of ${engine} show the wire that they say, and each turn is checked`, async () => {
    await matrix(
      { BASELINE_ENGINE: engine, CANDIDATE: join(ROOT, 'bin', engine), PROTOCOL: rows },
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
