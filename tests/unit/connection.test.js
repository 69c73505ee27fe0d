/** How a plain `bin/k6 run` reaches a system: certificates, addresses, and no influence of the shell's variables. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../support/processes.js';
import { K6, ROOT, cleanEnvironment, start, temporaryFolder, writeEnvironment } from '../support/k6.js';

const folder = temporaryFolder('connection');
after(folder.remove);
const file = (/** @type {string} */ name) => join(folder.path, name);

/** @param {string} name @param {string} san @param {string[]} [signed] */
function certificate(name, san, signed = []) {
  const of = ['-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, ...of, '-addext', `subjectAltName=${san}`, ...signed], {
    stdio: 'pipe',
  });
}
certificate('system', 'DNS:relay.internal,IP:127.0.0.1');
certificate('client', 'DNS:client');
const read = (/** @type {string} */ name) => readFileSync(file(name));

const SCRIPT = file('script.js');
writeFileSync(
  SCRIPT,
  `import http from 'k6/http';
import { WebSocket } from 'k6/websockets';
import { loadSystem, whyNone } from ${JSON.stringify(pathToFileURL(join(ROOT, 'lib/environment.js')).href)};
import { fromShell } from 'k6/x/windtunnel/environment';
const relay = loadSystem('pulsar');
export const options = { ...relay.connection.options, iterations: 1 };
export default function run() {
  const { options, ...way } = relay.connection;
  const answer = http.get(relay.url, { timeout: '5s' });
  const told = { ...way, status: answer.status, host: answer.body, why: answer.status === 0 ? whyNone(relay.url, answer) : '', shell: fromShell() };
  const tell = () => console.log('TOLD ' + JSON.stringify(told));
  const socket = new WebSocket(relay.websocket.url);
  socket.onerror = (event) => { told.socket = event.error; tell(); };
  socket.onopen = () => { told.socket = 'open'; tell(); socket.close(); };
}
`,
);

/** @param {string} url @param {object} change of the system @param {Record<string, string>} [shell] */
async function reach(url, change, shell = {}) {
  const ENV = writeEnvironment(folder.path, {
    url,
    auth: { mode: 'none' },
    websocket: { auth: 'none' },
    ...change,
  });
  const { output, ended } = start(K6, ['run', '--no-usage-report', '--log-format', 'raw', SCRIPT], {
    env: { ...cleanEnvironment(), ENV, ...shell },
  });
  await ended;
  const line = output.stderr.split('\n').find((text) => text.startsWith('TOLD '));
  return { told: line ? JSON.parse(line.slice(5)) : {}, said: output.stderr };
}

