/** DNS through real clients and servers: the contents of their caches, the queries that pass, and the errors of a dead server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertRefused, startBench } from '../support/bench.js';
import { operation } from '../support/k6.js';
import { startSidecar } from '../support/sidecar.js';
import { faultsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const QUERIES = 200;
const NAMES = 20;
/** A datagram may be lost on its way through a proxy. */
const LOST_MOST = 4;
const logs = mkdtempSync(join(tmpdir(), 'windtunnel-dns-'));
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
before(async () => {
  sidecar = await startSidecar(logs);
});
after(async () => {
  await sidecar.stop();
  rmSync(logs, { recursive: true, force: true });
});

/** @param {string} path */
const get = async (path) => (await sidecar.ask('GET', path)).body;
const port = (/** @type {string} */ address) => Number(address.split(':').pop());

/** A row's client before an authoritative server. @param {object} variables */
async function resolver(variables) {
  const echo = (await sidecar.ask('POST', '/echoes', { dns: {} })).body;
  const instance = await sidecar.start('protocols', {
    protocol: 'trojan',
    security: 'tls',
    inbound: 'dns',
    target_udp_port: port(echo.udp),
    target_tcp_port: port(echo.tcp),
    ...variables,
  });
  let runs = 0;
  return {
    instance,
    /** Sends queries, and returns how many passed. @param {object} spec @param {object} [questions] */
    async probe(spec, questions = {}) {
      const { dns_queries: sofar } = await get(`/echoes/${echo.id}`);
      runs += 1;
      const { body } = await sidecar.ask('POST', '/probes', {
        kind: 'dns',
        target: instance.outputs.PROTOCOLS_URL.split('://')[1],
        dns: { run: `r${runs}`, ...questions },
        count: QUERIES,
        ...spec,
      });
      let probe = await get(`/probes/${body.id}?wait_s=20`);
      while (probe.state === 'running') probe = await get(`/probes/${body.id}?wait_s=20`);
      const { dns_queries: now } = await get(`/echoes/${echo.id}`);
      return { ...probe, upstream: now - sofar };
    },
    async stop() {
      await sidecar.ask('DELETE', `/instances/${instance.id}`);
      await sidecar.ask('DELETE', `/echoes/${echo.id}`);
    },
  };
}

/** Every answer is right, and only a few datagrams are lost. @param {any} probe */
function assertAnswered(probe) {
  const { succeeded, errors } = probe.outcome ?? {};
  assert.ok(succeeded >= QUERIES - LOST_MOST, JSON.stringify(probe));
  assert.deepEqual(
    Object.keys(errors).filter((kind) => kind !== 'lost'),
    [],
  );
}

for (const variables of [
  {},
  { dns_outbound: true },
  { protocol: 'shadowsocks', security: 'none' },
  { protocol: 'wireguard', security: 'none' },
  { protocol: 'http', security: 'none', dns_transport: 'tcp' },
  { engine: 'xray' },
  { engine: 'xray', protocol: 'vless' },
  { engine: 'xray', protocol: 'http', security: 'none', dns_transport: 'tcp' },
]) {
  test(`what is known does not get through, what is new does: ${JSON.stringify(variables)}`, async () => {
    const client = await resolver(variables);
    try {
      const known = await client.probe({ warmup: NAMES, window: 8 }, { names: NAMES });
      assertAnswered(known);
      assert.ok(
        known.upstream >= NAMES - LOST_MOST && known.upstream <= NAMES + LOST_MOST,
        JSON.stringify(known),
      );
      const fresh = await client.probe({ window: 8 });
      assertAnswered(fresh);
      const { succeeded } = fresh.outcome;
      assert.ok(fresh.upstream >= succeeded && fresh.upstream <= QUERIES, JSON.stringify(fresh));
    } finally {
      await client.stop();
    }
  });
}

