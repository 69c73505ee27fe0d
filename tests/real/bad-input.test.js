/** Each error in the input is reported in one line, with the documented exit code. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { errorLines, startBench } from '../support/bench.js';
import { sideFile } from '../support/candidate.js';
import { ROOT, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { until } from '../support/processes.js';

const folder = temporaryFolder('bad-input');
after(folder.remove);

/** @param {object} pulsar */
const environment = (pulsar) =>
  writeEnvironment(folder.path, { auth: { mode: 'none' }, websocket: { auth: 'none' }, ...pulsar });

/** @param {string} text */
function broken(text) {
  writeFileSync(`${folder.path}/broken.json`, text);
  return `${folder.path}/broken.json`;
}

const cases = /** @type {[string, () => Record<string, string>, number, RegExp][]} */ ([
  ['an unknown profile', () => ({ PROFILE: 'smoek' }), 2, /unknown profile smoek.*smoke/],
  ['an unknown scenario', () => ({ ONLY: 'pulsar/ingset' }), 2, /ingset.*ingest/],
  ['an unknown system', () => ({ ONLY: 'pulsra' }), 2, /pulsra/],
  ['an unknown environment', () => ({ ENV: 'nowhere' }), 2, /no environment nowhere/],
  ['bad JSON', () => ({ ENV: broken('{ "schema": ') }), 2, /broken\.json/],
  [
    'an unknown key',
    () => ({ ENV: environment({ url: 'http://127.0.0.1:1', adress: 'x' }) }),
    2,
    /systems\.pulsar\.adress: unknown key/,
  ],
  ['a missing URL', () => ({ ENV: environment({}) }), 2, /systems\.pulsar: give either url or testbed/],
  [
    'an unknown auth mode',
    () => ({ ENV: environment({ url: 'http://127.0.0.1:1', auth: { mode: 'oauth' } }) }),
    2,
    /systems\.pulsar\.auth\.mode: .*oauth.* is not one of none, login, token/,
  ],
  [
    'a host that is not this machine',
    () => ({ ENV: environment({ url: 'https://relay.example.net' }) }),
    2,
    /CONFIRM_REMOTE=relay\.example\.net/,
  ],
  [
    'a secret that is not set',
    () => ({
      ENV: environment({ url: 'http://127.0.0.1:1', auth: { mode: 'token', token_env: 'NO_SUCH_TOKEN' } }),
    }),
    2,
    /NO_SUCH_TOKEN/,
  ],
  [
    'thresholds of a scenario that there is not',
    () => ({
      ENV: environment({ url: 'http://127.0.0.1:1', thresholds: { ingst: { publish: { max: 1 } } } }),
    }),
    2,
    /systems\.pulsar\.thresholds\.ingst: there is no such scenario; .*did you mean ingest\?/,
  ],
  [
    'thresholds of an operation that there is not, of another scenario',
    () => ({
      ONLY: 'pulsar/ingest',
      ENV: environment({ url: 'http://127.0.0.1:1', thresholds: { bulk: { pubish: { max: 1 } } } }),
    }),
    2,
    /systems\.pulsar\.thresholds\.bulk\.pubish: there is no such operation; .*did you mean publish\?/,
  ],
  [
    'a candidate that is no program',
    () => ({ ONLY: 'protocols/matrix', CANDIDATE: '/nope' }),
    2,
    /CANDIDATE=\/nope: no such file/,
  ],
  [
    'a malformed file of a candidate',
    () => ({ ONLY: 'protocols/matrix', CANDIDATE: sideFile({ filtre: '/bin/cat' }) }),
    2,
    /CANDIDATE=.*\/side\.toml: filtre: unknown key; .*did you mean filter\?/,
  ],
  [
    'a variable that a key of such a file has replaced',
    () => ({ ONLY: 'protocols/matrix', CANDIDATE: 'xray', CANDIDATE_ENV: 'A=1' }),
    2,
    /CANDIDATE_ENV is gone: give CANDIDATE=FILE\.toml, a file with the key env/,
  ],
  [
    'a testbed of another system',
    () => ({ ONLY: 'dataplane/socks-tcp', TESTBED: 'panel' }),
    2,
    /testbeds\/panel\.toml starts the system panel, and the scenarios chosen are of dataplane/,
  ],
  [
    'too many clients',
    () => ({ ONLY: 'pulsar/ingest', CLIENTS: '1000000' }),
    2,
    /CLIENTS=1000000: at most 10,000/,
  ],
  [
    'a password that the relay does not take',
    () => ({ ONLY: 'pulsar/ingest', PULSAR_PASSWORD: 'short' }),
    4,
    /PULSAR_PASSWORD: the system accepts no value of fewer than 8 characters/,
  ],
  [
    'an unknown testbed',
    () => ({ ENV: environment({ testbed: { name: 'pulsar-rely' } }) }),
    2,
    /pulsar-rely/,
  ],
  [
    'an unknown variable of a testbed',
    () => ({ ENV: environment({ testbed: { name: 'pulsar-relay', variables: { rate_limits: true } } }) }),
    2,
    /rate_limits/,
  ],
  [
    'no relay listening',
    () => ({ ENV: environment({ url: 'http://127.0.0.1:1' }), ONLY: 'pulsar/ingest' }),
    4,
    /http:\/\/127\.0\.0\.1:1 refused the connection/,
  ],
  [
    'a number that is none',
    () => ({ ENV: environment({ url: 'http://127.0.0.1:1' }), ONLY: 'pulsar/ingest', MESSAGES: 'many' }),
    2,
    /MESSAGES=many: a whole number from 1 to 10,000,000 is wanted/,
  ],
]);

