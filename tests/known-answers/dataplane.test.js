/** Data-plane scenarios through the real sing-box to a far end with known faults. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { startEcho } from '../support/echo.js';
import { within } from '../support/faulty.js';
import { operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { startFalteringProxy } from '../support/faltering-proxy.js';
import { probe } from '../support/rows.js';
import { startSidecar } from '../support/sidecar.js';
import { startSocksServer } from '../support/socks-server.js';
import { faultsOf, reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { assertVerdict } from '../support/verdict.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('dataplane');
after(folder.remove);

const LOGIN = { mode: 'password', username: 'u', password_env: 'PROXY_PASSWORD' };

/**
 * Runs one scenario and returns its result.
 * @param {string} scenario
 * @param {object} entry of the environment
 * @param {Record<string, string>} variables
 */
async function run(scenario, entry, variables) {
  const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, ...entry }, 'dataplane');
  const bench = startBench({ ENV, ONLY: `dataplane/${scenario}`, ...variables });
  try {
    const code = await bench.ended;
    return { code, result: bench.result(`dataplane-${scenario}`) };
  } finally {
    bench.remove();
  }
}

/** @param {string[]} faults @param {(target: object) => Promise<void>} what */
async function withEcho(faults, what) {
  const echo = await startEcho(...faults);
  try {
    await what({ testbed: { name: 'sing-box' }, target: echo.target });
  } finally {
    await echo.stop();
  }
}

describe('a far end with faults, where all wait for it', { concurrency: 4 }, () => {
  for (const [scenario, row] of [
    ['socks-tcp', 'tcp'],
    ['socks-udp', 'udp'],
  ]) {
    test(
      `${scenario} reports an injected delay, through the proxy and direct`,
      undisturbed(async () => {
        await withEcho(['--delay-ms', '60'], async (entry) => {
          const thresholds = { [scenario]: { [row]: { 'p(95)': 2000 } } };
          // On a busy machine an answer may take longer than the 300 ms after which a datagram is lost.
          const waits = row === 'udp' ? { TIMEOUT_MS: '5000' } : {};
          const variables = { ROUND_TRIPS: '40', ...waits };
          const { code, result } = await run(scenario, { ...entry, thresholds }, variables);
          // A busy machine is reported, but is no fault of the code under test.
          assert.deepEqual(faultsOf(result), []);
          assert.equal(code, reasonsOf(result).length > 0 ? 3 : 0);
          for (const name of [row, `${row}_direct`]) {
            const { latency_ms: latency, success } = operation(result, name);
            assert.equal(success, 40);
            within(latency.p50, 60, 0.1);
          }
        });
      }),
    );
  }

  test('socks-udp counts exactly what is lost and what comes twice', async () => {
    await withEcho(['--loss', '0.1', '--duplicate', '0.05', '--seed', '7'], async (entry) => {
      const { code, result } = await run('socks-udp', entry, {
        ROUND_TRIPS: '1000',
        TIMEOUT_MS: '150',
        WINDOW: '8',
      });
      const [row, direct] = [operation(result, 'udp'), operation(result, 'udp_direct')];
      // The far end drops exactly 100 of each 1,000 datagrams. Each of the four probes has 50 warm-up datagrams.
      // A busy machine delays some answers, but drops none.
      const dropped = (/** @type {any} */ { errors }) => (errors.lost ?? 0) - (errors.late ?? 0);
      const lost = dropped(row) + dropped(direct);
      assert.ok(lost >= 200 - 40 && lost <= 220, `${lost} of 2,000 lost`);
      assert.equal(row.requests, 1000);
      assert.equal(row.success, 1000 - row.errors.lost);
      assert.ok(
        row.errors.duplicated > 20 && row.errors.duplicated < 80,
        `${row.errors.duplicated} duplicated`,
      );
      // The control has the same loss, so the proxy is not the cause.
      assertVerdict(result, 'inconclusive');
      assert.equal(code, 3);
      assert.match(reasonsOf(result).join('\n'), /udp: \d+ × lost/);
      assert.match(reasonsOf(result).join('\n'), /controls: udp_direct failed without the system/);
    });
  });

  test(
    'a stall of half a second shows in the open loop’s p99',
    undisturbed(async () => {
      await withEcho(['--stall-after', '700', '--stall-ms', '500'], async (entry) => {
        const { result } = await run('socks-tcp', entry, { PROFILE: 'soak', DURATION: '10s', RATE: '200' });
        const rows = ['tcp_open', 'tcp_open_direct'].map((name) => operation(result, name).latency_ms);
        // One of the two loops met the stall: 100 of its 1,000 requests.
        const stalled = rows.filter((latency) => latency.p99 > 300 && latency.max > 450);
        assert.ok(stalled.length > 0, JSON.stringify(rows));
        timely(stalled.length === 1 && stalled[0].max < 900, JSON.stringify(rows));
      });
    }),
  );
});

