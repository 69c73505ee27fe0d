/** A proxy, or the far end behind it, stops at the start, in the middle or at the end of a probe: nothing that began may be lost. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { startEcho } from '../support/echo.js';
import { startFalteringProxy } from '../support/faltering-proxy.js';
import { ROOT, operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { startSocksServer } from '../support/socks-server.js';
import { assertTooManyFailed, assertVerdict } from '../support/verdict.js';

/** Duration of the open loop through the proxy; the direct one takes the same time. */
const SECONDS = 6;
const RATE = 50;
const PLANNED = SECONDS * RATE;
/** Round trips, datagrams or tunnels before the load. */
const WARM_UP = 50;
/** Longer than any timeout: 5 s for a tunnel, 0.3 s for a datagram, 3 s for silence. */
const SILENT_MS = 7000;
/** The share of the load's requests before the outage. */
const PLACES = Object.entries({ start: 0.1, middle: 0.5, end: 0.85 });
const SCENARIOS = Object.entries({ 'socks-tcp': 'tcp', 'socks-udp': 'udp', handshake: 'handshake' });
/** Requests per tunnel: in a handshake, the request for the tunnel and one payload. @param {string} scenario */
const requestsOf = (scenario) => (scenario === 'handshake' ? 2 : 1);

/** @param {string} scenario @param {object} entry of the environment @param {Record<string, string>} variables */
async function run(scenario, entry, variables) {
  const folder = temporaryFolder('outage');
  const ENV = writeEnvironment(folder.path, { auth: { mode: 'none' }, ...entry }, 'dataplane');
  const bench = startBench({ ENV, ONLY: `dataplane/${scenario}`, ...variables });
  try {
    const code = await bench.ended;
    return { code, result: bench.result(`dataplane-${scenario}`) };
  } finally {
    bench.remove();
    folder.remove();
  }
}

/** @param {string} scenario @param {object} entry */
const runOpen = (scenario, entry) =>
  run(scenario, entry, { PROFILE: 'soak', DURATION: `${2 * SECONDS}s`, RATE: String(RATE) });

/**
 * Checks that all planned operations are reported, and that the rate is over the planned time.
 * @param {{ code: unknown, result: any }} ran
 * @param {string} name of the operation
 */
function assertReported({ code, result }, name) {
  const row = operation(result, name);
  const what = JSON.stringify(row);
  assertTooManyFailed(result, name, Number(code));
  assert.equal(row.requests, PLANNED, what);
  // A late answer already counts as lost.
  const failed = Object.entries(row.errors)
    .filter(([kind]) => kind !== 'late')
    .reduce((sum, [, /** @type {any} */ count]) => sum + count, 0);
  assert.ok(failed > 0, what);
  assert.equal(row.success + failed, PLANNED, what);
  assert.ok(row.window_s >= SECONDS, what);
  assert.ok(row.rate_per_s <= row.success / SECONDS + 0.001, what);
  return row;
}

/** Stops a client and a server during realistic traffic. */
async function trafficStops() {
  // The outage begins after two of the uses have run: 2 s through the proxy, then 2 s direct.
  const folder = temporaryFolder('outage');
  const binary = join(folder.path, 'stops');
  const stops = `#!/bin/sh
if [ "$1" = run ]; then (sleep 5; kill -STOP $$) & fi
exec '${join(ROOT, 'bin/sing-box')}' "$@"
`;
  writeFileSync(binary, stops);
  chmodSync(binary, 0o755);
  const bench = startBench({
    ONLY: 'protocols/traffic',
    PROFILE: 'smoke',
    PROTOCOL: 'socks',
    SECONDS: '2',
    BASELINE: binary,
  });
  try {
    const code = await bench.ended;
    const result = bench.result('protocols-traffic');
    assertVerdict(result, 'fail', Number(code));
    for (const [name, planned] of Object.entries({
      pages: 4,
      video: 4,
      mixed_requests: 200,
      mixed_pages: 4,
      mixed_video: 4,
    })) {
      const { requests, success, window_s: seconds } = operation(result, name);
      assert.deepEqual({ name, requests, success }, { name, requests: planned, success: 0 });
      assert.ok(seconds >= 2, `${name}: ${seconds} s`);
      const direct = operation(result, `${name}_direct`);
      assert.deepEqual([direct.requests, direct.success], [planned, planned], JSON.stringify(direct));
    }
  } finally {
    bench.remove();
    folder.remove();
  }
}

describe('an outage', { concurrency: 4 }, () => {
  // The longest test.
  test(
    'of a client and a server in the middle of realistic traffic fails all of it that was planned',
    trafficStops,
  );

  for (const [scenario, name] of SCENARIOS) {
    // All three scenarios send with the same loop, so only socks-tcp tests each place.
    for (const [place, share] of scenario === 'socks-tcp'
      ? PLACES
      : PLACES.filter(([at]) => at === 'middle')) {
      test(`of a proxy, at the ${place} of ${scenario}`, async () => {
        const proxy = await startFalteringProxy({
          after: requestsOf(scenario) * (WARM_UP + Math.round(PLANNED * share)),
          ms: SILENT_MS,
        });
        try {
          assertReported(await runOpen(scenario, { url: proxy.url }), `${name}_open`);
        } finally {
          proxy.stop();
        }
      });
    }
  }

  test('of a proxy that goes away in the middle of socks-tcp', async () => {
    const proxy = await startFalteringProxy({ after: WARM_UP + PLANNED / 2 });
    try {
      const { errors } = assertReported(await runOpen('socks-tcp', { url: proxy.url }), 'tcp_open');
      assert.ok(errors.cut > PLANNED * 0.4, JSON.stringify(errors));
    } finally {
      proxy.stop();
    }
  });

  test('of the far end alone, at the end of socks-tcp', async () => {
    // The direct probe comes first.
    const before = WARM_UP + PLANNED + WARM_UP + Math.round(PLANNED * 0.85);
    const echo = await startEcho('--stall-after', String(before), '--stall-ms', '60000');
    try {
      const entry = { testbed: { name: 'sing-box' }, target: echo.target };
      const { errors } = assertReported(await runOpen('socks-tcp', entry), 'tcp_open');
      assert.ok(errors.timeout > 0 && errors.cut > 0, JSON.stringify(errors));
    } finally {
      await echo.stop();
    }
  });

  test('a proxy that does not answer at all fails what was planned, not one of thousands', async () => {
    const server = await startSocksServer('close', 1); // set-up makes one connection
    try {
      const { code, result } = await run(
        'socks-tcp',
        { url: server.url },
        { PROFILE: 'quick', ROUND_TRIPS: '400' },
      );
      const row = operation(result, 'tcp');
      assert.deepEqual([row.requests, row.success, row.errors], [400, 0, { closed: 400 }]);
      assert.equal(result.verdict, 'fail');
      assert.equal(code, 99);
    } finally {
      server.stop();
    }
  });
});
