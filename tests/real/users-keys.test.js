/** Real servers take the connections of the sidecar's own user probes, each with its user's key, and refuse the key of an unknown user. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { usersAt } from '../../lib/users/testbed.js';
import { temporaryFolder } from '../support/k6.js';
import { patientMs } from '../support/patience.js';
import { probe } from '../support/rows.js';
import { startSidecar } from '../support/sidecar.js';

const USERS = 3;
/** More than one chunk of Shadowsocks. */
const BYTES = 40_000;
const REQUESTS = 30;
/** Servers by engine, protocol and TLS. @type {[string, string, boolean][]} */
const SERVERS = [
  ['xray', 'vless', false],
  ['xray', 'trojan', true],
  ['xray', 'shadowsocks', false],
  ['xray', 'shadowsocks-2022', false],
  ['sing-box', 'vless', true],
  ['sing-box', 'trojan', false],
  ['sing-box', 'shadowsocks-2022', false],
];

const logs = temporaryFolder('users-keys');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
before(async () => {
  sidecar = await startSidecar(logs.path);
});
after(async () => {
  await sidecar.stop();
  logs.remove();
});

for (const [engine, protocol, tls] of SERVERS)
  test(`${engine} carries data of users of ${protocol}${tls ? ' in TLS' : ''}, and of no stranger`, async () => {
    const server = await sidecar.start('users', { engine, protocol, tls, users: USERS });
    const { body: echo } = await sidecar.ask('POST', '/echoes', { engine: 'events' });
    /** @param {number[]} places @param {object} spec */
    const outcomeOf = async (places, spec) =>
      (await probe(sidecar, { target: echo.tcp, users: usersAt(server, places), ...spec })).outcome;
    try {
      const all = [0, 1, USERS - 1];
      const once = { kind: 'users', payload_bytes: BYTES, timeout_ms: patientMs(5000) };
      const known = await outcomeOf(all, once);
      assert.equal(known.succeeded, USERS, JSON.stringify(known));
      assert.equal(known.far_end.bytes_up.found, USERS * BYTES);
      const steady = { kind: 'steady', payload_bytes: 64, timeout_ms: patientMs(5000) };
      const kept = await outcomeOf(all, { ...steady, count: REQUESTS });
      assert.equal(kept.succeeded, REQUESTS, JSON.stringify(kept));
      // A refusal may be silence, so that it takes the whole timeout.
      const stranger = await outcomeOf([USERS], { ...once, timeout_ms: 1000 });
      assert.deepEqual([stranger.succeeded, stranger.users[0].received], [0, 0], JSON.stringify(stranger));
      assert.equal(stranger.far_end.connections.found, 0);
    } finally {
      await sidecar.ask('DELETE', `/echoes/${echo.id}`);
      await sidecar.ask('DELETE', `/instances/${server.id}`);
    }
  });
