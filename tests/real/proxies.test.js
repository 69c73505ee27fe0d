/** The real data-plane testbeds: each carries bytes, and leaves nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { secureSocket } from '../support/certificates.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { commandLines, descendants, isAlive, until } from '../support/processes.js';
import { startSidecar } from '../support/sidecar.js';
import { associate, connectTunnel } from '../support/socks5.js';

const STAND_IN = join(ROOT, 'tests/fixtures/socks');

/** @typedef {{ variables?: object, processes?: string[], version?: [string, string] }} Testbed */

const pair = ['server', 'client'];
const pairWithSite = ['site', ...pair];
const testbeds = /** @type {[string, Testbed][]} */ ([
  ['sing-box', { version: ['sing-box', '1.12.12'] }],
  ['sing-box', { variables: { auth: true, gomaxprocs: 1, gogc: 50 } }],
  ['sing-box-pair', { processes: pair, version: ['sing-box', '1.12.12'] }],
  ['sing-box-pair', { processes: pair, variables: { multiplex: true, cipher: 'chacha20-ietf-poly1305' } }],
  ['xray', { version: ['xray', '26.3.27'] }],
  ['xray', { variables: { auth: true, buffer_kib: 0, udp_receive_kib: 64 } }],
  ['xray', { variables: { tls: true } }],
  ['xray-pair', { processes: pair, version: ['xray', '26.3.27'] }],
  ['xray-pair', { processes: pair, variables: { tls: true, auth: true } }],
  ['xray-pair', { processes: pair, variables: { auth: true, cipher: 'aes-256-gcm', udp_receive_kib: 64 } }],
  ['socks-pair', { processes: pairWithSite, variables: { binary: STAND_IN } }],
  ['socks-pair', { processes: pairWithSite, variables: { binary: STAND_IN, auth: true } }],
  ['socks-next-pair', { processes: pairWithSite, variables: { binary: STAND_IN } }],
  ['socks-next-pair', { processes: pairWithSite, variables: { binary: STAND_IN, auth: true, vision: true } }],
]);

const logs = temporaryFolder('proxies');
const tcp = createServer((socket) => socket.on('error', () => {}).pipe(socket));
const udp = createSocket('udp4');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;

before(async () => {
  tcp.listen(0, '127.0.0.1');
  udp.on('message', (data, { port, address }) => udp.send(data, port, address));
  udp.bind(0, '127.0.0.1');
  await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
  sidecar = await startSidecar(logs.path);
});

after(async () => {
  await sidecar.stop();
  tcp.close();
  udp.close();
  logs.remove();
});

/** @param {any} instance */
function reach({ outputs, secret_outputs: secrets }) {
  const { hostname: host, port } = new URL(outputs.DATAPLANE_URL.replace('socks5:', 'http:'));
  const [username, password] = [outputs.DATAPLANE_USERNAME, secrets.DATAPLANE_PASSWORD];
  const { DATAPLANE_CA: ca, DATAPLANE_SERVER_NAME: servername } = outputs;
  const of = { host, port: Number(port) };
  const secured = ca ? { secured: () => secureSocket({ ...of, servername, ca: readFileSync(ca) }) } : {};
  return { proxy: { ...of, ...secured }, user: username ? { username, password } : undefined };
}

/** @param {import('node:net').AddressInfo | string | null} address */
const at = (address) => ({
  host: '127.0.0.1',
  port: /** @type {import('node:net').AddressInfo} */ (address).port,
});

/** @param {ReturnType<typeof reach>} place */
async function moveBytes({ proxy, user }) {
  const tunnel = await connectTunnel(proxy, at(tcp.address()), user);
  for (const size of [1, 1024, 300_000]) {
    const data = randomBytes(size);
    assert.ok(data.equals(await tunnel.roundTrip(data)), `${size} bytes over TCP`);
  }
  tunnel.close();
  const relay = await associate(proxy, user);
  assert.equal(relay.relay.host, '127.0.0.1');
  for (const size of [1, 512, 1400]) {
    const data = randomBytes(size);
    const answer = await relay.roundTrip(at(udp.address()), data);
    assert.ok(data.equals(answer.data), `${size} bytes over UDP`);
    assert.deepEqual(answer.from, at(udp.address()));
  }
  relay.close();
}

for (const [name, { variables = {}, processes = ['proxy'], version }] of testbeds) {
  test(`${name} ${JSON.stringify(variables)}: TCP and UDP go through, and nothing is left`, async () => {
    const cpus = String(availableParallelism() - 1);
    const instance = await sidecar.start(name, { ...variables, cpus });
    const started = descendants(sidecar.pid);
    try {
      assert.deepEqual(
        instance.processes.map((/** @type {any} */ one) => [one.name, one.role, one.cpus]),
        processes.map((process) => [process, process === 'site' ? 'support' : 'system', cpus]),
      );
      if (version) assert.equal(instance.versions[version[0]], version[1]);
      const place = reach(instance);
      assert.equal('secured' in place.proxy, 'tls' in variables);
      assert.equal(place.user !== undefined, 'auth' in variables);
      if (place.user) {
        await assert.rejects(connectTunnel(place.proxy, at(tcp.address())), /wants method/);
        const wrong = { ...place.user, password: 'wrong' };
        await assert.rejects(connectTunnel(place.proxy, at(tcp.address()), wrong));
        assert.ok(!commandLines().join().includes(place.user.password));
      }
      await moveBytes(place);
    } finally {
      await sidecar.ask('DELETE', `/instances/${instance.id}`);
    }
    assert.ok(started.length > processes.length, 'the processes were seen');
    assert.deepEqual(started.filter(isAlive), []);
  });
}

