/**
 * An unknown system consists of three folders of its user: the scripts, the testbed and the environment. The folder of scripts also has
 * the schema of the settings, thresholds and a board. A second unknown system is loaded by the sidecar's probes, as its system.toml says.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { ON_ANY_MACHINE } from '../support/bench.js';
import { copyCheckout } from '../support/checkout.js';
import { cleanEnvironment, start, temporaryFolder } from '../support/k6.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('own-system');
after(folder.remove);
const checkout = join(folder.path, 'checkout');
copyCheckout(checkout);

/** @param {string} name @param {string} text */
function write(name, text) {
  const path = join(checkout, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const SCRIPT = `/** How fast does the web server list its folder? */
import http from 'k6/http';
import { httpEntry } from '../../lib/environment.js';
import { clientLoad } from '../../lib/profiles.js';
import { timed } from '../../lib/requests.js';
import { defineScenario } from '../../lib/scenario.js';

const environment = httpEntry('web');
const load = clientLoad({ clients: 2, smoke: 40, quick: 400, peak: 2 }, 'REQUESTS');
const scenario = defineScenario({
  system: 'web',
  environment,
  name: 'list',
  title: 'Listing of a folder',
  load,
  parameters: { path: environment.own.settings.path },
  operations: { get: { title: 'GET', latencyIs: 'from the first byte sent to the last byte received' } },
});
const get = scenario.operation('get');

export const { options } = scenario;
export const setup = () => scenario.begin(() => ({}));
export default function (data) {
  scenario.round(data);
  timed(get, 200, () => http.get(environment.url + environment.own.settings.path));
}
export const teardown = (data) => scenario.end(data);
export const handleSummary = scenario.summary;
`;

const PROBED_SCRIPT = `/** How long does a round trip through the tunnel take? */
import { equalRounds, probeOf, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';

const script = planeScenario({
  system: 'tunnel',
  name: 'trips',
  title: 'Round trips through the tunnel',
  load: roundsLoad(equalRounds(2, 20)),
  reaches: ['tcp'],
  parameters: {},
  operations: withControl('trip', {
    title: 'Round trip',
    latencyIs: 'from the first byte sent to the last byte of the answer received',
    least: 40,
  }),
  round: (round, index, plane) => plane.pair(index, ['trip'], { kind: 'tcp', payload_bytes: 64, ...probeOf(round) }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
`;

const TESTBED = `schema = "windtunnel.testbed/1"
name = "python-web"
system = "web"
title = "Python's own web server"

[variables.http_port]
type = "port"
default = 0
description = "Where it listens."

[[process]]
name = "web"
command = ["python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "{{ dir }}", "{{ vars.http_port }}"]
ready = { http = "http://127.0.0.1:{{ vars.http_port }}/", timeout_s = 20 }

[outputs]
WEB_URL = "http://127.0.0.1:{{ vars.http_port }}"
`;

const SETTINGS = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: { path: { type: 'string', pattern: '^/' } },
};

/** @param {string} name @param {unknown} system */
const environment = (name, system) =>
  write(
    `environments/${name}.json`,
    JSON.stringify({ schema: 'windtunnel.environment/1', name, systems: system }),
  );

write('scripts/web/list.js', SCRIPT);
write('scripts/web/settings.schema.json', JSON.stringify(SETTINGS));
write('scripts/web/thresholds.json', JSON.stringify({ list: { get: { 'p(95)': 60_000, rate: 1 } } }));
write(
  'scripts/web/board.json',
  JSON.stringify({
    title: 'Web',
    description: 'A web server.',
    rows: ['status', 'live', 'requests', 'processes'],
  }),
);
write('testbeds/python-web.toml', TESTBED);
write('testbeds/python-web/a-file', 'found');
write('scripts/tunnel/trips.js', PROBED_SCRIPT);
write('scripts/tunnel/system.toml', 'probed = true\n');
const proxy = readFileSync(join(checkout, 'testbeds/sing-box.toml'), 'utf8');
write(
  'testbeds/tunnel.toml',
  proxy.replaceAll(/"(?:sing-box|dataplane)"/g, '"tunnel"').replaceAll('DATAPLANE_', 'TUNNEL_'),
);
write(
  'testbeds/tunnel/proxy.json.j2',
  readFileSync(join(checkout, 'testbeds/sing-box/proxy.json.j2'), 'utf8'),
);
environment('mine', {
  tunnel: { testbed: { name: 'tunnel', variables: { auth: true } }, placement: 'shared' },
  web: {
    testbed: { name: 'python-web' },
    settings: { path: '/' },
    thresholds: { list: { get: { 'p(95)': 50_000 } } },
  },
});

/** @param {string} command @param {string[]} args @param {Record<string, string>} [variables] */
async function run(command, args, variables = {}) {
  const started = start(command, args, {
    cwd: checkout,
    env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, ...variables },
  });
  const code = await started.ended;
  return { code, ...started.output };
}

