/** Every data-plane scenario, as `make` runs it, through the real sing-box and the real xray; tests/real/smoke has sing-box-pair. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertRefused, errorLines, startBench } from '../support/bench.js';
import { assertDataplane } from '../support/dataplane-smoke.js';
import { operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { descendants, isAlive, until } from '../support/processes.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { withSystems } from '../support/systems.js';
import { undisturbed } from '../support/timely.js';

const folder = temporaryFolder('dataplane-real');
after(folder.remove);

test(
  'smoke passes on xray-pair',
  undisturbed(async () => {
    const TESTBED = 'xray-pair';
    // tests/real/smoke has all six on sing-box-pair.
    const names = ['socks-tcp', 'socks-udp', 'handshake', 'throughput'];
    const ONLY = names.map((name) => `dataplane/${name}`).join(',');
    const bench = startBench({ ONLY, PROFILE: 'smoke', TESTBED });
    try {
      const code = await bench.ended;
      const results = assertDataplane(bench, TESTBED, names);
      const [tcp, , handshake] = results;
      assert.deepEqual(
        rowsOf(sectionOf(handshake, 'early_answer')).map(({ share }) => share),
        [1, 1, 0],
      );
      assert.equal(rowsOf(sectionOf(tcp, 'half_close'))[0].end, 'never passes FIN');
      assert.equal(code, results.some(({ reasons }) => reasons.length > 0) ? 3 : 0);
    } finally {
      bench.remove();
    }
  }),
);

/** The run used TLS, and the far end counted the sent payload. @param {any} result */
function assertTLS(result) {
  assert.equal(result.run.parameters.tls, 'ca of the testbed, server_name windtunnel.test');
  const counts = result.integrity.filter((/** @type {any} */ { check }) => check.startsWith('far end: '));
  assert.ok(counts.length > 0 && counts.every((/** @type {any} */ { ok }) => ok), JSON.stringify(counts));
  const { operations } = result;
  if (operations.some((/** @type {any} */ { name }) => name === 'handshake'))
    assert.ok(operation(result, 'tls').latency_ms.p50 > 0);
}

/**
 * Runs socks-tcp, socks-udp and handshake: each operation succeeds. A crowded machine may make the run inconclusive.
 * @param {Record<string, string>} variables
 * @param {(name: string, result: any) => void} [more] checks one result
 */
async function assertWhole(variables, more) {
  const bench = startBench({
    ONLY: 'dataplane/socks-tcp,dataplane/socks-udp,dataplane/handshake',
    ...variables,
  });
  try {
    const code = await bench.ended;
    assert.ok(code === 0 || code === 3, bench.output.stdout);
    const names = bench
      .files()
      .flatMap(({ name }) => /^dataplane-(socks-tcp|socks-udp|handshake)\.json$/.exec(name)?.[1] ?? []);
    assert.ok(names.length >= 1);
    for (const name of names) {
      const result = bench.result(`dataplane-${name}`);
      for (const { requests, success, name: operationName } of result.operations) {
        assert.ok(
          requests > 0 && success === requests,
          `${name} ${operationName}: ${success} of ${requests}`,
        );
      }
      more?.(name, result);
    }
  } finally {
    bench.remove();
  }
}

/** @param {string} name @param {any} result */
function assertAuth(name, result) {
  if (name === 'socks-tcp') assert.equal(rowsOf(sectionOf(result, 'half_close'))[0].end, 'passes FIN');
  if (name !== 'handshake') return;
  operation(result, 'auth');
  for (const { share } of rowsOf(sectionOf(result, 'early_answer'))) assert.equal(share, 0);
}

for (const [
  what,
  variables,
  more,
] of /** @type {[string, Record<string, string>, ((name: string, result: any) => void)?][]} */ ([
  ['IPv6, user and password', { ADDRESS: 'ipv6', TESTBED: 'sing-box:auth=true' }, assertAuth],
  [
    'a domain name and TLS',
    { ADDRESS: 'domain', TESTBED: 'xray-pair:tls=true' },
    (_, result) => assertTLS(result),
  ],
  [
    'many connections',
    { CONNECTIONS: '8', ONLY: 'dataplane/socks-tcp', TESTBED: 'xray', PLACEMENT: 'split' },
  ],
  [
    'a probe that spins',
    { WAIT: 'spin', PLACEMENT: 'split', ONLY: 'dataplane/socks-tcp,dataplane/socks-udp' },
  ],
])) {
  test(`round trips and handshakes with ${what}`, () => assertWhole(variables, more));
}

