/** The matrix as a list: rows differ, and every type without a row has a reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MATRIX, coverage } from '../../lib/protocols/matrix.js';

/** Each row costs time in every profile. */
const ROWS_MOST = 75;

test('rows differ, and what an engine lacks has a reason', () => {
  assert.ok(MATRIX.length <= ROWS_MOST, `${MATRIX.length} rows`);
  assert.equal(new Set(MATRIX.map(({ row }) => row)).size, MATRIX.length);
  assert.equal(new Set(MATRIX.map(({ variables }) => JSON.stringify(variables))).size, MATRIX.length);
  for (const { row, engines } of MATRIX) {
    assert.ok(Object.values(engines).includes(true), row);
    for (const runs of Object.values(engines)) assert.ok(runs === true || runs.length > 10, row);
  }
});

test('the coverage has every inbound and outbound of sing-box 1.12 to 1.14, each with rows or a reason', () => {
  assert.deepEqual([coverage.inbound.length, coverage.outbound.length], [19, 22]);
  for (const { type, rows, reason } of [...coverage.inbound, ...coverage.outbound])
    assert.ok(rows.length > 0 ? reason === null : Boolean(reason), type);
});

test('every row is of one protocol', () => {
  const rows = coverage.protocols.flatMap((protocol) => protocol.rows);
  assert.deepEqual(rows.sort(), MATRIX.map(({ row }) => row).sort());
});

test('what carries a protocol adds what it needs, and what it leaves out', () => {
  const found = coverage.protocols.find(({ protocol }) => protocol === 'vless');
  assert.match(found?.needs ?? '', /with_quic.*; build tag with_utls/);
  assert.ok(found?.left_out.some((line) => line.startsWith('smux and yamux: ')));
});

/** Every transport of sing-box's trojan, vmess and vless has a row, or a reason. */
for (const protocol of ['trojan', 'vmess', 'vless'])
  test(`${protocol}: no transport of sing-box is passed over in silence`, () => {
    const measured = MATRIX.filter(({ inbound }) => inbound === protocol).map(({ transport }) => transport);
    const found = coverage.protocols.find((one) => one.protocol === protocol);
    const leftOut = (found?.left_out ?? []).map((line) => line.split(':')[0]);
    for (const transport of ['tcp', 'http', 'ws', 'quic', 'grpc', 'httpupgrade'])
      assert.ok(measured.includes(transport) || leftOut.includes(transport), transport);
  });

test('each mode of XHTTP has a row over TLS, over REALITY and over HTTP/3', () => {
  const rows = MATRIX.filter(({ transport }) => transport === 'xhttp');
  const ways = rows.map(({ security, variables: { http3 = false, xhttp_mode: mode } }) =>
    [security, http3, mode].join(),
  );
  assert.equal(new Set(ways).size, 9);
  for (const { row, wire, variables } of rows) assert.equal(wire, variables.http3 ? 'quic' : 'tls', row);
});
