/** Real pairs over a link: their payload crosses the link, and two delays give the round trips that a tunnel takes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rowsOf } from '../../lib/protocols/matrix.js';
import { temporaryFolder } from '../support/k6.js';
import { patientMs } from '../support/patience.js';
import { binaryOf, probe } from '../support/rows.js';
import { startSidecar } from '../support/sidecar.js';

const RTTS_MS = [40, 240];
const HANDSHAKES = 5;
const DATAGRAMS = 20;
const PATIENT_MS = patientMs(20_000);
/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;
/**
 * Rows whose hop is a link, and the known round trips until the first bytes are back: TCP's handshake, TLS 1.3's, and the payload's.
 * The other rows take at least one round trip.
 * @type {Record<string, number | undefined>}
 */
const ROWS = {
  'shadowsocks-2022': 2,
  trojan: 3,
  'vless-reality-vision': undefined,
  'shadowsocks-2022-mux': undefined,
  hysteria2: undefined,
  tuic: undefined,
  wireguard: undefined,
  anytls: undefined,
  naive: undefined,
  ssh: undefined,
};

const logs = temporaryFolder('link');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;

before(async () => {
  sidecar = await startSidecar(logs.path);
});

after(async () => {
  await sidecar.stop();
  logs.remove();
});

/** Time to the first payload of the fastest of some tunnels, ms. @param {any} instance @param {string} target */
async function firstReplyMs({ id, variables }, target) {
  const { state, outcome, error } = await probe(sidecar, {
    kind: 'handshake',
    first_reply: true,
    target,
    proxy: { address: `127.0.0.1:${variables.socks_port}` },
    namespace: { instance: id, name: 'near' },
    count: HANDSHAKES,
    timeout_ms: PATIENT_MS,
    handshake_timeout_ms: PATIENT_MS,
  });
  assert.equal(state, 'done', JSON.stringify(error));
  assert.equal(outcome.succeeded, HANDSHAKES, JSON.stringify(outcome.errors));
  return outcome.series.find((/** @type {any} */ { name }) => name === 'total').min_ns / 1e6;
}

/** @param {import('node:test').TestContext} context @param {string} testbed @param {object} variables @param {number} [known] */
async function overLink(context, testbed, variables, known) {
  const link = { text: `rtt:${RTTS_MS[0]}ms` };
  const { status, body: instance } = await sidecar.ask('POST', `/testbeds/${testbed}/start`, {
    variables,
    link,
  });
  if (status === CANNOT) {
    context.skip(`${instance.error}; ${instance.mend}`);
    return;
  }
  assert.equal(status, 201, JSON.stringify(instance));
  const at = `/instances/${instance.id}`;
  try {
    const far = { host: '127.0.0.1', namespace: { instance: instance.id, name: 'far' } };
    const { body: echo } = await sidecar.ask('POST', '/echoes', far);
    const took = [];
    for (const rtt of RTTS_MS) {
      const { body: set } = await sidecar.ask('POST', `${at}/link`, { set: `rtt:${rtt}ms` });
      assert.equal(set.settings.up.delay_ns, (rtt * 1e6) / 2);
      took.push(await firstReplyMs(instance, echo.tcp));
    }
    const roundTrips = (took[1] - took[0]) / (RTTS_MS[1] - RTTS_MS[0]);
    context.diagnostic(`${roundTrips.toFixed(2)} round trips to the first byte`);
    assert.ok(roundTrips > 0.9, `${roundTrips} round trips`);
    if (known) assert.equal(Math.round(roundTrips), known, `${took.join(' and ')} ms`);
    const { body: counts } = await sidecar.ask('GET', `${at}/link`);
    for (const { sent, own_overrun: overrun, own_refused: refused, own_unread: unread } of [
      counts.up,
      counts.down,
    ]) {
      assert.ok(sent >= HANDSHAKES, JSON.stringify(counts));
      assert.deepEqual([overrun, refused, unread], [0, 0, 0], JSON.stringify(counts));
    }
    assert.equal(counts.failed, null);
  } finally {
    await sidecar.ask('DELETE', at);
  }
}

for (const testbed of ['sing-box-pair', 'xray-pair'])
  test(`${testbed} goes over a link`, (context) => overLink(context, testbed, {}));

for (const row of rowsOf('sing-box').filter(({ row: name }) => name in ROWS)) {
  test(`${row.row} goes over a link`, (context) =>
    overLink(context, 'protocols', { ...row.variables, binary: binaryOf(row) }, ROWS[row.row]));
}

/** Datagrams: the server gives the address of its relay, which must be at the server's end of the link. */
for (const name of ['socks', 'mixed']) {
  test(`datagrams of ${name} with xray go over a link`, async (context) => {
    const row = rowsOf('xray').find(({ row: own }) => own === name);
    const { status, body: instance } = await sidecar.ask('POST', '/testbeds/protocols/start', {
      variables: { ...row?.variables, engine: 'xray' },
      link: { text: `rtt:${RTTS_MS[0]}ms` },
    });
    if (status === CANNOT) {
      context.skip(`${instance.error}; ${instance.mend}`);
      return;
    }
    assert.equal(status, 201, JSON.stringify(instance));
    try {
      const far = { host: instance.link.far.address, namespace: { instance: instance.id, name: 'far' } };
      const { body: echo } = await sidecar.ask('POST', '/echoes', far);
      const { state, outcome, error } = await probe(sidecar, {
        kind: 'udp',
        target: echo.udp,
        proxy: { address: `127.0.0.1:${instance.variables.socks_port}` },
        namespace: { instance: instance.id, name: 'near' },
        count: DATAGRAMS,
        timeout_ms: 5_000,
        handshake_timeout_ms: PATIENT_MS,
      });
      assert.equal(state, 'done', JSON.stringify(error));
      assert.equal(outcome.succeeded, DATAGRAMS, JSON.stringify(outcome.errors));
      assert.ok(outcome.series[0].min_ns >= RTTS_MS[0] * 1e6, JSON.stringify(outcome.series[0]));
    } finally {
      await sidecar.ask('DELETE', `/instances/${instance.id}`);
    }
  });
}

test('a row with namespaces of its own takes no link', async () => {
  const tun = rowsOf('sing-box').find(({ row }) => row === 'tun');
  const { status, body } = await sidecar.ask('POST', '/testbeds/protocols/start', {
    variables: tun?.variables,
    link: { text: 'far' },
  });
  if (status === CANNOT) return;
  assert.equal(status, 422, JSON.stringify(body));
  assert.match(body.error, /they exclude a link|no hop that a link could be/);
});
