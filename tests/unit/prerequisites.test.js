/** setup/prerequisites: what is missing, in one line, before anything is built. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('prerequisites');
after(() => folder.remove());

/** What the script itself needs. */
const TOOLS = ['bash', 'dirname', 'env', 'grep', 'head', 'sort'];
const WHOLE = {
  go: 'go1.26.3',
  cargo: 'cargo 1.90.0 (x)',
  python3: 'Python 3.11.2',
  node: 'v20.19.0',
  npm: '10.8.2',
};
const COMMANDS = [
  'make',
  'cc',
  'influxd',
  'curl',
  'git',
  'mariadbd',
  'ip',
  'iptables',
  'sshd',
  'shellcheck',
  'apt-get',
  'openssl',
  'perl',
  'pgrep',
  'nsenter',
  'dpkg-deb',
];
/** @param {string} name of a toolchain */
const without = (name) => Object.fromEntries(Object.entries(WHOLE).filter(([one]) => one !== name));

/**
 * @param {string[]} asked of the script
 * @param {Record<string, string>} versions of the toolchains
 * @param {string[]} commands
 */
function prerequisites(asked, versions, commands) {
  const path = folder.fresh();
  for (const tool of TOOLS) symlinkSync(join('/usr/bin', tool), join(path, tool));
  const scripts = { ...Object.fromEntries(commands.map((name) => [name, ''])), ...versions };
  for (const [name, version] of Object.entries(scripts)) {
    writeFileSync(join(path, name), `#!${path}/bash\necho '${version}'\n`);
    chmodSync(join(path, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync(join(path, 'bash'), ['setup/prerequisites', ...asked], {
    cwd: ROOT,
    env: { PATH: path },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** @param {string} use @param {Record<string, string>} [versions] @param {string[]} [commands] */
function missing(use, versions = WHOLE, commands = COMMANDS) {
  const { status, stderr } = prerequisites(['missing', use], versions, commands);
  return { status, stderr };
}

test('who installs for one use is not asked for what others need', () => {
  const installed = (/** @type {string[]} */ ...use) => {
    const { status, stdout, stderr } = prerequisites(['install', ...use], without('node'), COMMANDS);
    return [status, stdout, stderr];
  };
  assert.deepEqual(installed('bench'), [0, 'all that make bench needs is there\n', '']);
  const told = 'make: install by hand, as packages are older: node 20.19 or newer (nodejs.org)\n';
  assert.deepEqual(installed('test'), [4, '', told]);
  assert.equal(installed('nothing')[0], 2);
});

test('nothing is said where all is there', () => {
  for (const use of ['bench', 'test', 'lint', 'kubernetes'])
    assert.deepEqual(missing(use), { status: 0, stderr: '' });
});

test('one line names all that is missing or too old, with its mend', () => {
  const { status, stderr } = missing(
    'test',
    { ...WHOLE, go: 'go1.25.9', node: 'v18.20.4' },
    COMMANDS.filter((name) => name !== 'cc' && name !== 'influxd'),
  );
  assert.equal(
    stderr,
    'make: missing or too old: go 1.26 or newer (here: 1.25; go.dev/dl), node 20.19 or newer (here: 18.20; nodejs.org), gcc, influxdb: make setup, or apt-get install gcc influxdb\n',
  );
  assert.equal(status, 4);
});

test('what only the tests need does not stop a bench', () => {
  const others = without('node');
  const commands = COMMANDS.filter((name) => name !== 'influxd');
  assert.deepEqual(missing('bench', others, commands), { status: 0, stderr: '' });
  assert.equal(missing('test', others, commands).status, 4);
});

test('what a cluster for tests needs stops neither a bench nor the other tests', () => {
  const commands = COMMANDS.filter((name) => name !== 'openssl');
  for (const use of ['bench', 'test', 'lint'])
    assert.deepEqual(missing(use, WHOLE, commands), { status: 0, stderr: '' });
  const told = 'make: missing or too old: openssl: make setup, or apt-get install openssl\n';
  assert.deepEqual(missing('kubernetes', WHOLE, commands), { status: 4, stderr: told });
});

test('where make itself is missing, what installs it is not make', () => {
  const told = missing(
    'bench',
    WHOLE,
    COMMANDS.filter((name) => name !== 'make'),
  ).stderr;
  assert.equal(
    told,
    'make: missing or too old: make: setup/prerequisites install, or apt-get install make\n',
  );
});

test('a toolchain alone is no package', () => {
  const others = without('cargo');
  assert.equal(
    missing('bench', others).stderr,
    'make: missing or too old: cargo 1.88 or newer (rustup.rs)\n',
  );
});

test('elsewhere than on Debian the packages are named all the same', () => {
  const { stderr } = missing(
    'bench',
    WHOLE,
    COMMANDS.filter((name) => name !== 'cc' && name !== 'apt-get'),
  );
  assert.equal(stderr, "make: missing or too old: gcc; the packages' names are Debian's\n");
});

test('what is left out without it is in the same line, and its package in the same command', () => {
  const few = COMMANDS.filter((name) => name !== 'cc' && name !== 'ip');
  assert.equal(
    missing('bench', WHOLE, few).stderr,
    'make: missing or too old: gcc; what needs iproute2 is left out without: make setup, or apt-get install gcc iproute2\n',
  );
  const most = missing(
    'bench',
    WHOLE,
    COMMANDS.filter((name) => name !== 'ip'),
  );
  assert.equal(most.status, 0);
  assert.match(most.stderr, /^not installed, so that what needs them is left out: iproute2; .*\n$/);
});

test('where Python is missing its package is told, and it is no toolchain to look for', () => {
  const { stderr } = missing('bench', without('python3'));
  assert.equal(
    stderr,
    'make: missing or too old: python3, python3-venv: make setup, or apt-get install python3 python3-venv\n',
  );
});

test('lint asks for what Rust is formatted and linted with', () => {
  const { stderr } = missing('lint', without('cargo'));
  assert.match(
    stderr,
    /cargo 1\.88 or newer \(rustup\.rs\), rustfmt 1\.8 or newer \(rustup\.rs\), clippy 0\.1 or newer \(rustup\.rs\)\n$/,
  );
});
