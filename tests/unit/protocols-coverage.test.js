/** The matrix as a list: rows differ, and every type without a row has a reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MATRIX, coverage } from '../../lib/protocols/matrix.js';

/** Each row costs time in every profile. */
const ROWS_MOST = 60;

test('rows differ, and what an engine lacks has a reason', () => {
  assert.ok(MATRIX.length <= ROWS_MOST, `${MATRIX.length} rows`);
  assert.equal(new Set(MATRIX.map(({ row }) => row)).size, MATRIX.length);
  assert.equal(new Set(MATRIX.map(({ variables }) => JSON.stringify(variables))).size, MATRIX.length);
  for (const { row, engines } of MATRIX) {
    assert.equal(engines['sing-box'], true, row);
    assert.ok(engines.xray === true || engines.xray.length > 10, row);
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