for (const engine of ['sing-box', 'xray']) {
  test(`without its cache ${engine} asks each time`, async () => {
    const client = await resolver({ engine, dns_cache: false });
    try {
      const found = await client.probe({ warmup: NAMES }, { names: NAMES });
      assertAnswered(found);
      assert.ok(found.upstream >= QUERIES && found.upstream <= QUERIES + NAMES, JSON.stringify(found));
    } finally {
      await client.stop();
    }
  });

  test(`${engine}: a server that died is loss with a name`, async () => {
    const client = await resolver({ engine });
    try {
      assertAnswered(await client.probe({}));
      const { processes } = await get(`/instances/${client.instance.id}`);
      process.kill(processes.find(({ name }) => name === 'server').pid, 'SIGKILL');
      const { state, error, outcome, upstream } = await client.probe({
        timeout_ms: 300,
        stall_ms: 2000,
        window: 4,
      });
      const kinds = state === 'failed' ? [error.kind] : Object.keys(outcome.errors);
      assert.ok(
        kinds.length > 0 && kinds.every((kind) => ['lost', 'stalled', 'dns_servfail'].includes(kind)),
        `${kinds}`,
      );
      assert.equal(outcome?.succeeded ?? 0, 0);
      assert.equal(upstream, 0);
    } finally {
      await client.stop();
    }
  });
}

for (const [variables, caches] of /** @type {[Record<string, string>, boolean][]} */ ([
  [{}, true],
  [{ HIJACK: 'outbound', CACHE: 'off' }, false],
  [{ BASELINE: 'xray', PROTOCOL: 'tuic,shadowsocks-aes-128-gcm' }, true],
])) {
  test(`smoke ${JSON.stringify(variables)}`, async () => {
    const bench = startBench({ ONLY: 'protocols/dns', PROFILE: 'smoke', QUERIES: '400', ...variables });
    try {
      const code = await bench.ended;
      assert.ok([0, 3, 99].includes(code), bench.output.stdout);
      const result = bench.result('protocols-dns');
      // A busy machine may make a run inconclusive, or may lose a few queries, which fails the run.
      const odd = faultsOf(result).filter(
        (reason) => !/\d × lost in|: .*, (at most 0%?|at least 400|at most 50 ms)$/.test(reason),
      );
      assert.deepEqual(odd, []);
      for (const name of ['cached', 'uncached', 'cached_burst', 'uncached_burst']) {
        const [own, direct] = [operation(result, name), operation(result, `${name}_direct`)];
        assert.ok(own.success >= 400 - LOST_MOST, name);
        assert.equal(direct.success, 400, name);
        assert.ok(own.cpu.system_us_per_operation > 0, `${name}: what is measured went through the proxy`);
        const asked = rowsOf(sectionOf(result, 'dns')).find((row) => row.operation === name);
        const known = name.startsWith('cached');
        const each = known ? 100 : 50;
        const expected = known && caches ? 2 * each : 400 + 2 * each;
        assert.equal(asked?.expected, expected, name);
        assert.ok(asked?.p50_ms === own.latency_ms.p50 && asked.by_direct > 0, JSON.stringify(asked));
        assert.ok(Math.abs(asked.upstream - expected) <= LOST_MOST, `${name}: ${asked.upstream}`);
      }
      assert.ok(result.integrity.every((/** @type {any} */ { ok }) => ok === true));
      const names = result.processes.filter(({ role }) => role === 'system').map(({ name }) => name);
      assert.deepEqual(names.sort(), ['client', 'server']);
      assert.match(bench.files().find(({ name }) => name === 'report.md')?.text ?? '', /DNS queries/);
    } finally {
      bench.remove();
    }
  });
}

test('answers that expire too early get through again, and the run says so', async () => {
  const bench = startBench({ ONLY: 'protocols/dns', PROFILE: 'soak', DURATION: '12s', TTL_S: '1' });
  try {
    assert.equal(await bench.ended, 99, bench.output.stdout);
    const result = bench.result('protocols-dns');
    const [cached, uncached] = result.integrity;
    assert.deepEqual([cached.ok, cached.reported, uncached.ok], [false, 100, true]);
    assert.match(
      faultsOf(result)[0],
      /^upstream queries, cached_open: the server got \d+ more queries than expected/,
    );
    assert.equal(operation(result, 'cached_open').loop, 'open');
  } finally {
    bench.remove();
  }
});

for (const [variables, line] of /** @type {[Record<string, string>, RegExp][]} */ ([
  [{ PROTOCOL: 'tproxy,naive' }, /PROTOCOL=tproxy,naive: none has a client with DNS that sing-box runs/],
  [{ HIJACK: 'outbound', BASELINE: 'xray' }, /HIJACK=outbound: only sing-box/],
  [{ NAMES: '8' }, /NAMES=8: a name would be asked for again/],
  [{ PROTOCOL: 'http', ASKS: 'udp' }, /ASKS=udp: http carries no datagrams/],
])) {
  test(`${JSON.stringify(variables)} is refused in one line`, () =>
    assertRefused({ ONLY: 'protocols/dns', ...variables }, line));
}
