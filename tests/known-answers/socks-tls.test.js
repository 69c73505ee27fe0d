/** SOCKS5 in TLS: what a probe sends arrives whole, and each fault of a certificate has its line. Node.js speaks TLS by OpenSSL, the probe by rustls. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { AUTHORITY, certificates, secureSocket, startTLS } from '../support/certificates.js';
import { operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { startSidecar } from '../support/sidecar.js';
import { startSocksServer } from '../support/socks-server.js';
import { connectTunnel } from '../support/socks5.js';

const folder = temporaryFolder('socks-tls');
const { issue, expired, file } = certificates(folder.path);
const authority = issue('authority', { extensions: AUTHORITY });
const LEAF = ['subjectAltName=DNS:proxy.test,IP:127.0.0.1', 'basicConstraints=CA:FALSE'];
const made = {
  own: issue('own'),
  // `openssl req -x509` makes this kind by default.
  ownAuthority: issue('own-authority', {
    extensions: ['subjectAltName=IP:127.0.0.1', 'basicConstraints=critical,CA:TRUE'],
  }),
  signed: issue('signed', { by: authority, extensions: LEAF }),
  nameless: issue('nameless', { extensions: ['basicConstraints=CA:FALSE'] }),
  other: issue('other', { extensions: ['subjectAltName=DNS:proxy.test'] }),
  old: expired('old'),
  client: issue('client', { by: authority, extensions: ['extendedKeyUsage=clientAuth'] }),
  stranger: issue('stranger', { extensions: ['extendedKeyUsage=clientAuth'] }),
};

/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
/** @type {{ id: string, tcp: string }} */
let echo;
/** @type {Awaited<ReturnType<typeof startSocksServer>>} */
let socks;
const portOf = (/** @type {string} */ url) => Number(url.split(':').at(-1));

before(async () => {
  sidecar = await startSidecar(folder.path);
  echo = (await sidecar.ask('POST', '/echoes', { engine: 'blocking' })).body;
  socks = await startSocksServer('silent', Infinity);
});
after(async () => {
  socks.stop();
  await sidecar.stop();
  folder.remove();
});

/**
 * @param {import('node:tls').TlsOptions} options
 * @param {(server: Awaited<ReturnType<typeof startTLS>>) => Promise<void>} what
 */
async function withTLS(options, what) {
  const server = await startTLS(portOf(socks.url), options);
  try {
    await what(server);
  } finally {
    server.stop();
  }
}

/** @param {object} spec */
async function probe(spec) {
  const { status, body } = await sidecar.ask('POST', '/probes', { target: echo.tcp, ...spec });
  if (status !== 201) return { refused: `${body.error}; ${body.mend}` };
  for (;;) {
    const { body: found } = await sidecar.ask('GET', `/probes/${body.id}?wait_s=20`);
    if (found.state !== 'running') return found;
  }
}
const ONE = { kind: 'handshake', first_reply: true, payload_bytes: 64, count: 1, handshake_timeout_ms: 2000 };
const DEMANDED = { requestCert: true, rejectUnauthorized: true, ca: authority.cert };
const trusting = { ca: authority.cert };

