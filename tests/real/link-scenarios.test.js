/** The scenarios of a link with real rows: what they show, and what fails them. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const LINK = 'rtt:60ms,rate:20mbit,loss:0.2%';
const ROWS = ['trojan', 'hysteria2'];

/** The value of a cell, whether it has a range or not. @param {any} cell */
const valueOf = (cell) => (typeof cell === 'object' && cell !== null ? cell.value : cell);

test('rows over a link: round trips, what users get, and the link alone beside it', async () => {
  const bench = startBench({ ONLY: 'link/protocols', PROFILE: 'smoke', PROTOCOL: ROWS.join(','), LINK });
  try {
    await bench.ended;
    const result = bench.result('link-protocols');
    const rows = rowsOf(sectionOf(result, 'over_link'));
    assert.deepEqual(
      rows.map(({ row, outcome }) => [row, outcome]),
      ROWS.map((row) => [row, 'measured']),
    );
    // TCP's handshake, TLS 1.3's, the payload's; a connection of QUIC that is there already.
    assert.deepEqual(
      rows.map(({ round_trips: trips }) => trips),
      [3, 1],
    );
    for (const { row, rtt_ms: rtt, page_ms: page, share_down: share, wire_per_byte: wire } of rows) {
      assert.ok(rtt >= 60 && page > 60 * 3, `${row}: ${rtt}, ${page} ms`);
      // What waited behind a lost packet comes at once: in a window of one second that may be more than the line carries in it.
      assert.ok(share > 0 && share < 1.5, `${row}: ${share}`);
      assert.ok(wire === null || (wire > 1 && wire < 2), `${row}: ${wire}`);
    }
    assert.equal(rowsOf(sectionOf(result, 'over_link_controls')).length, 4);
    assert.equal(result.run.link.text, LINK);
  } finally {
    bench.remove();
  }
});

test('a row that takes more round trips than its bound fails anywhere', async () => {
  const folder = temporaryFolder('link-bound');
  const environment = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
  environment.systems.link.thresholds = { protocols: { trojan: { round_trips: 2 } } };
  const path = join(folder.path, 'bound.json');
  writeFileSync(path, JSON.stringify({ ...environment, name: 'bound' }));
  const bench = startBench({ ONLY: 'link/protocols', PROFILE: 'smoke', PROTOCOL: 'trojan', LINK, ENV: path });
  try {
    assert.equal(await bench.ended, 99);
    const result = bench.result('link-protocols');
    assert.equal(result.verdict, 'fail');
    assert.match(JSON.stringify(result), /trojan: 3 round trips, at most 2/);
  } finally {
    bench.remove();
    folder.remove();
  }
});

test('goodput by loss and by round trip is a table and a chart, with the range of its rounds', async () => {
  const bench = startBench({
    ONLY: 'link/loss',
    PROFILE: 'smoke',
    PROTOCOL: 'trojan',
    LINK,
    LOSSES: '0,10',
    RTTS: '50',
    ROUNDS: '2',
  });
  try {
    await bench.ended;
    const result = bench.result('link-loss');
    const { plot, columns, rows } = sectionOf(result, 'goodput_loss');
    assert.equal(plot.kind, 'curves');
    assert.deepEqual(plot.y, ['trojan', 'tcp_cubic', 'tcp_bbr', 'tcp_reno', 'mathis']);
    const at = (/** @type {string} */ name) =>
      columns.findIndex((/** @type {any} */ column) => column.name === name);
    assert.deepEqual(
      rows.map((/** @type {any[]} */ row) => valueOf(row[0])),
      [0, 0.1],
    );
    const reno = rows.map((/** @type {any[]} */ row) => valueOf(row[at('tcp_reno')]));
    assert.ok(reno[0] > 4 * reno[1], `reno moves ${reno.join(' and ')} Mbit/s, without loss and with 10 %`);
    const { low, high, value } = rows[0][at('trojan')];
    assert.ok(low <= value && value <= high && low > 0, JSON.stringify(rows[0][at('trojan')]));
    assert.equal(sectionOf(result, 'goodput_rtt').rows.length, 1);
  } finally {
    bench.remove();
  }
});