for (const [name, variables, code, pattern] of cases) {
  test(`${name}: one line and exit code ${code}`, async () => {
    const bench = startBench(variables());
    try {
      assert.equal(await bench.ended, code, bench.output.stderr + bench.output.stdout);
      const lines = errorLines(bench.output);
      assert.equal(lines.length, 1, `${bench.output.stdout}${bench.output.stderr}`);
      assert.match(lines[0], pattern);
    } finally {
      bench.remove();
    }
  });
}

test('a missing sidecar is told in one line', async () => {
  const bench = startBench({ ONLY: 'pulsar/ingest' }, ['--sidecar', `${folder.path}/nothing`]);
  try {
    assert.equal(await bench.ended, 4);
    assert.match(errorLines(bench.output).join(), /is missing; run `make build`/);
  } finally {
    bench.remove();
  }
});

test('without Go and without bin/k6, make says what to install', () => {
  const copy = `${folder.path}/copy`;
  mkdirSync(`${copy}/k6`, { recursive: true });
  mkdirSync(`${copy}/setup`);
  for (const name of ['Makefile', 'setup/program']) copyFileSync(`${ROOT}/${name}`, `${copy}/${name}`);
  writeFileSync(`${copy}/k6/main.go`, 'package main\n');
  const made = spawnSync('make', ['bin/k6'], { cwd: copy, encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
  assert.notEqual(made.status, 0);
  assert.match(made.stderr, /go is not installed: install Go/);
});

test('topics are removed after Ctrl-C too', async () => {
  const relay = await startRelay({ delayMs: 2 });
  const ENV = environment({ url: relay.url });
  const bench = startBench({ ENV, PROFILE: 'quick', ONLY: 'pulsar/ingest', MESSAGES: '100000' });
  try {
    await until(() => relay.truth.publishes > 200, 'the load');
    assert.equal(relay.truth.topics.size, 10);
    bench.child.kill('SIGINT');
    assert.equal(await bench.ended, 130);
    assert.equal(relay.truth.topics.size, 0);
    const result = bench.result('pulsar-ingest');
    assert.equal(result.verdict, 'inconclusive');
    // k6 drops samples after the interrupt, which may fall between two samples of one request.
    const { success, latency_ms: latency } = result.operations[0];
    assert.equal(success, latency.count);
  } finally {
    await relay.stop();
    bench.remove();
  }
});

test('topics are removed after Ctrl-C during the set-up too, where k6 runs no teardown', async () => {
  const relay = await startRelay({ delayMs: 300 });
  const bench = startBench({ ENV: environment({ url: relay.url }), ONLY: 'pulsar/ingest' });
  try {
    await until(() => relay.truth.publishes > 2, 'the warm-up');
    assert.equal(relay.truth.topics.size, 1);
    bench.child.kill('SIGINT');
    assert.equal(await bench.ended, 130);
    assert.equal(relay.truth.topics.size, 0);
  } finally {
    await relay.stop();
    bench.remove();
  }
});

test('make refuses an ONLY that contradicts its target', () => {
  const make = (/** @type {string[]} */ ...args) =>
    spawnSync('make', ['-n', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      // Inside `make -j` this make would report the outer make on stderr.
      env: { ...process.env, MAKEFLAGS: '', MAKELEVEL: '' },
      // Bash reads its start-up files if its input is a socket.
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const made = make('protocols', 'ONLY=protocols/matrix,protocols/chain');
  assert.match(made.stdout, /^bin\/k6 x target protocols$/m);
  for (const args of [
    ['protocols', 'ONLY=pulsar'],
    ['protocols-matrix', 'ONLY=protocols/chain'],
    ['dataplane', 'ONLY=panel'],
  ]) {
    const { status, stderr } = make(...args);
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^ONLY=\S+ names what is not of \S+: leave it out, or run `make bench`\nmake: \*\*\* [^\n]*\n$/,
    );
  }
});