for (const [what, options, tls, line] of /** @type {[string, object, object, RegExp][]} */ ([
  ['self-signed', made.own, {}, /its certificate is self-signed: give that certificate as tls\.ca, or set/],
  ['self-signed, with CA:TRUE', made.ownAuthority, {}, /its certificate is self-signed: give that/],
  ['of a private authority', made.signed, {}, /by an authority that this machine does not trust: give that/],
  ['of another authority', made.signed, { ca: made.own.cert }, /is not signed by tls\.ca: set tls\.ca/],
  [
    'without SAN',
    made.nameless,
    { ca: made.nameless.cert },
    /no subject .* \(SAN\): reissue the certificate with the SAN 127\.0\.0\.1/,
  ],
  [
    'for another name',
    made.other,
    { ca: made.other.cert },
    /is for proxy\.test, not 127\.0\.0\.1: set tls\.s/,
  ],
  ['expired', made.old, { ca: made.old.cert }, /its certificate expired on 2020-02-01: renew it/],
  [
    'client demanded',
    { ...made.signed, ...DEMANDED },
    trusting,
    /the server requires a client certificate: set tls\.client_/,
  ],
  [
    'client demanded by TLS 1.2',
    { ...made.signed, ...DEMANDED, maxVersion: 'TLSv1.2' },
    trusting,
    /the server requires a client certificate: set tls\.client_cert and tls\.client_key/,
  ],
  [
    'wrong client',
    { ...made.signed, ...DEMANDED },
    { ...trusting, client_cert: made.stranger.cert, client_key: made.stranger.key },
    /the server refuses the client certificate.*: check that tls\.client_cert has not expired/,
  ],
]))
  test(`a certificate ${what}: one line with the cause and the remedy`, () =>
    withTLS(options, async ({ address }) => {
      const { state, error } = await probe({ ...ONE, proxy: { address, tls } });
      assert.deepEqual([state, error?.kind], ['failed', 'tls'], JSON.stringify(error));
      assert.match(error.message, line);
      // The other way to open tunnels says the same.
      const many = await probe({ kind: 'concurrency', connections: 2, count: 2, proxy: { address, tls } });
      assert.equal(many.error?.kind, 'tls');
      assert.match(many.error.message, line);
    }));

test('TLS where there is none, and none where there is', async () => {
  const plain = await startSocksServer('garbage');
  const { error } = await probe({ ...ONE, proxy: { address: plain.url.slice(9), tls: {} } });
  assert.match(error.message, /the server does not use TLS: remove tls from the environment/);
  plain.stop();
  const silent = await startSocksServer('silent');
  const late = await probe({ ...ONE, proxy: { address: silent.url.slice(9), tls: {} } });
  assert.match(
    late.error.message,
    /TLS handshake: no answer in time; does it speak TLS\? If not, leave tls out/,
  );
  silent.stop();
});

for (const [field, tls, line] of /** @type {[string, object, RegExp][]} */ ([
  ['ca', { ca: 'no PEM' }, /tls\.ca: it holds no certificate in PEM/],
  ['client_key', { client_cert: made.client.cert }, /client_cert and client_key go together/],
  [
    'a pair',
    { client_cert: made.client.cert, client_key: made.own.key },
    /tls\.client_cert and tls\.client_key: /,
  ],
  ['server_name', { server_name: 'a b' }, /tls\.server_name: "a b" is neither a name nor an address/],
  ['colour', { colour: 1 }, /colour/],
]))
  test(`a wrong ${field} is refused in one line`, async () => {
    const { refused } = await probe({ ...ONE, proxy: { address: '127.0.0.1:1', tls } });
    assert.match(refused, line);
    assert.ok(!refused.includes('\n') && !refused.includes('PRIVATE'));
  });

