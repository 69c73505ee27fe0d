/** Every row of the protocol matrix for real: verified payload goes through a client and a server, and nothing is left. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf } from '../../lib/protocols/matrix.js';
import { temporaryFolder } from '../support/k6.js';
import { patientMs } from '../support/patience.js';
import { commandLines, descendants, isAlive, processOf, until } from '../support/processes.js';
import { binaryOf, probe, variablesOf, way } from '../support/rows.js';
import { startSidecar } from '../support/sidecar.js';

const ROUND_TRIPS = 100;
const LOST_MOST = 5;
/** XHTTP's packet-up waits 30 ms after each POST. */
const PACED_ROUND_TRIPS = 20;
/** Time for a transfer: 5 s were once too few through xray's WireGuard beside other tests. */
const PATIENT_MS = patientMs(20_000);
/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;
const MIB = 1024 * 1024;
/** Requirements that a machine may lack, and how each row says so. */
const OPTIONAL = { sshd: '/usr/sbin/sshd' };

const logs = temporaryFolder('protocols');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
/** @type {{ tcp: string, udp: string }} */
let echo;

before(async () => {
  sidecar = await startSidecar(logs.path);
  ({ body: echo } = await sidecar.ask('POST', '/echoes', {}));
});

after(async () => {
  await sidecar.stop();
  logs.remove();
});

/** @param {any} instance @param {'tcp' | 'udp' | 'throughput'} kind @param {object} [more] */
async function move(instance, kind, more = {}) {
  const place = await way(sidecar, instance, echo, kind === 'udp' ? 'udp' : 'tcp');
  return probe(sidecar, { kind, ...place, count: ROUND_TRIPS, ...more });
}

/** Tries of a tunnel, if the engine is known to break some tunnels. */
const TRIES = 12;

/**
 * @param {any} instance
 * @param {Parameters<typeof move>[1]} kind
 * @param {object} more
 * @param {boolean} breaks whether the engine is known to break a tunnel now and then
 */
async function moveWhole(instance, kind, more, breaks) {
  for (let tries = breaks ? TRIES : 1; tries > 1; tries -= 1) {
    const { state, outcome } = await move(instance, kind, more);
    if (state === 'done' && outcome.succeeded === outcome.attempted) return outcome;
  }
  const last = await move(instance, kind, more);
  whole(last);
  return last.outcome;
}

/** The client and the server carried the payload: each used CPU time. @param {any} outcome of a probe that measured what the instance used */
function wentThrough({ usage }) {
  for (const { name, role, cpu_s: cpu } of usage.processes)
    assert.ok(role !== 'system' || cpu > 0, `${name} did nothing`);
}

/** A datagram may be lost, and none may be changed. @param {any} instance @param {boolean} breaks @param {number} count */
async function moveDatagrams(instance, breaks, count) {
  let state;
  let outcome;
  for (let tries = breaks ? TRIES : 1; tries > 0 && !outcome?.succeeded; tries -= 1)
    ({ state, outcome } = await move(instance, 'udp', { count, timeout_ms: 1000 }));
  assert.equal(state, 'done');
  const { lost = 0, ...others } = outcome.errors;
  assert.ok(lost <= LOST_MOST, `${lost} lost`);
  assert.ok(breaks || Object.keys(others).length === 0, JSON.stringify(others));
  assert.ok(outcome.succeeded > 0);
}

/** The processes that are measured. @param {import('../../lib/protocols/matrix.js').Row} row */
function systemsOf({ variables: { protocol, inbound } }) {
  if (inbound === 'tun2proxy') return ['client', 'tun2proxy'];
  return protocol === 'direct' ? ['client'] : ['server', 'client'];
}

/** GSO by row: sing-box 1.12 has it with gvisor and a given MTU alone. @type {Record<string, { mtu: number, gso: boolean }>} */
const DEVICES = {
  tun: { mtu: 65_535, gso: false },
  'tun-system': { mtu: 65_535, gso: false },
  'tun-gvisor': { mtu: 65_535, gso: false },
  'tun-gvisor-1500': { mtu: 1500, gso: true },
  tun2proxy: { mtu: 1500, gso: false },
};

/** @param {any} instance @param {import('../../lib/protocols/matrix.js').Row} row */
async function hasDevice(instance, { row }) {
  const { body } = await sidecar.ask('GET', `/instances/${instance.id}/tun`);
  assert.deepEqual(body.devices, DEVICES[row] ? [{ name: 'tun0', ...DEVICES[row] }] : []);
}

/** Why a row cannot run here. @param {import('../../lib/protocols/matrix.js').Row} row */
function missing({ foreign, since }) {
  if (foreign?.server === 'sshd' && !existsSync(OPTIONAL.sshd)) return `${OPTIONAL.sshd} is not installed`;
  // `make test-engines` builds them.
  return since !== undefined && !existsSync(binaryOf({ since })) && `there is no sing-box ${since} in bin`;
}

/** @param {any} state of a probe that must have moved all it had to */
function whole({ state, outcome, error }) {
  assert.equal(state, 'done', JSON.stringify(error));
  assert.equal(outcome.succeeded, outcome.attempted, JSON.stringify(outcome.errors));
  assert.ok(outcome.succeeded > 0);
}

