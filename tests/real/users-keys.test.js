/** Real servers take the connections and datagrams of the sidecar's own user probes, each with its user's key, and refuse an unknown key. */
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
const DATAGRAM_BYTES = 1200;
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
    /** @param {number[]} places @param {{ udp?: boolean, bytes?: number, [field: string]: unknown }} spec */
    const outcomeOf = async (places, { udp = false, bytes, ...spec }) => {
      const users = { ...usersAt(server, places, bytes), udp };
      return (await probe(sidecar, { target: udp ? echo.udp : echo.tcp, users, ...spec })).outcome;
    };
    try {
      const all = [0, 1, USERS - 1];
      const once = { kind: 'users', payload_bytes: BYTES, timeout_ms: patientMs(5000) };
      const known = await outcomeOf(all, once);
      assert.equal(known.succeeded, USERS, JSON.stringify(known));
      assert.equal(known.far_end.bytes_up.found, USERS * BYTES);
      const steady = { kind: 'steady', payload_bytes: 64, timeout_ms: patientMs(5000) };
      const kept = await outcomeOf(all, { ...steady, count: REQUESTS });
      assert.equal(kept.succeeded, REQUESTS, JSON.stringify(kept));
      const apart = { ...once, udp: true, bytes: BYTES, payload_bytes: DATAGRAM_BYTES };
      const datagrams = await outcomeOf(all, apart);
      assert.equal(datagrams.succeeded, USERS, JSON.stringify(datagrams));
      const { bytes_up: up, bytes_down: down, datagrams_down: number } = datagrams.far_end;
      const each = Math.ceil(BYTES / DATAGRAM_BYTES);
      assert.deepEqual(
        [up.found, down.found, number.found],
        [BYTES, BYTES, each].map((one) => USERS * one),
      );
      // A refusal may be silence, so that it takes the whole timeout.
      for (const spec of [once, apart]) {
        const stranger = await outcomeOf([USERS], { ...spec, timeout_ms: 1000 });
        const { connections, datagrams_up: arrived } = stranger.far_end;
        const { received } = stranger.users[0];
        const reached = (arrived ?? connections).found;
        assert.deepEqual([stranger.succeeded, received, reached], [0, 0, 0], JSON.stringify(stranger));
      }
    } finally {
      await sidecar.ask('DELETE', `/echoes/${echo.id}`);
      await sidecar.ask('DELETE', `/instances/${server.id}`);
    }
  });
