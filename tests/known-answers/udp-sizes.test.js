/** Relays that carry small datagrams and not large ones: udp/sizes names each fault, its way, and the largest safe size to one byte. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { startFalteringProxy } from '../support/faltering-proxy.js';
import { temporaryFolder, writeEnvironment } from '../support/k6.js';
import { faultsOf, reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('udp-sizes');
after(folder.remove);

const SIZES = '1,2,1024,1180,1252,1472,2048,9000,65497,65507';
/** A busy machine delays answers. */
const TIMEOUT_MS = '600';

/** @param {import('../support/faltering-proxy.js').Carried} carried @param {string} [scenario] */
async function run(carried, scenario = 'udp/sizes') {
  const proxy = await startFalteringProxy({ after: -1 }, carried);
  const [system = '', name] = scenario.split('/');
  const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, url: proxy.url }, system);
  const sized = system === 'udp' ? { SIZES } : { ROUND_TRIPS: '40' };
  const bench = startBench({ ENV, ONLY: scenario, PROFILE: 'smoke', TIMEOUT_MS, ...sized });
  try {
    await bench.ended;
    return bench.result(`${system}-${name}`);
  } finally {
    bench.remove();
    proxy.stop();
  }
}

/** @param {Buffer} payload @param {number} at */
function flipped(payload, at) {
  const other = Buffer.from(payload);
  other[at] ^= 1;
  return other;
}

/** @type {Record<string, { carried: import('../support/faltering-proxy.js').Carried, safe: number, row: string[] }>} */
const RELAYS = {
  'drops datagrams of 1,195 bytes and more': {
    carried: (payload) => (payload.length >= 1195 ? [] : [payload]),
    safe: 1194,
    row: ['lost', 'lost'],
  },
  'drops large answers': {
    carried: (payload, way) => (way === 'down' && payload.length > 3000 ? [] : [payload]),
    safe: 3000,
    row: ['lost', 'whole', 'lost'],
  },
  'truncates at 1,500 bytes on the way up': {
    carried: (payload, way) => [way === 'up' ? payload.subarray(0, 1500) : payload],
    safe: 1500,
    row: ['truncated to 1,500 bytes', 'truncated to 1,500 bytes', 'whole'],
  },
  'truncates at 1,500 bytes on the way down': {
    carried: (payload, way) => [way === 'down' ? payload.subarray(0, 1500) : payload],
    safe: 1500,
    row: ['truncated to 1,500 bytes', 'whole', 'truncated to 1,500 bytes'],
  },
  'splits above 1,400 bytes on the way up': {
    carried: (payload, way) =>
      way === 'up' && payload.length > 1400 ? [payload.subarray(0, 1400), payload.subarray(1400)] : [payload],
    safe: 1400,
    row: ['split', 'split', 'whole'],
  },
  'garbles above 9,000 bytes': {
    carried: (payload, way) => [way === 'up' && payload.length > 9000 ? flipped(payload, 5000) : payload],
    safe: 9000,
    row: ['garbled'],
  },
  'garbles the first byte of answers above 9,000 bytes': {
    carried: (payload, way) => [way === 'down' && payload.length > 9000 ? flipped(payload, 0) : payload],
    safe: 9000,
    row: ['garbled', 'whole', 'garbled'],
  },
};

describe('a relay that', { concurrency: 3 }, () => {
  for (const [what, { carried, safe, row }] of Object.entries(RELAYS)) {
    test(what, async () => {
      const result = await run(carried);
      const quic = safe >= 1200 ? 'yes' : 'no';
      const [proxied, direct] = rowsOf(sectionOf(result, 'safe_size'));
      assert.deepEqual([proxied.safe, proxied.broken, proxied.quic], [safe, safe + 1, quic]);
      assert.deepEqual([direct.safe, direct.broken, direct.quic], [65_507, null, 'yes']);
      assert.match(sectionOf(result, 'safe_size').finding, new RegExp(`^QUIC needs 1,200: ${quic}\\.`));
      const rows = rowsOf(sectionOf(result, 'sizes'));
      assert.deepEqual(
        rows.map(({ from, to }) => [from, to]),
        [
          [1, safe],
          [safe + 1, 65_497],
          [65_507, 65_507],
        ],
      );
      const [back, up = null, down = null] = row;
      assert.deepEqual([rows[1].back, rows[1].up, rows[1].down], [back, up, down]);
      assert.ok(rows.every((one) => one.direct === 'whole'));
      if (quic === 'no') assert.match(reasonsOf(result).join('\n'), /to_1200: \d+ × lost/);
      else assert.deepEqual(faultsOf(result), []);
    });
  }

  test('carries all that a SOCKS header leaves room for', async () => {
    const result = await run((payload) => [payload]);
    const [proxied] = rowsOf(sectionOf(result, 'safe_size'));
    assert.deepEqual([proxied.safe, proxied.broken, proxied.quic], [65_497, null, 'yes']);
    assert.equal(rowsOf(sectionOf(result, 'sizes')).length, 2);
    assert.deepEqual(faultsOf(result), []);
  });

  test('drops datagrams of 1,195 bytes and more passes socks-udp, which says so', async () => {
    const result = await run((payload) => (payload.length >= 1195 ? [] : [payload]), 'dataplane/socks-udp');
    const { rows, finding } = sectionOf(result, 'quic_size');
    assert.deepEqual(rows, [
      ['Through the proxy', 4, 0],
      ['Direct', 4, 4],
    ]);
    assert.match(finding, /^No datagram of 1,200 bytes comes back through the proxy/);
    assert.deepEqual(faultsOf(result), []);
  });
});
