/** The registry of variables: scripts read the variables that it lists, with its defaults and bounds. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import {
  defaultNumber,
  defaultOf,
  durationSeconds,
  envChoice,
  envCount,
  envList,
  envNumber,
  mostOf,
} from '../../lib/variables.js';
import { K6, ROOT, cleanEnvironment } from '../support/k6.js';

/** @typedef {{ name: string, unit: string, default?: object, default_by?: string[], of: string[] }} Variable */
/** @type {Variable[]} */
const VARIABLES = JSON.parse(readFileSync(join(ROOT, 'k6/lists/variables.json'), 'utf8'));

/** Variables that only bench reads, for some systems. */
const BY_BENCH = ['RUNNERS'];

/** Variables that bench sets for its scripts, and no user sets. */
const OF_BENCH =
  'ASKED_FOR DATAPLANE_ROUTED ECHO_CPUS FOOTPRINT_URL GENERATOR_PID INSTANCE MEASURED_AGAIN PROBE_CPUS RECORD_ONLY SIDECAR_TOKEN SIDECAR_URL SYSTEM_CPUS USERS_SEED'.split(
    ' ',
  );
const named = new Map(VARIABLES.map((variable) => [variable.name, variable]));

/** @param {string} folder @returns {string[]} */
const filesOf = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
/** @param {string} file */
const textOf = (file) => readFileSync(join(ROOT, file), 'utf8');
const SOURCES = [...filesOf('lib'), ...filesOf('scripts')];
const SCENARIOS = filesOf('scripts')
  .filter((file) => !/\/_/.test(file))
  .map((file) => file.replace(/^scripts\/|\.js$/g, ''));

const folder = mkdtempSync(join(tmpdir(), 'windtunnel-variables-'));
after(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  globalThis.__ENV = {};
});