describe('bytes are whole', () => {
  for (const [what, options, tls] of /** @type {[string, object, object][]} */ ([
    ['its own certificate', made.own, { ca: made.own.cert }],
    ['its own certificate with CA:TRUE', made.ownAuthority, { ca: made.ownAuthority.cert }],
    ['an authority, another name', made.signed, { ...trusting, server_name: 'proxy.test' }],
    ['TLS 1.2', { ...made.signed, maxVersion: 'TLSv1.2' }, trusting],
    ['nothing verified', made.old, { insecure: true }],
    [
      'a client certificate',
      { ...made.signed, ...DEMANDED },
      { ...trusting, client_cert: made.client.cert, client_key: made.client.key },
    ],
  ]))
    test(`by ${what}, for each kind of probe`, () =>
      withTLS(options, async ({ address, spoken }) => {
        const MIB = 1 << 20;
        for (const spec of [
          { kind: 'tcp', count: 200, warmup: 10 },
          { kind: 'tcp', count: 20, payload_bytes: 300_000 },
          { kind: 'tcp', count: 200, wait: 'yield' },
          { kind: 'tcp', count: 100, connections: 10, payload_bytes: 100_000 },
          { kind: 'handshake', first_reply: true, count: 20, connections: 2 },
          { kind: 'handshake', count: 20 },
          { kind: 'concurrency', count: 200, connections: 40 },
          ...['up', 'down', 'both'].map((direction) => ({
            kind: 'throughput',
            connections: 2,
            transfer: { bytes: 8 * MIB, direction, every_byte: true },
          })),
          { kind: 'fetch', count: 4, fetch: { bytes: MIB, objects: 6, tunnels: 3, fresh: true } },
          ...['neither', 'up', 'down'].map((direction) => ({
            kind: 'flow',
            connections: 2,
            flow: { seconds: 0.5, requests_per_s: 50, direction },
            stall_ms: 10_000,
          })),
        ]) {
          const { state, error, outcome } = await probe({ ...spec, proxy: { address, tls } });
          const said = JSON.stringify([spec, error, outcome?.errors, outcome?.far_end]);
          assert.equal(state, 'done', said);
          assert.deepEqual(outcome.errors, {}, said);
          assert.ok(outcome.succeeded > 0, said);
          for (const { least, most, found } of Object.values(outcome.far_end))
            assert.ok(found >= least && found <= (most ?? Infinity), said);
          const secured = outcome.series.find((/** @type {any} */ { name }) => name === 'tls');
          if (spec.kind === 'handshake') assert.ok(secured.count === 20 && secured.min_ns > 0, said);
        }
        assert.deepEqual([...new Set(spoken)], [what === 'TLS 1.2' ? 'TLSv1.2' : 'TLSv1.3']);
      }));

  test('another client of TLS gets the same bytes from the same server', () =>
    withTLS(made.signed, async ({ port }) => {
      const [host, far] = echo.tcp.split(':');
      const secured = () => secureSocket({ port, host: '127.0.0.1', ca: authority.cert });
      const tunnel = await connectTunnel({ host: '127.0.0.1', port, secured }, { host, port: Number(far) });
      const data = randomBytes(100_000);
      assert.ok(data.equals(await tunnel.roundTrip(data)));
      tunnel.close();
    }));
});

/** @param {string} url @param {object} more of the system @param {Record<string, string>} [variables] */
async function bench(url, more, variables = {}) {
  const ENV = writeEnvironment(folder.path, { url, auth: { mode: 'none' }, ...more }, 'dataplane');
  return startBench({ ENV, ONLY: 'dataplane/handshake', HANDSHAKES: '40', ...variables });
}

test('a run in TLS has its row, its parameter and its note in the report, and no key', () =>
  withTLS({ ...made.signed, ...DEMANDED }, async ({ url }) => {
    const tls = { insecure: true, client_cert: file('client.pem'), client_key: file('client.key') };
    const run = await bench(url, { tls });
    try {
      const code = await run.ended;
      assert.ok(code === 0 || code === 3, run.output.stdout);
      const result = run.result('dataplane-handshake');
      assert.equal(result.run.parameters.tls, 'insecure, client certificate');
      const row = operation(result, 'tls');
      assert.ok(row.success === 40 && row.latency_ms.p50 > 0);
      const report = run.files().find(({ name }) => name === 'report.md')?.text ?? '';
      assert.match(report, /no certificate was verified \(tls\.insecure\)/);
      const key = made.client.key.split('\n')[1];
      assert.ok(!JSON.stringify(result).includes(key) && !report.includes(key));
    } finally {
      run.remove();
    }
  }));

for (const [what, options, more, line] of /** @type {[string, object, object, RegExp][]} */ ([
  [
    'self-signed',
    made.own,
    { tls: { server_name: 'proxy.test' } },
    /TLS with the proxy: its certificate is self-/,
  ],
  [
    'without tls',
    made.own,
    {},
    /TLS with the proxy: the server uses TLS: add tls to the system in the environment/,
  ],
]))
  test(`a run against a proxy ${what} ends before the load with one line`, () =>
    withTLS(options, async ({ url }) => {
      const run = await bench(url, more);
      try {
        assert.equal(await run.ended, 4, run.output.stdout);
        const lines = errorLines(run.output);
        assert.equal(lines.length, 1, run.output.stdout);
        assert.match(lines[0], line);
      } finally {
        run.remove();
      }
    }));
