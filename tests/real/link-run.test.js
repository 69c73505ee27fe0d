/** Runs over a link: `LINK=…` reaches the pair, the result has the measured link, and a link that dies is no excuse. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { K6, cleanEnvironment, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { mayMakeNamespaces } from '../support/namespaces.js';
import { until } from '../support/processes.js';
import { protocolRows } from '../support/sections.js';
import { startSidecar } from '../support/sidecar.js';
import { timely } from '../support/timely.js';

const RTT_MS = 40;
const LINK = `rtt:${RTT_MS}ms,rate:50mbit,seed:7`;
const SMALL = { ROUND_TRIPS: '20', PROFILE: 'smoke' };
/** The command of the pair's client. */
const CLIENT = 'client';

const skip = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
const folder = temporaryFolder('link-run');
after(folder.remove);

/** @param {any} result @param {string} name */
const operation = (result, name) => result.operations.find((/** @type {any} */ one) => one.name === name);

/** @param {any} result @param {string} name */
const checkOf = (result, name) =>
  result.validity.find((/** @type {any} */ { check }) => check === name) ??
  assert.fail(`no check ${name}: ${JSON.stringify(result.validity)}`);

test('a run over a link tells what it was, and both proxy and control go over it', { skip }, async () => {
  const run = startBench({ ...SMALL, ONLY: 'dataplane/socks-tcp', LINK });
  try {
    await run.ended;
    const result = run.result('dataplane-socks-tcp');
    const { link, parameters } = result.run;
    assert.equal(parameters.link, LINK);
    assert.deepEqual([link.text, link.seed, link.settings.up.rate_bit_s], [LINK, 7, 50e6]);
    assert.equal(link.settings.up.delay_ns + link.settings.down.delay_ns, RTT_MS * 1e6);
    for (const end of [link.near, link.far])
      assert.ok(end.settings.tcp_congestion_control, JSON.stringify(end));
    for (const name of ['tcp', 'tcp_direct']) {
      const { latency_ms: latency, errors } = operation(result, name);
      assert.deepEqual(errors, {}, name);
      assert.ok(latency.min >= RTT_MS, `${name}: ${JSON.stringify(latency)}`);
      timely(latency.p50 < 2 * RTT_MS, `${name}: ${JSON.stringify(latency)}`);
    }
    const sections = result.sections.map((/** @type {any} */ { name }) => name);
    assert.ok(sections.includes('link') && sections.includes('link_carried'), sections.join());
    // The quality of the link on a busy machine is reported, and not asserted.
    checkOf(result, `link ${LINK}`);
    checkOf(result, "link: the run's pair");
  } finally {
    run.remove();
  }
});

test('a chain has one link, in its last hop, and each row alone has it too', { skip }, async () => {
  const run = startBench({ ONLY: 'protocols/chain', PROFILE: 'smoke', CHAINS: 'trojan+socks', LINK });
  try {
    await run.ended;
    const rows = protocolRows(run.result('protocols-chain'));
    assert.deepEqual(
      rows.map((/** @type {any} */ { row, baseline }) => [row, baseline.outcome]),
      [
        ['trojan', 'measured'],
        ['socks', 'measured'],
        ['trojan+socks', 'measured'],
      ],
    );
    for (const { row, baseline } of rows) {
      const { rtt_ms: tcp, udp_rtt_ms: udp } = baseline.figures;
      for (const { median } of [tcp, udp]) {
        assert.ok(median >= RTT_MS, `${row}: ${median} ms`);
        timely(median < 2 * RTT_MS, `${row}: ${median} ms`);
      }
    }
  } finally {
    run.remove();
  }
});

test('a link that dies in mid-run makes the run inconclusive, whatever failed', { skip }, async () => {
  const sidecar = await startSidecar(folder.path);
  try {
    const { body: instance } = await sidecar.ask('POST', '/testbeds/sing-box-pair/start', {
      link: { text: LINK },
    });
    const run = start(K6, ['run', '--quiet', 'scripts/dataplane/socks-tcp.js'], {
      env: {
        ...cleanEnvironment(),
        ...sidecar.variables,
        ...instance.outputs,
        PROFILE: 'smoke',
        LINK,
        ROUND_TRIPS: '2000',
        INSTANCE: instance.id,
        RUN_ID: 'died',
        RESULT_DIR: folder.path,
      },
    });
    await until(async () => {
      const { body } = await sidecar.ask('GET', `/instances/${instance.id}/link`);
      // Set-up sends fewer packets.
      return body.up.sent > 100;
    }, 'what the load sends');
    const { pid } = instance.processes.find((/** @type {any} */ { name }) => name === CLIENT);
    const cut = spawnSync('nsenter', [`--net=/proc/${pid}/ns/net`, '--', 'ip', 'link', 'del', 'hop0']);
    assert.equal(cut.status, 0, String(cut.stderr));
    await run.ended;
    const { default: result } = await import(`${folder.path}/dataplane-socks-tcp.json`, {
      with: { type: 'json' },
    });
    assert.equal(result.verdict, 'inconclusive', JSON.stringify(result.reasons));
    const { ok, detail } = checkOf(result, "link: the run's pair");
    assert.equal(ok, false);
    assert.match(detail, /^it died: /);
    // A busy machine may have spoilt the link's calibration, and the result reports that first.
    assert.match(
      result.reasons[0].text,
      /link: the run's pair: it died|^link .*\(and \d more faults? of the generator\)/,
    );
  } finally {
    await sidecar.stop();
  }
});

const up = writeEnvironment(
  folder.path,
  { url: 'socks5://127.0.0.1:1', auth: { mode: 'none' }, placement: { default: 'shared' } },
  'dataplane',
);
const refused = /** @type {[string, Record<string, string>, number, RegExp][]} */ ([
  [
    'a unit that is missing',
    { LINK: 'rtt:10' },
    2,
    /^LINK: rtt:10: `10` is not a time: it has no unit; write/,
  ],
  ['a link that there is not', { LINK: 'fra' }, 2, /^LINK: there is no link "fra"; there are .*far/],
  ['a key that there is not', { LINK: 'rrt:10ms' }, 2, /^LINK: rrt:10ms: /],
  ['a rate that no link takes', { LINK: 'rate:100gbit' }, 2, /^LINK: rate:100gbit: /],
  [
    'a datagram that is given up before its answer can come',
    { ONLY: 'dataplane/socks-udp', LINK: 'rtt:400ms' },
    4,
    /^TIMEOUT_MS=300: no answer comes back so soon over LINK=rtt:400ms, whose round trip takes 400 ms: set TIMEOUT_MS=1200 or more$/,
  ],
  ['a proxy that is up already', { LINK: 'far', ENV: up }, 2, /^LINK=far: .* tests a proxy that is up/],
  [
    'an address that leads nowhere',
    { LINK: 'far', ADDRESS: 'domain' },
    4,
    /over a link the far end is named by its IPv4 address/,
  ],
  [
    'a testbed of one end',
    { LINK: 'far', TESTBED: 'sing-box' },
    4,
    /sing-box has no hop that a link could be/,
  ],
]);

for (const [name, variables, code, line] of refused) {
  test(`refused in a line: ${name}`, { skip }, async () => {
    const run = startBench({ ...SMALL, ONLY: 'dataplane/socks-tcp', ...variables });
    try {
      assert.equal(await run.ended, code, run.output.stderr + run.output.stdout);
      const lines = errorLines(run.output);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0].replace(/^dataplane\/socks-...: set-up failed: /, ''), line);
    } finally {
      run.remove();
    }
  });
}
