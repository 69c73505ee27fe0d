/** Rows whose programs have known traits: protocols/traits names each, and judges garbled payload alone. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { sideFile } from '../support/candidate.js';
import { ROOT } from '../support/k6.js';
import { faultsOf, reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

/** A busy machine delays answers. */
const TIMEOUT_MS = '600';

/** @param {Record<string, string>} traits @param {(result: any, row: Record<string, any>) => void} check */
async function withTraits(traits, check) {
  const bench = startBench({
    ONLY: 'protocols/traits',
    PROFILE: 'smoke',
    PROTOCOL: 'socks',
    BASELINE: sideFile({
      program: join(ROOT, 'tests/fixtures/traits'),
      env: Object.fromEntries(Object.entries(traits).map(([name, value]) => [`TRAIT_${name}`, value])),
    }),
    TIMEOUT_MS,
  });
  try {
    await bench.ended;
    const result = bench.result('protocols-traits');
    const [row] = rowsOf(sectionOf(result, 'traits'));
    check(result, row);
  } finally {
    bench.remove();
  }
}

test("a known fault with large datagrams is named, and does not fail xray's hysteria2", async () => {
  const bench = startBench({
    ONLY: 'protocols/traits',
    PROFILE: 'smoke',
    PROTOCOL: 'hysteria2',
    BASELINE: 'xray',
    TIMEOUT_MS,
  });
  try {
    await bench.ended;
    const result = bench.result('protocols-traits');
    const section = sectionOf(result, 'traits');
    assert.equal(rowsOf(section)[0].beyond, 'garbled');
    assert.ok(section.notes.some((/** @type {string} */ note) => /^hysteria2: known .*garbles/.test(note)));
    assert.deepEqual(faultsOf(result), []);
  } finally {
    bench.remove();
  }
});

describe('a row whose program', { concurrency: 3 }, () => {
  test('grants before it dials, passes FIN and drops 1,195 bytes and more', () =>
    withTraits({ TCP: 'early', BYTES: '1194' }, (result, row) => {
      // A busy machine may run the probe so late that the proxy has dialled.
      assert.deepEqual([row.outcome, row.safe, row.beyond, row.quic], ['measured', 1194, 'lost', 'no']);
      assert.deepEqual([row.connect, row.half_close, row.before > 0.5], ['early', 'passes FIN', true]);
      assert.ok(row.first_byte_ms.value > 0);
      assert.deepEqual(faultsOf(result), []);
    }));

  test('grants once it has dialled, never passes FIN and carries all sizes', () =>
    withTraits({ TCP: 'deaf', BYTES: '65507' }, (result, row) => {
      assert.deepEqual([row.safe, row.beyond, row.quic], [65_497, null, 'yes']);
      assert.deepEqual(
        [row.nat, row.idle_out, row.idle_in],
        ['full cone (open)', 'at least 0.5 s', 'at least 0.5 s'],
      );
      assert.deepEqual(
        [row.connect, row.before, row.half_close],
        ['after the far end', 0, 'never passes FIN'],
      );
      assert.deepEqual(faultsOf(result), []);
    }));

  test('closes both ways and garbles more than 9,000 bytes, which fails', () =>
    withTraits({ TCP: 'cuts', BYTES: '9000', FAULT: 'garbles' }, (result, row) => {
      assert.deepEqual([row.safe, row.beyond, row.half_close], [9000, 'garbled', 'closes both ways']);
      assert.match(reasonsOf(result).join('\n'), /socks: baseline: corrupted payload/);
    }));
});
