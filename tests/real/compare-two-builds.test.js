/** Two builds of the relay and of the panel side by side, and two panels that are up at two URLs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { compared } from '../support/compare.js';
import { ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';
import { lendAll, using } from '../support/lend.js';

const folder = temporaryFolder('two-builds');
after(folder.remove);

const QUICKLY = { REST_S: '0' };
const REFUSED =
  /^A and B are the same, with the same settings \(.+\): nothing is measured; was a build forgotten, or one path given twice\? SAME=1 \(--same\) measures them anyway$/;

/** @param {string[]} args */
const make = (...args) =>
  spawnSync('make', args, { cwd: ROOT, encoding: 'utf8', env: cleanEnvironment(), timeout: 300_000 });

/** The output of make without its own line. @param {string} stderr */
const linesOf = (stderr) => stderr.split('\n').filter((line) => line !== '' && !line.startsWith('make: ***'));

/**
 * Checks a least number of runs. Each run is used, unless others took the CPU of the system or of k6.
 * @param {{ used: boolean, message: string }[]} runs @param {number} least
 */
function assertMeasured(runs, least) {
  assert.ok(runs.length >= least, JSON.stringify(runs));
  for (const one of runs)
    assert.ok(one.used || /neighbours|generator CPU/.test(one.message), JSON.stringify(one));
}

test('two sides that are the same are not measured, however they are written', async () => {
  const copy = join(folder.path, 'copy');
  cpSync(join(ROOT, 'testbeds/panel'), copy, { recursive: true });
  for (const [a, b, scenario] of [
    ['pulsar-relay', 'pulsar-relay:http_port=18099', 'pulsar/ingest'],
    ['pulsar-relay', `pulsar-relay:python=${ROOT}.venv/pulsar-relay/bin/python`, 'pulsar/ingest'],
    ['sing-box-pair', `sing-box-pair:binary=${ROOT}bin/sing-box`, 'dataplane/socks-tcp'],
    ['panel', `panel:source=${copy}`, 'panel/users-create'],
  ]) {
    const run = await compared(['--a', a, '--b', b, '--scenario', scenario]);
    assert.equal(run.code, 3, run.output.stderr);
    assert.equal(run.lines.length, 1, run.lines.join('\n'));
    assert.match(run.lines[0], REFUSED);
    assert.ok(!existsSync(run.folder));
  }
});

/**
 * The loads of both sides ran at the same time.
 * @param {Awaited<ReturnType<typeof compared>>} run of one pair
 */
function assertAtOnce(run) {
  const loads = ['a', 'b']
    .map((side) => JSON.parse(run.text(`pair01-${side}/panel-users-create.json`)))
    .map(({ run: { parameters, start }, operations: [{ requests, rate_per_s }] }) => ({
      at_once: parameters.at_once,
      from: Date.parse(start),
      to: Date.parse(start) + (requests / rate_per_s) * 1000,
    }));
  const both = Math.min(...loads.map(({ to }) => to)) - Math.max(...loads.map(({ from }) => from));
  const longest = Math.max(...loads.map(({ from, to }) => to - from));
  const shown = JSON.stringify(loads);
  assert.ok(
    loads.every(({ at_once }) => at_once),
    shown,
  );
  // The two panels need not be equally fast, but neither load waited for the other one.
  assert.ok(both > longest / 3, shown);
}

test('a panel from a folder that was changed is told from the one that was not', async () => {
  const source = join(folder.path, 'changed');
  cpSync(join(ROOT, 'testbeds/panel'), source, { recursive: true });
  const file = join(source, 'panel/app.py');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n# changed\n`);
  const sides = ['--a', 'panel', '--b', `panel:source=${source}`, '--runs', '1'];
  const run = await compared([...sides, '--scenario', 'panel/users-create'], QUICKLY);
  try {
    assert.equal(run.code, 3, run.output.stdout + run.output.stderr); // too few pairs for a verdict
    const { a, b, verdict } = run.result();
    assertAtOnce(run);
    assert.equal(verdict, 'inconclusive');
    assert.notEqual(a.contents.source, b.contents.source);
    assert.equal(a.contents.python, b.contents.python);
    assert.match(b.versions.panel, /^source .*files [0-9a-f]{12}$/);
    for (const side of [a, b]) assertMeasured(side.runs, 1);
  } finally {
    run.remove();
  }
});

test('an A/A is measured where it is asked for', async () => {
  const sides = ['--a', 'sing-box-pair', '--b', 'sing-box-pair', '--same', '--runs', '1'];
  const run = await compared([...sides, '--scenario', 'dataplane/socks-tcp'], QUICKLY);
  try {
    assert.equal(run.code, 3, run.output.stdout + run.output.stderr);
    const { a, b } = run.result();
    assert.deepEqual(a.contents, b.contents);
    for (const side of [a, b]) assertMeasured(side.runs, 1);
  } finally {
    run.remove();
  }
});

