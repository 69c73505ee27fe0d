/** Relays that QUIC meets: udp/quic passes a right one, names what another one drops, and never takes wrong content. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { sideFile } from '../support/candidate.js';
import { startFalteringProxy } from '../support/faltering-proxy.js';
import { ROOT, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { faultsOf, reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('udp-quic');
after(folder.remove);

/** @param {import('../support/faltering-proxy.js').Carried} carried */
async function run(carried) {
  const proxy = await startFalteringProxy({ after: -1 }, carried);
  const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, url: proxy.url }, 'udp');
  const bench = startBench({ ENV, ONLY: 'udp/quic', PROFILE: 'smoke' });
  try {
    await bench.ended;
    return { result: bench.result('udp-quic'), stderr: bench.output.stderr };
  } finally {
    bench.remove();
    proxy.stop();
  }
}

/** @param {any} result @param {string} name */
const operationOf = (result, name) => result.operations.find((/** @type {any} */ one) => one.name === name);

describe('a relay that', { concurrency: 3 }, () => {
  test('carries all passes, and the far end has sent what came', async () => {
    const { result } = await run((payload) => [payload]);
    assert.deepEqual(faultsOf(result), []);
    const { finding, rows } = sectionOf(result, 'quic');
    assert.match(finding, /^QUIC works through the proxy: yes\./);
    const [proxied, direct] = rowsOf({ ...sectionOf(result, 'quic'), rows });
    assert.deepEqual([proxied.whole, direct.whole], [8, 8]);
    const page = 5 * 16 * 32 * 1024;
    for (const http of ['h2', 'h3'])
      for (const way of ['', '_direct'])
        assert.equal(operationOf(result, `page_${http}${way}`).transfer.bytes, page);
    assert.equal(rowsOf(sectionOf(result, 'http')).length, 3);
  });

  test('drops datagrams of 1,195 bytes and more fails, with a line that names 1,200 bytes', async () => {
    const { result } = await run((payload) => (payload.length >= 1195 ? [] : [payload]));
    assert.notEqual(result.verdict, 'pass');
    assert.notDeepEqual(faultsOf(result), []);
    const { finding, answer } = sectionOf(result, 'quic');
    assert.equal(answer, 'no');
    assert.match(finding, /datagrams of 1,200 bytes.* none was answered\.$/);
    assert.match(reasonsOf(result).join('\n'), /page_h3: \d+ × timeout/);
    assert.equal(operationOf(result, 'page_h2').success, 5);
  });

  test('spoils one datagram in 20 never passes wrong content', async () => {
    let count = 0;
    const { result } = await run((payload) => {
      count += 1;
      if (count % 20 > 0) return [payload];
      const other = Buffer.from(payload);
      other[payload.length >> 1] ^= 1;
      return [other];
    });
    const page = operationOf(result, 'page_h3');
    assert.equal(page.transfer.bytes, page.success * 16 * 32 * 1024);
    assert.equal(page.errors.corrupted ?? 0, 0);
  });
});

test('protocols/http3 has a line for each row: one that drops 1,195 bytes and more fails, with the reason', async () => {
  const bench = startBench({
    ONLY: 'protocols/http3',
    PROFILE: 'smoke',
    PROTOCOL: 'socks,http',
    BASELINE: sideFile({
      program: join(ROOT, 'tests/fixtures/traits'),
      env: { TRAIT_TCP: 'early', TRAIT_BYTES: '1194' },
    }),
  });
  try {
    await bench.ended;
    const result = bench.result('protocols-http3');
    const section = sectionOf(result, 'quic_rows');
    const [socks, http, direct] = rowsOf(section);
    assert.deepEqual([socks.row, socks.works, socks.attempted, socks.whole], ['socks', 'no', 4, 0]);
    assert.match(socks.why, /datagrams of 1,200 bytes.* none was answered/);
    assert.deepEqual([http.row, http.works, http.why], ['http', 'unknown', 'it carries no datagrams']);
    assert.deepEqual([direct.row, direct.works], ['direct', 'yes']);
    assert.equal(section.answer, '0');
    assert.notEqual(result.verdict, 'pass');
    assert.equal(operationOf(result, 'socks_page_h2').success, 3);
  } finally {
    bench.remove();
  }
});