for (const engine of /** @type {const} */ (['sing-box', 'xray'])) {
  for (const row of rowsOf(engine)) {
    test(`${row.row} on ${engine}: payload goes through whole`, { skip: missing(row) }, async (context) => {
      const variables = { ...variablesOf(row, echo), engine, binary: binaryOf(row) };
      const { status, body: instance } = await sidecar.ask('POST', '/testbeds/protocols/start', {
        variables,
      });
      const locked = /this user is locked/.test(instance.error ?? '');
      if ((status === CANNOT && row.needs) || locked) {
        context.skip(instance.error);
        return;
      }
      assert.equal(status, 201, JSON.stringify(instance));
      const started = descendants(sidecar.pid).filter(({ command }) => !command.startsWith('bin/sidecar'));
      try {
        const systems = instance.processes.filter((/** @type {any} */ { role }) => role === 'system');
        assert.deepEqual(
          systems.map((/** @type {any} */ { name }) => name),
          systemsOf(row),
        );
        await hasDevice(instance, row);
        if (row.dialsAtStart)
          await until(
            async () => Boolean((await move(instance, 'tcp', { count: 1 })).outcome?.succeeded),
            'its tunnel',
          );
        const breaks = Boolean(row.known?.[engine]);
        const count = row.variables.xhttp_mode === 'packet-up' ? PACED_ROUND_TRIPS : ROUND_TRIPS;
        await moveWhole(instance, 'tcp', { count }, breaks);
        const transfer = { bytes: 8 * MIB, write_bytes: 64 * 1024, direction: breaks ? 'down' : 'both' };
        const moved = { transfer, instance: instance.id, timeout_ms: PATIENT_MS };
        wentThrough(await moveWhole(instance, 'throughput', moved, breaks));
        if (row.udp) {
          await moveDatagrams(instance, breaks, count);
        } else {
          const { outcome } = await move(instance, 'udp', { count: 1 });
          assert.ok(!outcome?.succeeded, 'the matrix says that it has no UDP');
        }
      } finally {
        await sidecar.ask('DELETE', `/instances/${instance.id}`);
      }
      assert.ok(started.length > 0);
      assert.deepEqual(started.filter(isAlive), []);
    });
  }
}

for (const inbound of ['redirect', 'tproxy', 'tun']) {
  test(`${inbound}: past a client that takes nothing, nothing gets there`, async (context) => {
    const { status, body: instance } = await sidecar.ask('POST', '/testbeds/protocols/start', {
      variables: { protocol: 'direct', inbound },
    });
    if (status === CANNOT) {
      context.skip(instance.error);
      return;
    }
    assert.equal(status, 201, JSON.stringify(instance));
    try {
      // The client would pass a connection to its own port on to itself, up to the limit of open files.
      await sleep(500);
      const open = readdirSync(`/proc/${instance.processes[0].pid}/fd`).length;
      assert.ok(open < 100, `${open} open files before there was any traffic`);
      whole(await move(instance, 'tcp', { count: 1 }));
      const client = processOf(instance.processes[0].pid);
      process.kill(client.pid, 'SIGKILL');
      await until(() => !isAlive(client), 'the end of the client');
      for (const kind of /** @type {const} */ (['tcp', 'udp'])) {
        const { outcome } = await move(instance, kind, {
          count: 1,
          handshake_timeout_ms: 1000,
          timeout_ms: 1000,
        });
        assert.ok(!outcome?.succeeded, `${kind} is forwarded`);
      }
    } finally {
      await sidecar.ask('DELETE', `/instances/${instance.id}`);
    }
  });
}

test('block refuses', async () => {
  const instance = await sidecar.start('protocols', { protocol: 'block' });
  for (const kind of /** @type {const} */ (['tcp', 'udp'])) {
    const { error, outcome } = await move(instance, kind, { count: 1, timeout_ms: 5000, stall_ms: 10_000 });
    const kinds = error ? [error.kind] : Object.keys(outcome.errors);
    assert.deepEqual(kinds, [kind === 'tcp' ? 'socks_not_allowed' : 'control_closed']);
  }
  await sidecar.ask('DELETE', `/instances/${instance.id}`);
});

test('user and password are asked for, and no secret is in an argument', async () => {
  const instance = await sidecar.start('protocols', { protocol: 'trojan', security: 'tls', auth: true });
  whole(await move(instance, 'tcp'));
  const { proxy } = await way(sidecar, instance, echo, 'tcp');
  const wrong = { address: proxy.address, username: proxy.username, password: 'wrong' };
  const { error } = await move(instance, 'tcp', { proxy: wrong, count: 1 });
  assert.equal(error.kind, 'socks_auth_failed');
  assert.ok(!commandLines().join().includes(proxy.password));
  await sidecar.ask('DELETE', `/instances/${instance.id}`);
});

/** A program that is no proxy. @param {string} name @param {string} text */
function program(name, text) {
  const path = join(logs.path, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

for (const [what, binary, error] of /** @type {[string, () => string, RegExp][]} */ ([
  ['is missing', () => '/nowhere/sing-box', /needs \/nowhere\/sing-box, which does not exist/],
  ['crashes at the start', () => program('crash', 'kill -SEGV $$'), /server of testbed protocols .*signal/],
  [
    'refuses the configuration',
    () => program('refuse', 'echo "FATAL decode config: unknown inbound type: anytls" >&2; exit 1'),
    /server of testbed protocols .*unknown inbound type: anytls/,
  ],
])) {
  test(`a binary that ${what} is named in one line`, async () => {
    const variables = { protocol: 'anytls', security: 'tls', binary: binary() };
    const { status, body } = await sidecar.ask('POST', '/testbeds/protocols/start', { variables });
    assert.ok([422, 502].includes(status), String(status));
    assert.match(body.error, error);
    assert.ok(!body.error.includes('\n'));
  });
}
