/** Each of our proxies over a link has a fault of known size: probes of the sidecar and scenarios find the fault, with the right figure. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { queueFrom } from '../../lib/link/over-time.js';
import { recoveryOf } from '../../lib/link/recovery.js';
import { rowsOf as rowsOfEngine } from '../../lib/protocols/matrix.js';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { patientMs } from '../support/patience.js';
import { probe } from '../support/rows.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { startSidecar } from '../support/sidecar.js';
import { timely, timelyLink, undisturbed } from '../support/timely.js';

const KNOWN = fileURLToPath(new URL('../fixtures/known-hop', import.meta.url));
const RTT_MS = 40;
/** The line is faster than any fault allows, and has its own queue of 40 ms. */
const LINK = `rtt:${RTT_MS}ms,rate:50mbit`;
/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;
const PATIENCE_MS = patientMs(20_000);

const logs = temporaryFolder('known-link');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;

before(async () => {
  sidecar = await startSidecar(logs.path);
});

after(async () => {
  await sidecar.stop();
  logs.remove();
});

/**
 * With a row through the proxy with known faults, over a link.
 * @param {import('node:test').TestContext} context
 * @param {string} name of the row
 * @param {string} link
 * @param {(send: (kind: string, more?: object) => Promise<any>, id: string) => Promise<void>} what `send` runs a
 *   probe through the proxy and gives its outcome
 */
async function withRow(context, name, link, what) {
  const row = rowsOfEngine('sing-box').find((one) => one.row === name);
  const { status, body } = await sidecar.ask('POST', '/testbeds/protocols/start', {
    variables: { ...row?.variables, binary: KNOWN },
    link: { text: link },
  });
  if (status === CANNOT) {
    context.skip(`${body.error}; ${body.mend}`);
    return;
  }
  assert.equal(status, 201, JSON.stringify(body));
  const { id, variables } = body;
  try {
    const { body: ends } = await sidecar.ask('GET', `/instances/${id}/link`);
    const { body: echo } = await sidecar.ask('POST', '/echoes', {
      host: ends.far.address,
      namespace: { instance: id, name: 'far' },
    });
    const way = {
      target: echo.tcp,
      proxy: { address: `127.0.0.1:${variables.socks_port}` },
      namespace: { instance: id, name: 'near' },
      timeout_ms: PATIENCE_MS,
      handshake_timeout_ms: PATIENCE_MS,
    };
    await what(async (kind, more = {}) => {
      const { state, outcome, error } = await probe(sidecar, { ...way, kind, ...more });
      assert.equal(state, 'done', JSON.stringify(error));
      return outcome;
    }, id);
  } finally {
    await sidecar.ask('DELETE', `/instances/${id}`);
  }
}

/** @param {any} outcome @param {string} name */
const seriesOf = ({ series }, name) => series.find((/** @type {any} */ one) => one.name === name);

function testProbes() {
  test(
    'a proxy that holds 1,000 ms of payload is found, within 15 %, on another tunnel too',
    undisturbed(async (context) => {
      await withRow(context, 'trojan', LINK, async (send) => {
        const rest = await send('flow', { flow: { seconds: 1 } });
        const atRest = seriesOf(rest, 'round_trip').p50_ns / 1e6;
        timely(Math.abs(atRest - RTT_MS) < RTT_MS / 2, `${atRest} ms at rest`);
        const [load, other] = await Promise.all([
          send('flow', { flow: { direction: 'down', warmup_s: 3, seconds: 3 } }),
          send('flow', { flow: { warmup_s: 3, seconds: 2 } }),
        ]);
        assert.deepEqual([load.errors, other.errors], [{}, {}]);
        const held = [load, other].map((one) => seriesOf(one, 'round_trip').p50_ns / 1e6 - atRest);
        context.diagnostic(`held ${held.map((ms) => ms.toFixed(0)).join(' and ')} ms`);
        for (const ms of held) timely(Math.abs(ms - 1000) < 150, `${ms} ms`);
        const mbit = (load.bytes * 8) / load.duration_s / 1e6;
        timely(Math.abs(mbit - 8) < 0.4, `${mbit} Mbit/s`);
      });
    }),
  );

  test(
    'two more round trips before the first byte are counted',
    undisturbed(async (context) => {
      /** @type {Record<string, number>} */
      const trips = {};
      for (const row of ['socks', 'vless'])
        await withRow(context, row, LINK, async (send, id) => {
          const took = [];
          for (const rtt of [RTT_MS, 3 * RTT_MS]) {
            await sidecar.ask('POST', `/instances/${id}/link`, { set: `rtt:${rtt}ms` });
            const { min_ns: ns } = seriesOf(
              await send('handshake', { first_reply: true, count: 5 }),
              'total',
            );
            took.push(ns / 1e6);
          }
          trips[row] = (took[1] - took[0]) / (2 * RTT_MS);
        });
      if (Object.keys(trips).length < 2) return;
      context.diagnostic(`${trips.socks.toFixed(2)} and ${trips.vless.toFixed(2)} round trips`);
      const told = [Math.round(trips.socks), Math.round(trips.vless)];
      timely(told[0] === 2 && told[1] === 4, `${told.join(' and ')} round trips`);
    }),
  );

  test(
    'a mux that stands still for 2 s where a stream is not read is found, within 15 %',
    undisturbed(async (context) => {
      await withRow(context, 'shadowsocks-2022-mux', LINK, async (send) => {
        const [, other] = await Promise.all([
          send('flow', { flow: { direction: 'down', reads: false, seconds: 9 } }),
          send('flow', { flow: { warmup_s: 2, seconds: 6 } }),
        ]);
        const longest = seriesOf(other, 'round_trip').max_ns / 1e6;
        context.diagnostic(`another stream waited ${longest.toFixed(0)} ms at the most`);
        timely(Math.abs(longest - 2000) < 300, `${longest} ms`);
      });
    }),
  );

  test(
    'a transfer stands still while its link is dead, and comes back',
    undisturbed(async (context) => {
      await withRow(context, 'socks', 'rtt:40ms,rate:10mbit', async (send, id) => {
        const at = `/instances/${id}/link`;
        await sidecar.ask('POST', at, { restart: true, later: '@3s/dead:yes,@5s/dead:no' });
        const { flow } = await send('flow', { flow: { direction: 'down', seconds: 12 } });
        const { body: link } = await sidecar.ask('GET', `${at}/samples`);
        const [dead, back] = link.changes.map(
          (/** @type {any} */ { at_s: s }) => s + (link.began_unix_us - flow.began_unix_us) / 1e6,
        );
        timely(Math.abs(back - dead - 2) < 0.1, JSON.stringify(link.changes));
        const found = recoveryOf(
          { bytes: flow.bytes, bucketS: flow.bucket_ms / 1000 },
          { at: dead, until: back },
        );
        context.diagnostic(JSON.stringify(found));
        assert.equal(flow.tunnels[0].died, null);
        timely(found.before > 8 && found.before < 10, `${found.before} Mbit/s before`);
        timely(found.silentS >= 1.7, `silent for ${found.silentS} s`);
        // TCP doubles its wait after each try: after an outage of 2 s it tries again within 3 s of the link's return.
        timely(found.recoveredS !== null && found.recoveredS < 4, `recovered after ${found.recoveredS} s`);
        const queue = queueFrom(link, 'down', flow.began_unix_us, flow.bytes.length);
        assert.ok(Math.max(...queue) > 0, 'no queue was seen');
        // The queue of 40 ms is empty in the middle of the outage, because no packet arrives.
        assert.equal(queue[Math.round((dead + 1) * 10)], 0);
      });
    }),
  );
}

