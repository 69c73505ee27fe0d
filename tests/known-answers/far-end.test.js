/** Compares the far end's counts: a proxy that never dials is fast, and wrong. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startAloneProxy } from '../support/alone-proxy.js';
import { startBench } from '../support/bench.js';
import { startEcho } from '../support/echo.js';
import { operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('far-end');
after(folder.remove);

/**
 * @param {string} scenario
 * @param {object} entry of the environment
 * @param {Record<string, string>} variables
 */
async function run(scenario, entry, variables) {
  const ENV = writeEnvironment(folder.path, { auth: { mode: 'none' }, ...entry }, 'dataplane');
  const bench = startBench({ ENV, ONLY: `dataplane/${scenario}`, ...variables });
  try {
    const code = await bench.ended;
    return { code, result: bench.result(`dataplane-${scenario}`) };
  } finally {
    bench.remove();
  }
}

/** @param {any} result @param {string} name of an operation */
const farEndOf = (result, name) =>
  result.integrity.find((/** @type {any} */ { check }) => check === `far end: ${name}`);

for (const { scenario, row, size, variables, said } of [
  {
    scenario: 'socks-tcp',
    row: 'tcp',
    // In a smoke run two probes go through the proxy. Each sends 50 requests before its measurement.
    size: (40 + 100) * 1024,
    variables: { ROUND_TRIPS: '40' },
    said: /^the far end received 0 of 143,360 bytes: the proxy itself answered$/,
  },
  {
    scenario: 'socks-udp',
    row: 'udp',
    size: 40 + 100,
    variables: { ROUND_TRIPS: '40', TIMEOUT_MS: '5000' },
    said: /^the far end received 0 of 140 datagrams: the proxy itself answered$/,
  },
  {
    scenario: 'handshake',
    row: 'handshake',
    size: (40 + 100) * 64,
    variables: { HANDSHAKES: '40' },
    said: /^the far end received 0 of 8,960 bytes: the proxy itself answered$/,
  },
  {
    scenario: 'concurrency',
    row: 'request_10',
    // Each tunnel sends two requests per second for one second, and one before.
    size: null,
    variables: { TUNNELS: '10', SECONDS: '1' },
    said: /^the far end received 0 of [\d,]+ bytes: the proxy itself answered$/,
  },
]) {
  test(`${scenario}: a proxy that never dials fails by the far end's count`, async () => {
    const proxy = await startAloneProxy();
    try {
      const { code, result } = await run(scenario, { url: proxy.url }, variables);
      assert.deepEqual(operation(result, row).errors, {}, 'it answers all by itself');
      const line = farEndOf(result, row);
      assert.equal(line.ok, false);
      assert.equal(line.found, 0);
      if (size !== null) assert.equal(line.reported, size);
      assert.match(line.detail, said);
      assert.equal(line.source, 'far_end');
      const direct = farEndOf(result, `${row}_direct`);
      assert.equal(direct.ok, true, direct.detail);
      assert.equal(direct.found, direct.reported);
      assertVerdict(result, 'fail', code);
      assert.ok(
        reasonsOf(result).some((reason) => reason.startsWith(`far end: ${row}: `)),
        reasonsOf(result).join('\n'),
      );
    } finally {
      proxy.stop();
    }
  });
}

test('a far end that the environment names is not counted, and that decides nothing', async () => {
  const echo = await startEcho();
  try {
    const entry = { testbed: { name: 'sing-box' }, target: echo.target };
    const { result } = await run('socks-tcp', entry, { ROUND_TRIPS: '40' });
    const line = farEndOf(result, 'tcp');
    assert.deepEqual([line.ok, line.reported, line.found], [null, null, null]);
    assert.equal(line.detail, "not counted: the far end is not Windtunnel's echo server");
    assertVerdict(result, 'pass');
  } finally {
    await echo.stop();
  }
});