test('keys are made anew at each start and appear in no log and no argument', async () => {
  const variables = { binary: STAND_IN };
  const one = await sidecar.start('socks-pair', variables);
  const two = await sidecar.start('socks-pair', variables);
  const keys = [one, two].map(({ processes }) => {
    const { pid } = processes.find(({ name }) => name === 'server');
    const folder = `/proc/${pid}/cwd`;
    return JSON.parse(readFileSync(`${folder}/server.json`, 'utf8')).reality.private_key;
  });
  assert.ok(keys[0] !== keys[1] && keys.every((key) => /^[\w-]{43}$/.test(key)));
  const seen = commandLines().join();
  const written = readdirSync(logs.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'))
    .join();
  for (const key of keys) assert.ok(!seen.includes(key) && !written.includes(key));
  for (const { id } of [one, two]) await sidecar.ask('DELETE', `/instances/${id}`);
});

for (const [name, variables, error] of /** @type {[string, object, RegExp][]} */ ([
  ['socks-pair', {}, /socks-pair needs its variable binary: the absolute path of your socks binary/],
  ['socks-pair', { binary: 'socks' }, /variable binary of testbed socks-pair is socks, and must be/],
  ['socks-pair', { binary: '/nowhere/socks' }, /socks-pair needs \/nowhere\/socks, which does not exist/],
  [
    'socks-pair',
    { binary: STAND_IN, udp_session_recv_channel_capacity: 65536 },
    /must be an integer from 1 to 65535/,
  ],
  ['socks-pair', { binary: '/bin/true' }, /generate reality .*\/bin\/true x25519 printed 0 lines/],
  ['xray', { binary: '/bin' }, /process proxy of testbed xray: there is no program \/bin/],
  ['sing-box', { cpus: '4096' }, /variable cpus of testbed sing-box is 4096/],
])) {
  test(`${name} ${JSON.stringify(variables)} is refused in one line`, async () => {
    const { status, body } = await sidecar.ask('POST', `/testbeds/${name}/start`, { variables });
    assert.ok([422, 502].includes(status), String(status));
    assert.match(body.error, error);
    assert.ok(body.mend.length > 0 && !`${body.error}${body.mend}`.includes('\n'));
  });
}

test('socks-pair keeps five tunnels up, and no more', async () => {
  const instance = await sidecar.start('socks-pair', { binary: STAND_IN });
  const server = `127.0.0.1:${instance.variables.server_port}`;
  const tunnels = () => spawnSync('ss', ['-Htn', 'state', 'established', 'dst', server]).stdout.toString();
  await until(() => tunnels().split('\n').filter(Boolean).length === 5, 'five connections to the server');
  await sidecar.ask('DELETE', `/instances/${instance.id}`);
});

/** Starts a testbed in a network with only loopback. @param {string} name @param {string[]} more */
function startAlone(name, more = []) {
  const variables = [`binary=${STAND_IN}`, ...more].flatMap((text) => ['--var', text]);
  const script = `ip link set lo up && exec bin/sidecar testbed run ${name} --log-dir "$LOGS" "$@" -- true`;
  return spawnSync('unshare', ['--net', 'sh', '-c', script, 'sh', ...variables], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, LOGS: logs.path },
  });
}

for (const name of ['socks-pair', 'socks-next-pair']) {
  test(`${name} asks nothing outside of this machine: it starts without a network`, () => {
    const { status, stderr } = startAlone(name);
    assert.equal(status, 0, stderr);
  });
}

test('the stand-in wants what the real one wants', async () => {
  const { path, remove } = temporaryFolder('socks');
  const keys = { private_key: 'p', public_key: 'k', short_id: '01', sni: 'windtunnel.invalid' };
  const queues = { udp_session_recv_channel_capacity: 128, tproxy_udp_dispatch_queue_capacity: 2048 };
  const shared = { reality: keys, timeout: { idle: 1 }, limits: { max_connections: 5 }, queues };
  const refused = (mode, more) => {
    writeFileSync(`${path}/${mode}.json`, JSON.stringify({ mode, ...shared, ...more }));
    return spawnSync(STAND_IN, ['-c', `${mode}.json`], { cwd: path, encoding: 'utf8' }).stderr;
  };
  const place = { host: '127.0.0.1', port: 1 };
  const client = { outbound: place, socks: { ...place, auth: false }, tproxy: { enabled: false } };
  assert.match(refused('client', client), /failed to load router data: block_ip.txt, direct_ip.txt/);
  assert.match(refused('server', { inbound: place }), /windtunnel.invalid:443 does not answer/);
  const long = { queues: { ...queues, udp_session_recv_channel_capacity: 65536 } };
  assert.match(refused('client', { ...client, ...long }), /queues must be 1-65535/);
  remove();
});

test('two builds are compared by the path of the binary', async () => {
  const instance = await sidecar.start('sing-box', { binary: join(ROOT, 'bin/sing-box') });
  await moveBytes(reach(instance));
  await sidecar.ask('DELETE', `/instances/${instance.id}`);
});

test('a sidecar that is killed leaves no proxy, and none of the stand-in’s own', async () => {
  const other = await startSidecar(logs.path);
  await other.start('socks-pair', { binary: STAND_IN });
  await other.start('xray-pair', {});
  const started = descendants(other.pid);
  assert.ok(started.length >= 10, 'four proxies, the site and their guards');
  process.kill(other.pid, 'SIGKILL');
  await until(() => !started.some(isAlive), 'the end of all');
  await other.stop();
});

test('k6 x validate finds every testbed valid', () => {
  const files = readdirSync(`${ROOT}/testbeds`).filter((name) => name.endsWith('.toml'));
  const checked = spawnSync('bin/k6', ['x', 'validate', ...files.map((name) => `testbeds/${name}`)], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  assert.match(checked.stdout, new RegExp(`${files.length} files valid`));
});