/** The name of each answer. @type {[import('../support/socks-server.js').Behaviour, string][]} */
const ANSWERS = [
  [{ reply: 1 }, 'socks_general_failure'],
  [{ reply: 2 }, 'socks_not_allowed'],
  [{ reply: 5 }, 'socks_connection_refused'],
  [{ reply: 7 }, 'socks_command_not_supported'],
  ['garbage', 'socks_garbage'],
  ['reset', 'connection_reset'],
  ['close', 'closed'],
];

test("a proxy's answers are named, for each way to open tunnels", async () => {
  const sidecar = await startSidecar(folder.fresh());
  try {
    const { body: echo } = await sidecar.ask('POST', '/echoes', {});
    for (const [behaviour, named] of ANSWERS) {
      const server = await startSocksServer(behaviour);
      const spec = { target: echo.tcp, proxy: { address: server.url.slice(9) }, payload_bytes: 64 };
      for (const [kind, count] of /** @type {const} */ ([
        ['tcp', 1],
        ['handshake', 1],
        ['concurrency', 2],
      ])) {
        const connections = count;
        const { state, error } = await probe(sidecar, { ...spec, kind, count, connections });
        assert.deepEqual([state, error?.kind], ['failed', named], `${kind}: ${JSON.stringify(behaviour)}`);
      }
      server.stop();
    }
  } finally {
    await sidecar.stop();
  }
});

test('an answer in mid-run fails the run by name', async () => {
  const server = await startSocksServer({ reply: 5 }, 1);
  try {
    const { code, result } = await run('socks-tcp', { url: server.url }, {});
    assert.deepEqual(Object.keys(operation(result, 'tcp').errors), ['socks_connection_refused']);
    assertVerdict(result, 'fail', code);
  } finally {
    server.stop();
  }
});

describe('a proxy that is late', { concurrency: 3 }, () => {
  test(
    'answers that wait for delayed acknowledgements are named so',
    undisturbed(async () => {
      const server = await startSocksServer('nagle');
      const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, url: server.url }, 'dataplane');
      const bench = startBench({ ENV, ONLY: 'dataplane/socks-tcp', ROUND_TRIPS: '100' });
      try {
        await bench.ended;
        const { latency_ms: latency, success } = operation(bench.result('dataplane-socks-tcp'), 'tcp');
        assert.equal(success, 100);
        within(latency.p50, 42, 0.1);
        const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
        assert.match(
          report,
          /TCP round trip: P50 4\d\.\d ms \(one wait\): this matches delayed acknowledgements/,
        );
      } finally {
        bench.remove();
        server.stop();
      }
    }),
  );

  test('a handshake that is grossly longer than without the proxy fails, whatever the bounds are', async () => {
    const server = await startSocksServer('late');
    const thresholds = { handshake: { handshake: { 'p(95)': 1000 } } };
    const entry = { auth: { mode: 'none' }, url: server.url, thresholds };
    const ENV = writeEnvironment(folder.fresh(), entry, 'dataplane');
    const bench = startBench({ ENV, ONLY: 'dataplane/handshake', HANDSHAKES: '40' });
    try {
      const code = await bench.ended;
      const result = bench.result('dataplane-handshake');
      // On a busy machine a missed threshold is no evidence.
      const valid = result.validity.every((/** @type {any} */ { ok }) => ok !== false);
      assert.equal(code, valid ? 99 : 3, bench.output.stdout);
      assert.ok(
        reasonsOf(result).some((line) => /^handshake: P50 \d+\.\d ms, at most 20 ms$/.test(line)),
        reasonsOf(result).join('\n'),
      );
    } finally {
      bench.remove();
      server.stop();
    }
  });

  test('a login that the proxy never asks for is recorded as not negotiated, and said', async () => {
    const server = await startSocksServer('late');
    const ENV = writeEnvironment(folder.fresh(), { auth: LOGIN, url: server.url }, 'dataplane');
    const bench = startBench({ ENV, ONLY: 'dataplane/handshake', HANDSHAKES: '40', PROXY_PASSWORD: 'word' });
    try {
      await bench.ended;
      const result = bench.result('dataplane-handshake');
      assert.equal(result.run.parameters.auth, false);
      assert.match(result.notes.join('\n'), /a login is configured, but the proxy never asked for it/);
      assert.equal(operation(result, 'handshake').success, 40);
    } finally {
      bench.remove();
      server.stop();
    }
  });
});

