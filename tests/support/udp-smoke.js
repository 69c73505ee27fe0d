/** Checks of a smoke run's scenarios of UDP, through a pair of sing-box, and of TLS inside a tunnel. */
import assert from 'node:assert/strict';
import { operation } from './k6.js';
import { rowsOf, sectionOf } from './sections.js';
import { timely } from './timely.js';

/** @typedef {Pick<ReturnType<typeof import('./bench.js').startBench>, 'result'>} Bench */

/** The NAT of the real sing-box. @param {Bench} bench */
export function assertNat(bench) {
  const result = bench.result('udp-nat');
  const { requests, success } = operation(result, 'datagram');
  assert.deepEqual([requests, success], [40, 40]);
  const section = sectionOf(result, 'nat');
  assert.equal(section.answer, 'open');
  const found = Object.fromEntries(rowsOf(section).map((row) => [row.what, row.found]));
  assert.deepEqual(
    ['NAT type', 'Hairpinning', 'Sender in the header', 'Answers come from', 'Fragments', 'IPv6 target'].map(
      (what) => found[what],
    ),
    ['full cone', 'yes', 'the true one', 'the relay', 'passed on as whole datagrams', 'yes'],
  );
}

/** Each association carried, and each datagram is accounted for. @param {Bench} bench */
export function assertFlows(bench) {
  const result = bench.result('udp-flows');
  const rows = rowsOf(sectionOf(result, 'associations'));
  assert.deepEqual(
    rows.map(({ asked, opened, carried, sent }) => [asked, opened, carried, sent]),
    [1, 1, 50, 50, 200, 200].map((level) => [level, level, level, 2 * level]),
  );
  for (const row of [...rows, ...rowsOf(sectionOf(result, 'call'))]) {
    assert.deepEqual([row.misdelivered ?? 0, row.duplicated], [0, 0]);
    timely(row.lost === 0 && row.lost_up === 0 && row.lost_down === 0, JSON.stringify(row));
  }
  for (const { name, success, errors, transfer } of result.operations) {
    assert.deepEqual(
      Object.keys(errors).filter((kind) => !['lost', 'late', 'out_of_order'].includes(kind)),
      [],
    );
    if (transfer) assert.equal(transfer.bytes, success * result.run.parameters.payload_bytes, name);
  }
  const { files_each: files, kib_each: kib } = rows[4];
  // The control connection and its own socket at the client, and a socket to the far end at the server.
  assert.ok(files === null || (files >= 3 && files < 10), `${files} descriptors of an association`);
  assert.ok(kib > 0, 'memory of an association');
}

/** HTTP/3 and HTTP/2 carry each page and download whole. @param {Bench} bench */
export function assertQuic(bench) {
  const result = bench.result('udp-quic');
  const [proxied, direct] = rowsOf(sectionOf(result, 'quic'));
  for (const { attempted, whole, down, received } of [proxied, direct]) {
    assert.deepEqual([attempted, whole], [8, 8]);
    assert.ok(Number(down) >= 1200, `datagrams of ${down} bytes`);
    // All bytes of five pages and three downloads, in datagrams of at most 1,452 bytes.
    assert.ok(received > (5 * 512 * 1024 + 3 * 1024 * 1024) / 1452, `${received} datagrams`);
  }
  for (const [name, least, bytes] of /** @type {const} */ ([
    ['page', 5, 512 * 1024],
    ['download', 3, 1024 * 1024],
  ]))
    for (const http of ['h3', 'h2'])
      for (const path of ['', '_direct']) {
        const { requests, success, transfer } = operation(result, `${name}_${http}${path}`);
        assert.deepEqual([requests, success], [least, least]);
        assert.equal(transfer.bytes, least * bytes, `${name}_${http}${path}`);
      }
}

/** Sessions inside are TLS 1.3, and all ways carry all tunnels. @param {Bench} bench */
export function assertInnerTls(bench) {
  const result = bench.result('protocols-inner-tls');
  const rows = rowsOf(sectionOf(result, 'inner_tls'));
  assert.deepEqual(
    rows.map(({ program, row, inside, direction }) => [program, row, inside, direction]),
    ['plain', 'TLS 1.3'].flatMap((inside) =>
      ['download', 'upload'].map((direction) => ['candidate', 'trojan', inside, direction]),
    ),
  );
  for (const { inside, session, mib_per_s: speed, client_s: client, server_s: server } of rows) {
    assert.match(session ?? 'none', inside === 'plain' ? /^none$/ : /^TLS 1\.3, TLS13_[A-Z0-9_]+$/);
    assert.ok(speed.value > 0 && client.value > 0 && server.value > 0);
  }
  for (const { requests, success } of result.operations) assert.ok(requests >= 5 && requests === success);
}

/** Two turns of one row. @param {Bench} bench */
export function assertQuicRows(bench) {
  const result = bench.result('protocols-http3');
  assert.deepEqual(
    rowsOf(sectionOf(result, 'quic_rows')).map(({ row, works, attempted, whole }) => [
      row,
      works,
      attempted,
      whole,
    ]),
    [
      ['trojan', 'yes', 8, 8],
      ['direct', 'yes', 8, 8],
    ],
  );
  for (const { name, requests, success } of result.operations) assert.equal(requests, success, name);
}
