/** Every data-plane scenario, as `make` runs it, through the real sing-box and the real xray. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertRefused, errorLines, startBench } from '../support/bench.js';
import { operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { descendants, isAlive, until } from '../support/processes.js';
import { faultsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('dataplane-real');
after(folder.remove);

const split = ['throughput', 'concurrency'];
const SCENARIOS = ['socks-tcp', 'socks-udp', 'handshake', 'throughput', 'concurrency', 'queue-sweep'];

for (const TESTBED of ['sing-box-pair', 'xray-pair']) {
  test(
    `smoke passes on ${TESTBED}`,
    undisturbed(async () => {
      const bench = startBench({ ONLY: 'dataplane', PROFILE: 'smoke', TESTBED });
      try {
        const code = await bench.ended;
        const results = SCENARIOS.map((name) => bench.result(`dataplane-${name}`));
        // That others use the machine is told, and is no fault of what is tested.
        for (const result of results) {
          const { scenario } = result.run;
          // Values of a sweep are compared by what they lose: on a crowded machine short queues lose some, and some come too late.
          const wrong = faultsOf(result).filter(
            (reason) => scenario !== 'queue-sweep' || !/^value_\d+: \d+ × (lost|late) in/.test(reason),
          );
          // Of these all that counts as lost came after its time-out.
          const tardy = result.operations
            .filter((/** @type {any} */ { errors }) => errors.late > 0 && errors.late === errors.lost)
            .map((/** @type {any} */ { name }) => `${name}: `);
          const late = wrong.filter(
            (reason) =>
              /: P\d+ [\d.,]+ ms, at most /.test(reason) ||
              tardy.some((/** @type {string} */ name) => reason.startsWith(name)),
          );
          assert.deepEqual(
            wrong.filter((reason) => !late.includes(reason)),
            [],
            scenario,
          );
          timely(late.length === 0, late.join('\n'));
        }
        assert.equal(code, results.some(({ reasons }) => reasons.length > 0) ? 3 : 0);
        for (const { run, processes } of results.filter((result) => result.run.scenario !== 'queue-sweep')) {
          assert.equal(run.testbed.name, TESTBED);
          const rows = Object.fromEntries(processes.map((row) => [row.name, row]));
          assert.ok(rows.client.cpu_s > 0 && rows.server.cpu_s > 0, `${run.scenario}: CPU of both`);
          assert.equal(rows.total.peak_rss_bytes, rows.client.peak_rss_bytes + rows.server.peak_rss_bytes);
          assert.equal(rows.total.peak_anon_bytes, rows.client.peak_anon_bytes + rows.server.peak_anon_bytes);
          assert.ok(rows.sidecar.cpu_s > 0, 'the meter’s own');
          assert.equal(run.placement.name, split.includes(run.scenario) ? 'split' : 'shared');
        }
        const [tcp, udp, handshake, throughput, concurrency, sweep] = results;
        for (const [result, name] of [
          [tcp, 'tcp'],
          [udp, 'udp'],
          [handshake, 'handshake'],
        ]) {
          const [own, direct] = [operation(result, name), operation(result, `${name}_direct`)];
          assert.ok(own.latency_ms.p50 > direct.latency_ms.p50, `${name}: the proxy costs something`);
          assert.equal(result.controls[0].operation, name);
          assert.ok(own.cpu.system_us_per_operation > 0);
        }
        assert.equal(operation(tcp, 'tcp').transfer.bytes, 400 * 1024);
        const moved = throughput.operations.filter(({ transfer }) => transfer?.mbit_per_s > 0);
        assert.equal(moved.length, throughput.operations.length);
        assert.deepEqual(
          rowsOf(sectionOf(concurrency, 'tunnels')).map(({ asked, open }) => [asked, open]),
          [
            [10, 10],
            [100, 100],
          ],
        );
        const swept = sectionOf(sweep, 'sweep');
        assert.equal(swept.rows.length, 4);
        assert.ok(rowsOf(swept).every(({ runs, mbit_per_s: rate }) => runs === 2 && rate.value > 0));
        assert.equal(swept.headline.value, 'no best value', 'two runs of each can tell nothing');
      } finally {
        bench.remove();
      }
    }),
  );
}

for (const [what, variables] of /** @type {[string, Record<string, string>][]} */ ([
  ['IPv6', { ADDRESS: 'ipv6', TESTBED: 'sing-box' }],
  ['a domain name', { ADDRESS: 'domain', TESTBED: 'xray' }],
  ['user and password', { TESTBED: 'sing-box:auth=true' }],
  [
    'many connections',
    { CONNECTIONS: '8', ONLY: 'dataplane/socks-tcp', TESTBED: 'xray', PLACEMENT: 'split' },
  ],
  [
    'a probe that spins',
    { WAIT: 'spin', PLACEMENT: 'split', ONLY: 'dataplane/socks-tcp,dataplane/socks-udp' },
  ],
  // sing-box holds 64 datagrams of an association and drops what comes beside them (sing, udpnat2): a rate at which a busy machine
  // may stop it for a second.
  ['an open loop', { PROFILE: 'soak', DURATION: '8s', RATE: '50', TESTBED: 'sing-box' }],
])) {
  test(`round trips and handshakes with ${what}`, async () => {
    const bench = startBench({
      ONLY: 'dataplane/socks-tcp,dataplane/socks-udp,dataplane/handshake',
      ...variables,
    });
    try {
      const code = await bench.ended;
      // A crowded machine may make a run inconclusive; what was measured must be whole all the same.
      assert.ok(code === 0 || code === 3, bench.output.stdout);
      const names = bench
        .files()
        .flatMap(({ name }) => /^dataplane-(socks-tcp|socks-udp|handshake)\.json$/.exec(name)?.[1] ?? []);
      assert.ok(names.length >= 1);
      for (const name of names) {
        for (const { requests, success, name: row } of bench.result(`dataplane-${name}`).operations) {
          assert.ok(requests > 0 && success === requests, `${name} ${row}: ${success} of ${requests}`);
        }
      }
      if (what === 'user and password') operation(bench.result('dataplane-handshake'), 'auth');
    } finally {
      bench.remove();
    }
  });
}

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
  [{ ONLY: 'dataplane/queue-sweep', PROFILE: 'soak' }, /a sweep compares values under one load/],
  [{ ONLY: 'dataplane/socks-tcp', WAIT: 'spin' }, /WAIT=spin: probe and system share a CPU/],
  [{ ONLY: 'dataplane/socks-tcp', PROFILE: 'stress', DURATION: '8h' }, /give a shorter DURATION/],
  [{ ONLY: 'dataplane/concurrency', TUNNELS: '1000', PROFILE: 'spike' }, /would open 5000 at once/],
  [{ ONLY: 'dataplane/throughput', DIRECTIONS: 'sideways' }, /DIRECTIONS=sideways/],
])) {
  test(`${JSON.stringify(variables)} is refused in one line`, () => assertRefused(variables, line));
}

test('a sidecar that is killed in mid-probe ends the run with one line', async () => {
  const bench = startBench({
    ONLY: 'dataplane/socks-tcp',
    PROFILE: 'soak',
    DURATION: '60s',
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
    TESTBED: 'sing-box',
  });
  try {
    await until(() => bench.has('logs/dataplane-socks-tcp.k6.log'), 'k6');
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    const before = descendants(bench.child.pid).map(({ pid }) => pid);
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