test('whatever a script reads is in the registry', () => {
  const read = SOURCES.flatMap((file) =>
    [
      ...textOf(file).matchAll(
        /env(?:Count|Number|Choice|List|Text)\(\s*'([A-Z_0-9]+)'|__ENV\.([A-Z_0-9]+)/g,
      ),
    ].map(([, one, other]) => one ?? other),
  );
  assert.ok(read.length > 100);
  assert.deepEqual(
    [...new Set(read)].filter((name) => !named.has(name) && !OF_BENCH.includes(name)),
    [],
  );
});

test('a default that the registry has stands nowhere else', () => {
  const fallbacks = SOURCES.flatMap((file) =>
    [
      ...textOf(file).matchAll(/env(?:Count|Number|Choice|List|Text)\(\s*'([A-Z_0-9]+)'(?:,\s*([^;]*?))?\)/g),
    ].map(([, name, fallback]) => ({ file, name, fallback })),
  );
  assert.ok(fallbacks.length > 50);
  for (const { file, name, fallback } of fallbacks) {
    const variable = /** @type {Variable} */ (named.get(name));
    const told = `${file}: ${name}, ${fallback}`;
    // If there are several defaults, or the default depends on more, the script selects one.
    const several = variable.default_by || typeof variable.default === 'object';
    assert.equal(fallback !== undefined, Boolean(several), told);
    if (fallback && !variable.default_by) assert.doesNotMatch(fallback, /^\d[\d_.]*$/, told);
    if (variable.default && fallback && /^'/.test(fallback))
      assert.ok(fallback.slice(1, -1) in variable.default || variable.default_by, told);
  }
});

/** A module to load before a script, and one that prints what the script has read while it was loaded. */
const WATCH = `globalThis.read = new Set();
globalThis.__ENV = new Proxy(__ENV, { get: (own, name) => (globalThis.read.add(name), own[name]) });`;
const tell = (/** @type {string} */ scenario) => `import './watch.js';
import ${JSON.stringify(pathToFileURL(join(ROOT, 'scripts', `${scenario}.js`)).href)};
export const options = { ext: { read: [...globalThis.read] } };
export default () => {};`;

/** Variables without which a script does not read others. */
const ASKING = { ASKED_FOR: 'options', SWEEP: 'queue', VALUES: '1,2', CANDIDATE: K6 };

/** Variables that a scenario reads while it is loaded. @param {string} scenario @returns {Promise<Set<string>>} */
async function readBy(scenario) {
  const script = join(folder, `${scenario.replace('/', '-')}.js`);
  writeFileSync(script, tell(scenario));
  const read = new Set();
  for (const PROFILE of ['smoke', 'full', 'soak']) {
    const env = { ...cleanEnvironment(), ...ASKING, PROFILE };
    const asked = promisify(execFile)(K6, ['inspect', '--include-system-env-vars', script], { env });
    const { stdout } = await asked.catch((error) => {
      if (/choose smoke, quick or full/.test(error.stderr)) return { stdout: '{}' };
      throw error;
    });
    for (const name of JSON.parse(stdout).ext?.read ?? []) read.add(name);
  }
  return read;
}

/** Whether a variable is read later: by a running scenario, as part of an environment, or only by Go or `make`. @param {Variable} variable */
const isElsewhere = ({ name, of }) =>
  of.includes('*') || BY_BENCH.includes(name) || of.some((one) => name.startsWith(`${one.toUpperCase()}_`));

test('a scenario reads the variables that the registry says, and no others', async () => {
  writeFileSync(join(folder, 'watch.js'), WATCH);
  for (const scenario of SCENARIOS) {
    const [system] = scenario.split('/');
    const read = await readBy(scenario);
    for (const variable of VARIABLES) {
      const told = variable.of.some((of) => ['*', system, scenario].includes(of));
      if (read.has(variable.name)) assert.ok(told, `${scenario} reads ${variable.name}`);
      else if (!isElsewhere(variable)) assert.ok(!told, `${scenario} does not read ${variable.name}`);
    }
  }
});

test('a value is that of the variable, else the default', () => {
  assert.equal(envCount('BATCH_SIZE'), 50);
  assert.equal(envCount('BATCH_SIZE', 7), 7);
  assert.equal(envCount('PAYLOAD_BYTES', 'dataplane/socks-tcp'), 1024);
  assert.equal(envNumber('TOLERANCE'), 0.05);
  assert.equal(envChoice('WAIT'), 'block');
  assert.equal(envChoice('ASKS', 'tcp'), 'tcp');
  assert.deepEqual(envList('DIRECTIONS'), ['up', 'down', 'both']);
  assert.equal(durationSeconds(30), 30);
  globalThis.__ENV = {
    BATCH_SIZE: '9',
    TOLERANCE: '0.1',
    WAIT: 'spin',
    DIRECTIONS: 'down, up',
    DURATION: '1.5m',
    EXISTING: '0',
  };
  assert.equal(envCount('BATCH_SIZE', 7), 9);
  assert.equal(envNumber('TOLERANCE'), 0.1);
  assert.equal(envChoice('WAIT'), 'spin');
  assert.deepEqual(envList('DIRECTIONS'), ['down', 'up']);
  assert.equal(durationSeconds(30), 90);
  assert.equal(envCount('EXISTING', 7), 0);
  for (const [text, seconds] of [
    ['90', 90],
    ['90s', 90],
    ['5m', 300],
    ['1h', 3600],
  ]) {
    globalThis.__ENV = { DURATION: text };
    assert.equal(durationSeconds(30), seconds);
  }
});

test('a value out of its bounds is refused in one line', () => {
  globalThis.__ENV = { BATCH_SIZE: '101', TOPICS: '1.5', WAIT: 'spni', TUNNELS: '0', DURATION: '25h' };
  assert.throws(() => envCount('BATCH_SIZE'), /^BATCH_SIZE=101: at most 100$/);
  assert.throws(() => envCount('TOPICS', 7), /^TOPICS=1\.5: a whole number from 1 to 10,000 is wanted$/);
  assert.throws(() => envChoice('WAIT'), /^WAIT=spni: choose one of block, spin, yield$/);
  assert.throws(
    () => envList('TUNNELS', '10'),
    /^TUNNELS=0: different whole numbers from 1 to 4,096 are wanted/,
  );
  assert.throws(() => durationSeconds(7), /^DURATION=25h: write it as 90s, 5m or 1h, at most 24h$/);
});

test('a default that the registry does not have is a mistake of the script', () => {
  assert.equal(mostOf('CLIENTS'), 10_000);
  assert.equal(defaultNumber('REQUEST_TIMEOUT_S', 'panel'), 60);
  assert.throws(() => defaultOf('RATE', 'pulsar/none'), /RATE: .* no default for pulsar\/none/);
  assert.throws(() => defaultOf('MESSAGES'), /MESSAGES: .* no default/);
  assert.throws(() => mostOf('CLEINTS'), /CLEINTS: .* no such variable/);
});

test('a script of one’s own may read variables of its own', () => {
  assert.equal(envCount('OF_MY_OWN', 3), 3);
  assert.equal(envChoice('OF_MY_OWN', ['a', 'b']), 'a');
  globalThis.__ENV = { OF_MY_OWN: '1.5' };
  assert.equal(envNumber('OF_MY_OWN', 3), 1.5);
  assert.throws(
    () => envCount('OF_MY_OWN', 3),
    /^OF_MY_OWN=1\.5: a whole number from 1 to 10,000,000 is wanted$/,
  );
  assert.throws(() => envChoice('OF_MY_OWN', ['a', 'b']), /^OF_MY_OWN=1\.5: choose one of a, b$/);
});

/** @param {string} flag */
const ranWith = (flag) =>
  promisify(execFile)(K6, ['run', '--quiet', '-e', flag, 'scripts/pulsar/ingest.js'], {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ASKED_FOR: 'options', PULSAR_URL: 'http://127.0.0.1:1' },
  }).then(
    () => assert.fail('it ran'),
    (error) => error,
  );

test('k6 run refuses a misspelt variable of -e', async () => {
  const { code, stderr } = await ranWith('CLEINTS=7');
  assert.equal(code, 107);
  assert.match(stderr, /CLEINTS: no such variable; did you mean CLIENTS\?/);
  const other = await ranWith('OF_MY_OWN=7');
  assert.doesNotMatch(other.stderr, /no such variable/);
});