/** A wheel of the installed relay, with one more line. @param {string} line */
function wheel(line) {
  const lib = join(ROOT, '.venv/pulsar-relay/lib');
  const packages = join(lib, readdirSync(lib)[0], 'site-packages');
  const path = join(folder.path, 'pulsar_relay-0.2.1-py3-none-any.whl');
  const pack = `
import sys, zipfile, pathlib
packages, path, line = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
about = "pulsar_relay-0.2.1.dist-info"
with zipfile.ZipFile(path, "w") as out:
    for file in sorted([*packages.glob("pulsar_relay/**/*.py"), *(packages / about / name for name in ("METADATA", "WHEEL"))]):
        text = file.read_text()
        out.writestr(str(file.relative_to(packages)), text + line if file.name == "main.py" else text)
    out.writestr(about + "/RECORD", "")
`;
  const { status, stderr } = spawnSync('python3', ['-c', pack, packages, path, line], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return path;
}

test('make installs a wheel beside the pinned relay, named for its content, and compares the two', async () => {
  const path = wheel('\nMARK = 1\n');
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  const environment = join(ROOT, `.venv/pulsar-relay@wheel-${digest.slice(0, 12)}`);
  const id = `test-wheel-${process.pid}`;
  try {
    const args = ['A=pulsar-relay', `B=pulsar-relay:wheel=${path}`, 'SCENARIO=pulsar-ingest', 'RUNS=1'];
    const { stdout, stderr } = make('compare', ...args, 'BESIDE=1', 'REST_S=0', `RUN_ID=${id}`);
    assert.match(stdout, /verdict: inconclusive/, stdout + stderr);
    const { a, b } = JSON.parse(readFileSync(join(ROOT, 'results', id, 'compare.json'), 'utf8'));
    assert.equal(b.versions.wheel, digest);
    assert.equal(b.versions['pulsar-relay'], '0.2.1');
    assert.notEqual(a.contents.python, b.contents.python);
    for (const side of [a, b]) assertMeasured(side.runs, 1);
    assert.match(readFileSync(join(environment, '.installed'), 'utf8'), /^$/);
  } finally {
    rmSync(environment, { recursive: true, force: true });
    rmSync(join(ROOT, 'results', id), { recursive: true, force: true });
  }
});

test('a wheel or a version that cannot be had is one line', async () => {
  const other = join(folder.path, 'other-1.0-py3-none-any.whl');
  writeFileSync(other, '');
  for (const [side, line] of /** @type {[string, RegExp][]} */ ([
    [
      `wheel=${other}`,
      /variable wheel: is .*other-1\.0-py3-none-any\.whl, and must be an absolute path that matches .*pulsar_relay-/,
    ],
    ['wheel=/no/such/pulsar_relay-1-py3-none-any.whl', /variable wheel: is .*, and there is no such file/],
    ['version=x', /variable version: is x, and must be a string that matches/],
  ])) {
    const run = await compared([
      '--a',
      'pulsar-relay',
      '--b',
      `pulsar-relay:${side}`,
      '--scenario',
      'pulsar/ingest',
    ]);
    assert.equal(run.code, 2, run.output.stderr);
    assert.equal(run.lines.length, 1, run.lines.join('\n'));
    assert.match(run.lines[0], line);
  }
  for (const [target, line] of /** @type {[string, RegExp][]} */ ([
    [
      '.venv/pulsar-relay@9.9.9',
      /^make: (there is no pulsar-relay==9\.9\.9: give a version that `python3 -m pip index versions pulsar-relay` lists|pulsar-relay==9\.9\.9 cannot be had: .*)$/,
    ],
    [
      '.venv/panel@pymysql-9.9.9',
      /^make: (there is no pymysql==9\.9\.9: give a version that `python3 -m pip index versions pymysql` lists|pymysql==9\.9\.9 cannot be had: .*)$/,
    ],
  ])) {
    const { status, stderr } = make('--silent', `${target}/.installed`);
    assert.equal(status, 2);
    assert.equal(linesOf(stderr).length, 1, stderr);
    assert.match(linesOf(stderr)[0], line);
    assert.ok(!existsSync(join(ROOT, target)));
  }
});

/** @param {{ instances: any[] }} lent */
async function compareTwo({ instances }) {
  const urls = instances.map(({ outputs }) => outputs.PANEL_URL);
  const passwords = instances.map(({ secret_outputs: secrets }) => secrets.PANEL_PASSWORD);
  const environment = join(folder.path, 'marzban.json');
  const panel = {
    url: urls[0],
    auth: { mode: 'login', username: 'admin', password_env: 'MARZBAN_PASSWORD' },
    user: { proxies: { shadowsocks: {} }, inbounds: { shadowsocks: ['Shadowsocks TCP'] } },
  };
  const systems = { panel };
  writeFileSync(
    environment,
    JSON.stringify({ schema: 'windtunnel.environment/1', name: 'marzban', systems }),
  );
  const sides = ['--a', urls[0], '--b', urls[1], '--env', environment, '--runs', '1'];
  const secrets = { MARZBAN_PASSWORD_A: passwords[0], MARZBAN_PASSWORD_B: passwords[1] };
  const run = await compared([...sides, '--scenario', 'panel/users-create'], { ...secrets, ...QUICKLY });
  try {
    assert.equal(run.code, 3, run.output.stdout + run.output.stderr);
    const { a, b } = run.result();
    assert.deepEqual([a.spec, b.spec], urls);
    for (const side of [a, b]) assertMeasured(side.runs, 1);
    for (const text of run.texts()) for (const password of passwords) assert.ok(!text.includes(password));
  } finally {
    run.remove();
  }
  const swapped = { MARZBAN_PASSWORD_A: passwords[1], MARZBAN_PASSWORD_B: passwords[0] };
  const wrong = await compared([...sides, '--scenario', 'panel/users-create'], swapped);
  wrong.remove();
  assert.equal(wrong.code, 4, wrong.output.stdout + wrong.output.stderr); // each side uses its own password
  const remote = ['--a', 'https://a.example.net', '--b', urls[1], '--env', environment];
  const refused = await compared([...remote, '--scenario', 'panel/users-create'], secrets);
  assert.equal(refused.code, 2);
  assert.match(
    refused.lines[0],
    /^a\.example\.net is not this machine; .* set CONFIRM_REMOTE=a\.example\.net$/,
  );
}

test('two panels that are up are compared by their URLs, each with a password of its own', async () =>
  using(await lendAll([['panel'], ['panel', { driver: 'asyncmy' }]]), compareTwo));
