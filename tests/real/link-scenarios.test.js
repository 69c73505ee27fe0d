/** The scenarios of a link with real rows: their figures, and the faults that fail them. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timelyLink, undisturbed } from '../support/timely.js';

const LINK = 'rtt:60ms,rate:20mbit,loss:0.2%';
const ROWS = ['trojan', 'hysteria2'];

/** The value of a cell, whether it has a range or not. @param {any} cell */
const valueOf = (cell) => (typeof cell === 'object' && cell !== null ? cell.value : cell);

test('rows over a link: round trips, of which too many fail anywhere, what users get, and the link alone', async () => {
  const folder = temporaryFolder('link-bound');
  const environment = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
  environment.systems.link.thresholds = { protocols: { trojan: { round_trips: 2 } } };
  const ENV = join(folder.path, 'bound.json');
  writeFileSync(ENV, JSON.stringify({ ...environment, name: 'bound' }));
  const load = { ONLY: 'link/protocols', PROFILE: 'smoke', PROTOCOL: ROWS.join(','), LINK };
  const bench = startBench({ ...load, ENV });
  try {
    assert.equal(await bench.ended, 99);
    const result = bench.result('link-protocols');
    assert.equal(result.verdict, 'fail');
    assert.match(JSON.stringify(result), /trojan: 3 round trips, at most 2/);
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
      // Packets that waited behind a lost packet arrive at once: one second may bring more than the line carries in a second.
      assert.ok(share > 0 && share < 1.5, `${row}: ${share}`);
      assert.ok(wire === null || (wire > 1 && wire < 2), `${row}: ${wire}`);
    }
    assert.equal(rowsOf(sectionOf(result, 'over_link_controls')).length, 4);
    assert.equal(result.run.link.text, LINK);
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

test(
  'latency under load is a table and two charts, beside plain TCP',
  undisturbed(async () => {
    // Its queue holds 320 ms of the line.
    const link = 'rtt:40ms,rate:10mbit,queue:400kb';
    const bench = startBench({ ONLY: 'link/loaded', PROFILE: 'smoke', PROTOCOL: 'trojan', LINK: link });
    try {
      await bench.ended;
      const result = bench.result('link-loaded');
      timelyLink(result);
      const rows = rowsOf(sectionOf(result, 'loaded'));
      assert.deepEqual(
        rows.map(({ of }) => of),
        ['trojan', 'TCP, cubic', 'TCP, bbr'].flatMap((way) =>
          ['1 up', 'at rest', '1 down'].map((load) => `${way}, ${load}`),
        ),
      );
      for (const { of, kept_ms: kept, fresh_ms: fresh, samples, died } of rows) {
        assert.ok(kept >= 40 && fresh >= 2 * 40 && samples > 10 && died === 0, `${of}: ${kept}, ${fresh} ms`);
      }
      const [, rest, down] = rows;
      // TCP's handshake, TLS 1.3's, the payload's.
      assert.equal(Math.round(rest.trips), 3);
      // A transfer that fills the line fills its queue as far as the host's congestion control allows.
      assert.ok(down.goodput > 5 && down.queue_ms > 10 && down.queue_ms <= 330, JSON.stringify(down));
      const { plot, rows: points } = sectionOf(result, 'loaded_same');
      assert.deepEqual([plot.kind, plot.y], ['curves', ['trojan', 'tcp_cubic', 'tcp_bbr']]);
      assert.equal(points.length, 3);
      assert.ok(result.operations.find((/** @type {any} */ { name }) => name === 'trojan').success >= 8);
    } finally {
      bench.remove();
    }
  }),
);

test(
  'a transfer through an outage is a table, and a course with the queue below it',
  undisturbed(async () => {
    const bench = startBench({
      ONLY: 'link/change',
      PROFILE: 'smoke',
      PROTOCOL: 'trojan',
      CHANGES: 'outage',
      LINK: 'rtt:40ms,rate:10mbit',
    });
    try {
      await bench.ended;
      const result = bench.result('link-change');
      timelyLink(result);
      const rows = rowsOf(sectionOf(result, 'change'));
      assert.deepEqual(
        rows.map(({ of }) => of),
        ['trojan', 'TCP, cubic', 'TCP, bbr'].map((way) => `${way}: an outage of 2 s`),
      );
      for (const { of, before, silent, tunnels, died, lost } of rows) {
        assert.ok(valueOf(before) > 3, `${of}: ${valueOf(before)} Mbit/s before`);
        // The link was dead for 2 s; packets on their way still arrived.
        assert.ok(valueOf(silent) >= 1.7, `${of}: silent for ${valueOf(silent)} s`);
        assert.deepEqual([tunnels, died, lost], [5, 0, 0], of);
      }
      const { plot, columns, rows: steps } = sectionOf(result, 'course_outage');
      assert.deepEqual(
        [plot.kind, plot.y, plot.below.y[0], plot.marks],
        ['course', ['trojan', 'tcp_cubic', 'tcp_bbr'], 'trojan_queue', 'mark'],
      );
      const marks = steps
        .filter((/** @type {any[]} */ [, mark]) => mark)
        .map((/** @type {any[]} */ [at]) => at);
      assert.deepEqual(marks, [0, 2]);
      const trojan = columns.findIndex((/** @type {any} */ { name }) => name === 'trojan');
      const within = steps.filter((/** @type {any[]} */ [at]) => at >= 0.5 && at < 2);
      assert.ok(
        within.every((/** @type {any[]} */ row) => row[trojan] === 0),
        JSON.stringify(within),
      );
      assert.equal(bench.has('report.html'), true);
      const page = bench.files().find(({ name }) => name === 'report.html');
      assert.match(String(page?.text), /class="mark"/);
    } finally {
      bench.remove();
    }
  }),
);
