/** The lender names a topic, a user or a tunnel that a borrower left, and replaces a system that died. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, cleanEnvironment } from '../support/k6.js';
import { withLent } from '../support/lend.js';
import { newUser, panel as panelOf } from '../support/panel.js';
import { descendants, isAlive, processOf, until } from '../support/processes.js';
import { connectTunnel } from '../support/socks5.js';
import { leftOn } from '../support/traces.js';

/** @param {any} instance @returns {number[]} */
const pidsOf = ({ processes }) => processes.map((/** @type {{ pid: number }} */ { pid }) => pid);

/** Asks the relay about a topic, as its administrator. @param {any} relay @param {string} method @param {string} path @param {object} [json] */
async function askRelay({ outputs, secret_outputs: secrets }, method, path, json) {
  const body = new URLSearchParams({ username: outputs.PULSAR_USERNAME, password: secrets.PULSAR_PASSWORD });
  // The relay may have closed a connection of an earlier request.
  const closed = { connection: 'close' };
  const login = await fetch(`${outputs.PULSAR_URL}/auth/login`, { method: 'POST', body, headers: closed });
  const { access_token: token } = /** @type {any} */ (await login.json());
  const answer = await fetch(`${outputs.PULSAR_URL}/api/v1/topics${path}`, {
    method,
    headers: { ...closed, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: json && JSON.stringify(json),
  });
  assert.ok(answer.ok, await answer.text());
}

// These tests remove the topic and the user again, so that the next files get the same system.
test('a topic that is left on a relay is named', () =>
  withLent(['pulsar-relay'], async (relay) => {
    await askRelay(relay, 'POST', '', { topic_name: 'left-by-a-test' });
    assert.deepEqual(await leftOn('pulsar-relay', relay), ['1 topics left: left-by-a-test']);
    await askRelay(relay, 'DELETE', '/left-by-a-test');
  }));

test('a user who is left on a panel is named, and so is one in xray', () =>
  withLent(['panel'], async (instance) => {
    const panel = panelOf(instance);
    await panel.call('POST', '/api/user', newUser('left_by_a_test'));
    const left = ['1 users left: left_by_a_test', '1 users left in xray'];
    assert.deepEqual(await leftOn('panel', instance), left);
    await panel.removeUsers();
  }));

test('a pair with a tunnel that stays open fails its borrower by name, and one that is closed does not', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const open = async (/** @type {any} */ { outputs }) => {
    const { hostname: host, port: socks } = new URL(outputs.DATAPLANE_URL.replace('socks5:', 'http:'));
    const tunnel = await connectTunnel({ host, port: Number(socks) }, { host: '127.0.0.1', port });
    assert.equal(String(await tunnel.roundTrip(Buffer.from('payload'))), 'payload');
    return tunnel;
  };
  /** @type {number[]} */
  let pids = [];
  await withLent(['sing-box-pair'], async (pair) => {
    pids = pidsOf(pair);
    (await open(pair)).close();
  });
  /** @type {Awaited<ReturnType<typeof open>> | undefined} */
  let tunnel;
  const leaves = withLent(['sing-box-pair'], async (pair) => {
    assert.deepEqual(pidsOf(pair), pids, 'the same one');
    tunnel = await open(pair);
  });
  await assert.rejects(leaves, /lender\.test\.js left sing-box-pair: 1 tunnels left: 127\.0\.0\.1:\d+/);
  tunnel?.close();
  server.close();
});

test('a pair that was killed fails its borrower by name, and the next borrower gets a new one', async () => {
  /** @type {number[]} */
  let pids = [];
  const kills = withLent(['sing-box-pair'], async (pair) => {
    pids = pidsOf(pair);
    const killed = processOf(pids[0]);
    process.kill(killed.pid, 'SIGKILL');
    await until(() => !isAlive(killed), 'the end of the server');
  });
  await assert.rejects(kills, /lender\.test\.js left sing-box-pair: process server \(\d+\) ended/);
  await withLent(['sing-box-pair'], async (pair) => {
    assert.deepEqual(
      pidsOf(pair).filter((pid) => pids.includes(pid)),
      [],
    );
  });
});

test('whatever ends the process that lends, its systems end with it', async () => {
  const script = `import { lend } from '${join(ROOT, 'tests/support/lend.js')}';
    await lend('sing-box-pair');
    console.log('lent');
    setInterval(() => {}, 1000);`;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGKILL'])) {
    // Without the lender of this run.
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script, 'a-test'], {
      env: cleanEnvironment(),
    });
    await once(child.stdout, 'data');
    const all = descendants(Number(child.pid));
    assert.ok(all.length >= 3, 'a sidecar and a pair');
    child.kill(signal);
    await until(() => !all.some(isAlive), 'the end of all');
  }
});