function testScenarios() {
  test(
    'a proxy that holds 1,000 ms of what goes down adds as much to each round trip beside a download, and nothing beside an upload',
    undisturbed(async () => {
      const bench = startBench({
        ONLY: 'link/loaded',
        PROFILE: 'smoke',
        PROTOCOL: 'trojan',
        BASELINE: KNOWN,
        LINK: 'rtt:40ms,rate:50mbit',
      });
      try {
        await bench.ended;
        const result = bench.result('link-loaded');
        timelyLink(result);
        const [up, rest, down] = rowsOf(sectionOf(result, 'loaded'));
        assert.deepEqual([up.of, rest.of, down.of], ['trojan, 1 up', 'trojan, at rest', 'trojan, 1 down']);
        // One queue carries a tunnel's reply and each answer.
        for (const name of ['same_ms', 'kept_ms', 'fresh_ms']) {
          const held = down[name] - (name === 'fresh_ms' ? rest.fresh_ms : rest.kept_ms);
          timely(Math.abs(held - 1000) < 150, `${name}: ${held} ms more than at rest`);
        }
        timely(up.kept_ms - rest.kept_ms < 150, `beside an upload ${up.kept_ms} ms, at rest ${rest.kept_ms}`);
        timely(Math.abs(down.goodput - 8) < 0.4, `${down.goodput} Mbit/s`);
      } finally {
        bench.remove();
      }
    }),
  );

  test(
    'a proxy that closes what is silent for 1 s loses all its tunnels in an outage of 2 s, and is within no bound on the time to recover',
    undisturbed(async () => {
      const folder = temporaryFolder('link-died');
      const environment = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
      environment.systems.link.thresholds = { change: { vmess: { max: 60_000 }, tcp_bbr: { max: 60_000 } } };
      const path = join(folder.path, 'died.json');
      writeFileSync(path, JSON.stringify({ ...environment, name: 'died' }));
      const bench = startBench({
        ONLY: 'link/change',
        PROFILE: 'smoke',
        PROTOCOL: 'vmess',
        BASELINE: KNOWN,
        CHANGES: 'outage',
        LINK: 'rtt:40ms,rate:10mbit',
        ENV: path,
      });
      try {
        await bench.ended;
        const result = bench.result('link-change');
        const [row, ...controls] = rowsOf(sectionOf(result, 'change'));
        assert.equal(row.of, 'vmess: an outage of 2 s');
        timely(row.died === 5, `${row.died} of ${row.tunnels} tunnels died`);
        assert.deepEqual([row.tunnels, row.not_recovered, row.recovered], [5, 1, null]);
        for (const control of controls) {
          timely(control.died === 0 && control.not_recovered === 0, JSON.stringify(control));
        }
        const crossed = result.thresholds.filter((/** @type {any} */ { ok }) => !ok);
        assert.deepEqual(
          crossed.map((/** @type {any} */ { operation }) => operation),
          ['vmess', 'vmess'],
          JSON.stringify(crossed),
        );
        assert.notEqual(result.verdict, 'pass');
      } finally {
        bench.remove();
        folder.remove();
      }
    }),
  );
}

// The tests wait for seconds on separate links, and use little CPU.
describe('proxies with faults of known size', { concurrency: true }, () => {
  testProbes();
  testScenarios();
});
