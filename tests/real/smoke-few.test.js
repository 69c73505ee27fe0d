/** A smoke run of each system against the real thing: some scenarios of each. tests/real/smoke.test.js checks the whole run. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertDataplane } from '../support/dataplane-smoke.js';
import { influx } from '../support/influx.js';
import { mayMakeNamespaces } from '../support/namespaces.js';
import { PANEL_SECRET, assertPanel } from '../support/panel-smoke.js';
import { assertMatrix, assertTrips } from '../support/protocols-smoke.js';
import { assertRelay } from '../support/relay-smoke.js';
import { assertSecret, endSmokeRun, smokeRun } from '../support/smoke-run.js';
import { assertSums } from '../support/streamed.js';

const NAMES = {
  pulsar: ['ingest', 'delivery'],
  panel: ['users-lifecycle'],
  dataplane: ['socks-tcp', 'socks-udp', 'handshake'],
  protocols: ['matrix'],
  link: ['protocols'],
};
const ONLY = Object.entries(NAMES)
  .flatMap(([system, names]) => names.map((name) => `${system}/${name}`))
  .join(',');
const noLink = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
/** Enough to show that a row is measured. */
const SHORT = { TUNNELS: '10' };

/** @type {import('../support/smoke-run.js').Smoke} */
let smoke;
before(async () => {
  smoke = await smokeRun({ ONLY, ...SHORT });
});
after(endSmokeRun);

test('relay: messages are taken and delivered', () => assertRelay(smoke.run, NAMES.pulsar));

test('panel: users are made, switched and deleted, and the rows agree', () =>
  assertPanel(smoke.run, NAMES.panel));

test('data plane: sing-box carries round trips, datagrams and handshakes', () => {
  assertDataplane(smoke.run, 'sing-box-pair', NAMES.dataplane);
});

test('protocols: a row of each side is measured', () => assertMatrix(smoke.run, 'trojan'));

test('link: a row over a link takes the round trips that its protocol has', { skip: noLink }, () =>
  assertTrips(smoke.run),
);

test('the run has streamed, shows no secret, and leaves nothing running', async () => {
  assertSecret(smoke, PANEL_SECRET);
  for (const program of ['pulsar_relay.main:app', 'panel.app:create', 'sing-box'])
    assert.ok(smoke.shown.includes(program), `${program} was watched`);
  assert.deepEqual(smoke.left, []);
  const streamed = influx(smoke.influx);
  await assertSums(streamed, String(smoke.run.folder.split('/').at(-1)), smoke.run.result('pulsar-ingest'));
});
