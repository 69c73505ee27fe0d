/** A proxy that keeps a known amount of each connection: footprint/leak finds what is kept, and no harmless growth. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { temporaryFolder } from '../support/k6.js';
import { leakyProxy } from '../support/leaky-proxy.js';
import { reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('footprint-leak');
after(folder.remove);
const proxy = leakyProxy(folder.fresh());

/** @param {string} flags of the proxy @param {Record<string, string>} [variables] */
async function run(flags, variables = {}) {
  const bench = startBench({
    ONLY: 'footprint/leak',
    PROFILE: 'smoke',
    TESTBED: proxy(flags),
    CYCLES: '18',
    CYCLE_CONNECTIONS: '60',
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

/** A figure within 5 %, or within another share. @param {unknown} shown @param {number} expected @param {number} [share] */
function near(shown, expected, share = 0.05) {
  const value = parseFloat(String(shown));
  assert.ok(Math.abs(value - expected) <= expected * share, `${shown}, and ${expected} was expected`);
}

describe('footprint/leak', () => {
  test('1 MiB and a descriptor of each connection are found, and 1 MiB of each association', async () => {
    const found = await run('-bytes 1048576 -descriptors -udp-bytes 1048576', {
      CYCLE_CONNECTIONS: '10',
      LINGER_S: '1',
      CYCLES: '12',
    });
    for (const work of ['connection', 'association']) {
      const row = rowOf(found, 'own memory', work);
      assert.equal(row.leaks, 'yes');
      near(row.slope, 2 ** 20);
    }
    const descriptors = rowOf(found, 'descriptors', 'connection');
    assert.equal(descriptors.leaks, 'yes');
    // A busy machine closes some sockets late, and they count too.
    near(descriptors.slope, 1, 0.1);
    assert.equal(rowOf(found, 'descriptors', 'association').leaks, 'no');
    assert.equal(found.result.verdict, 'fail');
    assert.match(
      reasonsOf(found.result).join(),
      /growth of own memory per connection, B: at least \d+, and the bound is 64/,
    );
  });

  // tests/unit/footprint-growth.test.js has each shape alone.
  test('a step of 50 MiB in a saw-tooth is no leak', async () => {
    const found = await run('-step-at 700 -teeth 120');
    assert.deepEqual(
      found.rows.filter(({ leaks }) => leaks === 'yes'),
      [],
    );
    assert.equal(rowOf(found, 'descriptors', 'connection').leaks, 'no');
    assert.notEqual(found.result.verdict, 'fail');
  });
});