test('own system: make runs its scenario against its testbed, and the report has it', async () => {
  const { stdout, stderr } = await run('make', ['web'], { ENV: 'mine', RUN_ID: 'own' });
  const written = join(checkout, 'results/own/web-list.json');
  assert.ok(existsSync(written), stdout + stderr);
  const result = JSON.parse(readFileSync(written, 'utf8'));
  assertVerdict(result, 'pass');
  assert.equal(result.operations[0].success, 40, stdout + stderr);
  assert.equal(result.run.testbed.name, 'python-web');
  assert.ok(
    result.processes.some((/** @type {any} */ { role, name }) => role === 'system' && name === 'web'),
  );
  assert.match(readFileSync(join(checkout, 'results/own/report.md'), 'utf8'), /web\/list/);
  const bounds = result.thresholds.map((/** @type {any} */ { expression }) => expression);
  assert.ok(bounds.includes('p(95)<50000'), `the environment's bound goes first: ${bounds}`);
  assert.ok(bounds.includes('rate>=1'), `the system's own bound holds beside it: ${bounds}`);
});

test('own system: probes load one whose file says so, and several runners leave it out', async () => {
  const { stdout, stderr } = await run('make', ['tunnel'], { ENV: 'mine', RUN_ID: 'probed' });
  const written = join(checkout, 'results/probed/tunnel-trips.json');
  assert.ok(existsSync(written), stdout + stderr);
  const result = JSON.parse(readFileSync(written, 'utf8'));
  assertVerdict(result, 'pass');
  assert.deepEqual(
    result.operations.map((/** @type {any} */ { name, success }) => [name, success]),
    [
      ['trip', 40],
      ['trip_direct', 40],
    ],
  );
  const { name, probe_cpus: probe, system_cpus: system } = result.run.placement;
  assert.equal(name, 'shared');
  assert.match(probe, /^\d+$/);
  assert.equal(system, probe);
  assert.equal(result.run.parameters.auth, true);
  const { code, stderr: refused } = await run('bin/k6', ['x', 'bench', '--only', 'tunnel'], {
    ENV: 'mine',
    RUNNERS: '2',
  });
  assert.equal(code, 2);
  assert.match(refused, /left out, since the sidecar's probes make their load, and not k6: tunnel\/trips/);
});

test('own system: its board is generated, and the others lead to it', async () => {
  const { code, stderr } = await run('node', ['grafana/generate.js']);
  assert.equal(code, 0, stderr);
  const board = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(join(checkout, `grafana/dashboards/${name}.json`), 'utf8'));
  assert.equal(board('web').uid, 'windtunnel-web');
  assert.ok(board('web').panels.length > 4);
  assert.ok(board('panel').links.some((/** @type {any} */ { title }) => title === 'Web'));
});

test('own system: its files are valid', async () => {
  const { code, stdout, stderr } = await run('bin/k6', ['x', 'validate']);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\d\d files valid\n$/);
});

for (const [system, line] of /** @type {const} */ ([
  [
    { wep: { testbed: { name: 'python-web' } } },
    /systems\.wep: there is no folder scripts\/wep; there are: dataplane, .*, tunnel, .*web; did you mean web\?/,
  ],
  [
    { web: { testbed: { name: 'python-web' }, settings: { paht: '/' } } },
    /systems\.web\.settings\.paht: unknown key; known here: path; did you mean path\?/,
  ],
  [
    { web: { testbed: { name: 'python-web' }, settings: { path: '/' }, placement: 'split' } },
    /systems\.web: placement and target are of probed systems; write probed = true into scripts\/web\/system\.toml, or remove them/,
  ],
  [
    { web: { testbed: { name: 'python-web' }, settings: { path: '/' }, thresholds: { lsit: {} } } },
    /systems\.web\.thresholds\.lsit: there is no such scenario; there are: list; did you mean list\?/,
  ],
])) {
  test(`own system: refused in a line: ${line.source}`, async () => {
    environment('wrong', system);
    const { code, stderr } = await run('bin/k6', ['x', 'validate', 'environments/wrong.json']);
    assert.equal(code, 2);
    assert.match(stderr, line);
  });
}

test('own system: bounds that it brings along for no scenario of its are refused', async () => {
  write('scripts/web/thresholds.json', JSON.stringify({ lsit: { get: { max: 1 } } }));
  const { code, stderr } = await run('bin/k6', ['x', 'validate', 'scripts/web/thresholds.json']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /thresholds\.json: lsit: there is no such scenario; there are: list; did you mean list\?/,
  );
});