test('a relay that answers from another port is named so before the load', async () => {
  const server = await startFalteringProxy({ after: Infinity, elsewhere: true });
  const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, url: server.url }, 'dataplane');
  const bench = startBench({ ENV, ONLY: 'dataplane/socks-udp' });
  try {
    assert.equal(await bench.ended, 4);
    assert.match(
      errorLines({ stdout: bench.output.stdout, stderr: '' }).join('\n'),
      /the answers came from 127\.0\.0\.1:\d+, which is not the relay/,
    );
  } finally {
    bench.remove();
    server.stop();
  }
});

describe('what a claim of a proxy means', { concurrency: 2 }, () => {
  /** @param {import('../support/socks-server.js').Behaviour} behaviour @param {string} scenario */
  const resultOf = async (behaviour, scenario) => {
    const server = await startSocksServer(behaviour);
    try {
      const variables = { ROUND_TRIPS: '40', HANDSHAKES: '40' };
      const { result } = await run(scenario, { url: server.url }, variables);
      return result;
    } finally {
      server.stop();
    }
  };

  for (const [behaviour, share, says] of /** @type {const} */ ([
    ['early', 1, /^The proxy answers CONNECT before the far end accepts/],
    ['open', 0, /^$/],
  ])) {
    test(`a proxy that is ${behaviour} grants a share of ${share} before the far end accepts`, async () => {
      const section = sectionOf(await resultOf(behaviour, 'handshake'), 'early_answer');
      const [nobody, own, direct] = rowsOf(section);
      assert.deepEqual([nobody.asked, nobody.before], [10, 10 * share]);
      // A busy machine may run the probe so late that the proxy has dialled.
      assert.deepEqual([own.asked >= 40, Math.round(own.share)], [true, share]);
      assert.deepEqual([direct.asked >= 40, direct.share], [true, 0]);
      assert.match(section.finding ?? '', says);
    });
  }

  test('tunnels that are granted and lead nowhere fail', async () => {
    const result = await resultOf('nowhere', 'handshake');
    const { requests, success, errors } = operation(result, 'handshake');
    assert.deepEqual([requests, success, errors], [40, 20, { closed: 20 }]);
    assertVerdict(result, 'fail');
  });

  for (const [behaviour, says] of /** @type {const} */ ([
    ['open', 'passes FIN'],
    ['cuts', 'closes both ways'],
    ['deaf', 'never passes FIN'],
  ])) {
    test(`half-close of a proxy that is ${behaviour}: ${says}`, async () => {
      const section = sectionOf(await resultOf(behaviour, 'socks-tcp'), 'half_close');
      assert.deepEqual(
        rowsOf(section).map(({ end }) => end),
        [says, 'passes FIN'],
      );
      assert.equal(section.finding ?? null, behaviour === 'open' ? null : `Half-close: the proxy ${says}.`);
    });
  }
});

describe('a proxy that cannot be used', { concurrency: 3 }, () => {
  for (const [
    what,
    scenario,
    behaviour,
    line,
    more,
  ] of /** @type {[string, string, import('../support/socks-server.js').Behaviour | null, RegExp, object?][]} */ ([
    ['that is down', 'socks-tcp', null, /Connection refused.*; nothing listens there: start the proxy/],
    ['that says nothing', 'handshake', 'silent', /no answer in time; .*the proxy's SOCKS5 port/],
    ['that speaks HTTP', 'concurrency', 'garbage', /not SOCKS5.*; correct its address/],
    [
      'that refuses the password',
      'throughput',
      'login',
      /refused user name or password; .*password_env/,
      { auth: LOGIN },
    ],
    ['that wants a login', 'socks-tcp', 'login', /asks for a login.*; correct auth/],
    ['whose rules refuse the target', 'socks-tcp', { reply: 2 }, /reply 2 .*do not allow the target/],
    ['without an echo server behind it', 'socks-tcp', { reply: 5 }, /reply 5.*; .*`bin\/sidecar echo`/],
    ['that does no UDP', 'socks-udp', { reply: 7 }, /UDP to .*reply 7.*enable UDP in the proxy/],
  ])) {
    test(`a proxy ${what} ends set-up with one line`, async () => {
      const server = await startSocksServer(behaviour ?? 'silent');
      if (behaviour === null) server.stop();
      const entry = { auth: { mode: 'none' }, url: server.url, ...more };
      const bench = startBench({
        ENV: writeEnvironment(folder.fresh(), entry, 'dataplane'),
        ONLY: `dataplane/${scenario}`,
        PROXY_PASSWORD: 'wrong',
      });
      try {
        const code = await bench.ended;
        const lines = errorLines({ stdout: bench.output.stdout, stderr: '' });
        assert.equal(lines.length, 1, bench.output.stdout);
        assert.match(lines[0], line);
        assert.ok(lines[0].includes(server.url), lines[0]);
        assert.equal(code, 4);
        assert.ok(!bench.has(`dataplane-${scenario}.json`), 'nothing was measured');
      } finally {
        bench.remove();
        if (behaviour !== null) server.stop();
      }
    });
  }
});
