/** A system that keeps a known amount of its ended work: footprint/leak finds what is kept, and no harmless growth. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { buildLeakyProxy, withFlags } from '../support/leaky-proxy.js';
import { reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('footprint-leak');
after(folder.remove);
const built = buildLeakyProxy(folder.fresh());
const UDP_TIMEOUT_MS = 100;

/** The proxy in place of sing-box. It keeps ended associations for 100 ms. @param {string} flags */
const proxy = (flags) =>
  `sing-box:binary=${withFlags(built, folder.fresh(), flags)},udp_timeout_ms=${UDP_TIMEOUT_MS}`;

/** @param {string} testbed @param {Record<string, string>} [variables] */
async function run(testbed, variables = {}) {
  const bench = startBench({
    ONLY: 'footprint/leak',
    PROFILE: 'smoke',
    TESTBED: testbed,
    CYCLE_MIB: '1',
    CYCLE_ASSOCIATIONS: '5',
    ...variables,
  });
  try {
    await bench.ended;
    const result = bench.result('footprint-leak');
    return { result, rows: rowsOf(sectionOf(result, 'leak')) };
  } finally {
    bench.remove();
  }
}

/** @param {Awaited<ReturnType<typeof run>>} found @param {string} resource @param {string} work */
function rowOf({ rows }, resource, work) {
  const row = rows.find((one) => one.resource === resource && one.work === work);
  assert.ok(row, JSON.stringify(rows));
  return row;
}

/** A figure within 5 %. @param {unknown} shown @param {number} expected */
function near(shown, expected) {
  const value = parseFloat(String(shown));
  assert.ok(Math.abs(value - expected) <= expected * 0.05, `${shown}, and ${expected} was expected`);
}

describe('footprint/leak', () => {
  test('1 MiB, a descriptor and a thread of each connection are found, and 1 MiB of each association', async () => {
    const found = await run(proxy('-bytes 1048576 -descriptors -threads -udp-bytes 1048576'), {
      CYCLE_CONNECTIONS: '13',
    });
    assert.equal(found.result.run.parameters.udp_timeout_ms, UDP_TIMEOUT_MS);
    for (const work of ['connection', 'association']) {
      const row = rowOf(found, 'own memory', work);
      assert.equal(row.leaks, 'yes');
      near(row.slope, 2 ** 20);
    }
    // A transfer of 1 MiB is a connection, too.
    const carried = rowOf(found, 'own memory', 'GiB');
    assert.equal(carried.leaks, 'yes');
    near(carried.slope, 2 ** 30);
    const threads = rowOf(found, 'threads', 'connection');
    assert.equal(threads.leaks, 'yes');
    near(threads.slope, 1);
    const descriptors = rowOf(found, 'descriptors', 'connection');
    assert.equal(descriptors.leaks, 'yes');
    // A busy machine closes some sockets late, and they count too: few of a cycle's.
    near(descriptors.slope, 1);
    assert.equal(rowOf(found, 'descriptors', 'association').leaks, 'no');
    assert.equal(found.result.verdict, 'fail');
    assert.match(
      reasonsOf(found.result).join(),
      /growth of own memory per connection, B: at least \d+, and the bound is 64/,
    );
  });

  test('the stack of a goroutine of each connection is found', async () => {
    const found = await run(proxy('-goroutines'), { CYCLE_CONNECTIONS: '40' });
    const row = rowOf(found, 'own memory', 'connection');
    assert.equal(row.leaks, 'yes');
    // 120 KiB of a stack of 128 KiB are one frame.
    near(row.slope, 124 * 1024);
    // A thread more, which Go starts on a busy machine, leaves that open in a run this short.
    assert.notEqual(rowOf(found, 'threads', 'connection').leaks, 'yes');
  });

  // tests/unit/footprint-growth.test.js has each shape alone.
  test('a step of 50 MiB in a saw-tooth is no leak, and associations leave nothing', async () => {
    const found = await run(proxy('-step-at 700 -teeth 120'), { CYCLE_ASSOCIATIONS: '100' });
    assert.deepEqual(
      found.rows.filter(({ leaks }) => leaks === 'yes'),
      [],
    );
    assert.equal(rowOf(found, 'descriptors', 'connection').leaks, 'no');
    near(rowOf(found, 'own memory', 'connection').step, 50 * 2 ** 20);
    // A run this short may leave open whether memory grows: the collector's noise is near the bound.
    assert.equal(rowOf(found, 'descriptors', 'association').leaks, 'no');
    assert.notEqual(found.result.verdict, 'fail');
  });

  test('64 KiB of each request and a descriptor of each WebSocket of a relay are found', async () => {
    const found = await run(`pulsar-relay:source=${join(ROOT, 'tests/fixtures/keeping-relay')}`, {
      CYCLE_CONNECTIONS: '13',
      CYCLE_ASSOCIATIONS: '13',
    });
    for (const work of ['request', 'kept request']) {
      const row = rowOf(found, 'own memory', work);
      assert.equal(row.leaks, 'yes');
      near(row.slope, 2 ** 16);
      // A busy machine can read before the last clients have closed. A run this short is then undecided.
      assert.notEqual(rowOf(found, 'descriptors', work).leaks, 'yes');
    }
    const descriptors = rowOf(found, 'descriptors', 'subscriber');
    assert.equal(descriptors.leaks, 'yes');
    // A reading can come before the last subscribers have closed.
    near(descriptors.slope, 1);
    assert.equal(found.result.verdict, 'fail');
    // Each request of the first round opened a connection, and one or two connections served all of the second.
    const { opened } = found.result.connections;
    assert.ok(opened >= 18 * 13 && opened <= 18 * 13 + 10, String(opened));
  });

  test('a descriptor of each request with its own connection of a panel is found, and none of a kept one', async () => {
    const found = await run(`panel:source=${join(ROOT, 'tests/fixtures/keeping-panel')}`, {
      CYCLE_CONNECTIONS: '7',
    });
    assert.deepEqual([...new Set(found.rows.map(({ work }) => work))], ['request', 'kept request']);
    const descriptors = rowOf(found, 'descriptors', 'request');
    assert.equal(descriptors.leaks, 'yes');
    near(descriptors.slope, 1);
    assert.equal(rowOf(found, 'descriptors', 'kept request').leaks, 'no');
    assert.equal(found.result.verdict, 'fail');
  });
});