// sing-box holds 64 datagrams of an association and drops further ones (sing, udpnat2). At this rate a busy machine may stop sing-box
// for a second.
test('round trips and handshakes with an open loop, through a pair that is up', () =>
  withSystems(['dataplane'], ({ variables }) =>
    assertWhole({ ...variables, PROFILE: 'soak', DURATION: '4s', RATE: '50' }),
  ));

test('a proxy that is not there is told in one line before the load', async () => {
  const ENV = writeEnvironment(
    folder.path,
    { url: 'socks5://127.0.0.1:1', auth: { mode: 'none' } },
    'dataplane',
  );
  const bench = startBench({ ENV, ONLY: 'dataplane/socks-tcp' });
  try {
    assert.equal(await bench.ended, 4);
    const lines = errorLines(bench.output);
    assert.equal(lines.length, 1, bench.output.stdout);
    assert.match(lines[0], /socks5:\/\/127\.0\.0\.1:1 carries no TCP/);
  } finally {
    bench.remove();
  }
});

for (const [variables, line] of /** @type {[Record<string, string>, RegExp][]} */ ([
  [{ ONLY: 'dataplane/socks-udp', WINDOW: '5000' }, /window/],
  [{ ONLY: 'dataplane/socks-tcp', PAYLOAD_BYTES: '4' }, /payload_bytes/],
  [{ ONLY: 'dataplane/queue-sweep', SWEEP: 'cipher', VALUES: 'a,b' }, /VALUES=a,b: .* must be among them/],
  [
    { ONLY: 'dataplane/queue-sweep', SWEEP: 'colour', VALUES: 'a,b' },
    /SWEEP=colour: testbed sing-box-pair has no such variable/,
  ],
  [{ ONLY: 'dataplane/queue-sweep', PROFILE: 'soak' }, /a sweep compares values under one constant load/],
  [{ ONLY: 'dataplane/socks-tcp', WAIT: 'spin' }, /WAIT=spin: probe and system share a CPU/],
  [{ ONLY: 'dataplane/socks-tcp', PROFILE: 'stress', DURATION: '8h' }, /give a shorter DURATION/],
  [{ ONLY: 'dataplane/concurrency', TUNNELS: '1000', PROFILE: 'spike' }, /would open 5000 at once/],
  [{ ONLY: 'dataplane/throughput', DIRECTIONS: 'sideways' }, /DIRECTIONS=sideways/],
])) {
  test(`${JSON.stringify(variables)} is refused in one line`, () => assertRefused(variables, line));
}

describe('an end in mid-probe', { concurrency: 2 }, () => {
  test('a sidecar that is killed in mid-probe ends the run with one line', async () => {
    const bench = startBench({
      ONLY: 'dataplane/socks-tcp',
      PROFILE: 'soak',
      DURATION: '60s',
      RATE: '50',
      TESTBED: 'sing-box',
    });
    try {
      const sidecar = () =>
        descendants(bench.child.pid).find(
          ({ command }) => /bin\/sidecar.*serve/.test(command) && !/__/.test(command),
        );
      await until(() => bench.has('logs/dataplane-socks-tcp.k6.log') && sidecar(), 'the load');
      await new Promise((resolve) => setTimeout(resolve, 3000));
      process.kill(sidecar().pid, 'SIGKILL');
      assert.equal(await bench.ended, 4);
      const lines = errorLines({ stdout: bench.output.stdout, stderr: '' });
      assert.equal(lines.length, 1, bench.output.stdout);
      assert.match(lines[0], /sidecar/);
    } finally {
      bench.remove();
    }
  });

  test('Ctrl-C in mid-probe keeps what was measured and leaves nothing behind', async () => {
    const bench = startBench({
      ONLY: 'dataplane/socks-tcp',
      PROFILE: 'soak',
      DURATION: '60s',
      RATE: '50',
      TESTBED: 'sing-box',
    });
    try {
      await until(() => bench.has('logs/dataplane-socks-tcp.k6.log'), 'k6');
      await new Promise((resolve) => setTimeout(resolve, 30_000));
      const before = descendants(bench.child.pid);
      bench.child.kill('SIGINT');
      assert.equal(await bench.ended, 130);
      const result = bench.result('dataplane-socks-tcp');
      assert.equal(result.verdict, 'inconclusive');
      assert.ok(
        result.operations.some(({ success }) => success > 0),
        'the first probe is kept',
      );
      assert.deepEqual(before.filter(isAlive), []);
    } finally {
      bench.remove();
    }
  });
});