/** @param {import('node:http').Server} server @param {string} [host] @returns {Promise<number>} */
async function portOf(server, host = '127.0.0.1') {
  await new Promise((resolve, reject) => server.listen(0, host, () => resolve(null)).once('error', reject));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

/** @type {import('node:http').RequestListener} */
const tellHost = (request, response) => response.end(request.headers.host);
/** A refused WebSocket handshake (RFC 6455) also shows that TLS succeeded. */
const secure = (/** @type {import('node:https').ServerOptions} */ more = {}) =>
  createSecureServer({ key: read('system.key'), cert: read('system.pem'), ...more }, tellHost);

test('a self-signed certificate: the remedy is told, and each of them works', async () => {
  const port = await portOf(secure());
  const url = `https://127.0.0.1:${port}`;
  const refused = await reach(url, {});
  assert.equal(refused.told.status, 0, refused.said);
  assert.match(
    refused.told.why,
    /its certificate is self-signed: give that certificate as tls\.ca, or set tls\.insecure/,
  );

  const trusted = await reach(url, { tls: { ca: 'system.pem' } });
  assert.equal(trusted.told.status, 200, trusted.said);
  assert.match(trusted.told.parameters.tls, /^ca [0-9a-f]{12}$/);
  assert.match(trusted.told.socket, /bad handshake/, 'the WebSocket got through TLS');

  const blind = await reach(url, { tls: { insecure: true } });
  assert.equal(blind.told.status, 200, blind.said);
  assert.match(blind.told.notes.join(), /no certificate was verified/);

  const named = await reach(url, { tls: { ca: 'system.pem', server_name: 'relay.internal' } });
  assert.deepEqual([named.told.status, named.told.host], [200, `relay.internal:${port}`], named.said);
});

test('a client certificate that is demanded', async () => {
  const port = await portOf(secure({ requestCert: true, rejectUnauthorized: true, ca: read('client.pem') }));
  const url = `https://127.0.0.1:${port}`;
  const without = await reach(url, { tls: { ca: 'system.pem' } });
  assert.match(
    without.told.why,
    /the server requires a client certificate: set tls\.client_cert and tls\.client_key/,
    without.said,
  );
  const tls = { ca: 'system.pem', client_cert: 'client.pem', client_key: 'client.key' };
  const given = await reach(url, { tls });
  assert.equal(given.told.status, 200, given.said);
  const key = read('client.key').toString().split('\n')[1];
  assert.ok(!JSON.stringify(given).includes(key), 'the key is nowhere');
});

test('a system at ::1 alone is found by the name localhost', async (t) => {
  const port = await portOf(createServer(tellHost), '::1').catch(() => 0);
  if (!port) {
    t.skip('this machine has no ::1');
    return;
  }
  const { told, said } = await reach(`http://localhost:${port}`, {});
  assert.equal(told.status, 200, said);
  assert.match(told.notes.join(), /localhost was reached at ::1/);
});

test("what the shell says of path and trust is named and not used, and k6's own settings are told", async () => {
  const system = createServer(tellHost);
  const port = await portOf(system);
  const shell = {
    GODEBUG: 'http2client=0',
    SSL_CERT_FILE: file('system.pem'),
    http_proxy: 'http://127.0.0.1:9',
  };
  const { told, said } = await reach(
    `http://127.0.0.1:${port}`,
    {},
    { ...shell, K6_NO_CONNECTION_REUSE: 'true' },
  );
  assert.equal(told.status, 200, said);
  assert.match(said, /not passed on to what measures, .*: GODEBUG, SSL_CERT_FILE, http_proxy;/);
  assert.equal(told.shell, 'K6_NO_CONNECTION_REUSE=true');
  assert.match(said, /k6 takes settings from the shell, .*: K6_NO_CONNECTION_REUSE=true/);

  const secured = await portOf(secure());
  const distrusted = await reach(`https://127.0.0.1:${secured}`, {}, { SSL_CERT_FILE: file('system.pem') });
  assert.equal(distrusted.told.status, 0, 'a certificate of the shell is not trusted');
});

test('with proxy in the environment, requests and WebSockets go through that proxy', async () => {
  const system = createServer(tellHost);
  const port = await portOf(system);
  const spare = createServer();
  const through = await portOf(spare);
  spare.close();
  const config = {
    log: { level: 'info' },
    inbounds: [{ type: 'http', tag: 'in', listen: '127.0.0.1', listen_port: through }],
    outbounds: [{ type: 'direct', tag: 'direct' }],
    route: {
      rules: [{ inbound: 'in', action: 'route', outbound: 'direct', override_address: '127.0.0.1' }],
    },
  };
  writeFileSync(file('proxy.json'), JSON.stringify(config));
  const proxy = spawn(join(ROOT, 'bin/sing-box'), ['run', '--disable-color', '-c', file('proxy.json')]);
  let log = '';
  proxy.stderr.on('data', (text) => (log += text));
  try {
    await until(() => log.includes('sing-box started') || proxy.exitCode !== null, 'the proxy has started');
    const name = `relay.internal:${port}`;
    const { told, said } = await reach(
      `http://${name}`,
      { proxy: `http://127.0.0.1:${through}` },
      { CONFIRM_REMOTE: 'relay.internal' },
    );
    assert.deepEqual([told.status, told.host], [200, name], `${said}\n${log}`);
    assert.match(told.notes.join(), new RegExp(`127\\.0\\.0\\.1:${through}`));
    assert.match(told.socket, /bad handshake/, 'the WebSocket got through the proxy');
    assert.equal(log.match(new RegExp(`inbound connection to ${name}`, 'g'))?.length, 2, log);
  } finally {
    if (proxy.kill()) await once(proxy, 'exit');
  }
});
