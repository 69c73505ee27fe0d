/** setup/prerequisites: reports in one line what is missing, before anything is built. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('prerequisites');
after(() => folder.remove());

/** Programs that the script itself needs. */
const TOOLS = ['bash', 'chmod', 'cp', 'dirname', 'env', 'grep', 'head', 'sort', 'touch'];
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
  'redis-server',
  'ip',
  'iptables',
  'ping',
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
 * @param {Record<string, string>} [scripts] commands that do something, without their first line
 * @param {Record<string, string>} [variables]
 */
function prerequisites(asked, versions, commands, doing = {}, variables = {}) {
  const path = folder.fresh();
  for (const tool of TOOLS) symlinkSync(join('/usr/bin', tool), join(path, tool));
  const scripts = { ...Object.fromEntries(commands.map((name) => [name, ''])), ...versions };
  for (const [name, version] of Object.entries(scripts)) {
    writeFileSync(join(path, name), `#!${path}/bash\necho '${version}'\n`);
    chmodSync(join(path, name), 0o755);
  }
  for (const [name, script] of Object.entries(doing)) {
    writeFileSync(join(path, name), `#!${path}/bash\n${script}\n`);
    chmodSync(join(path, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync(join(path, 'bash'), ['setup/prerequisites', ...asked], {
    cwd: ROOT,
    env: { PATH: path, ...variables },
    encoding: 'utf8',
  });
  const log = join(path, 'apt.log');
  const asks = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  return { status, stdout, stderr, asks };
}

/** Records its arguments, and installs packages as commands. Packages in `$refused` are unavailable. */
const APT = `
here=\${BASH_SOURCE%/*}
declare -A commands=([gcc]=cc [influxdb]=influxd [iproute2]=ip)
asked=" $* "
[[ $asked == *' update '* ]] && { echo update >>"$here/apt.log"; exit 0; }
asked=\${asked##*--no-install-recommends }
echo "install \${asked% }" >>"$here/apt.log"
for package in $asked; do
  [[ " $REFUSED " != *" $package "* ]] || { echo "Reading lists"; echo "E: Unable to locate package $package" >&2; exit 100; }
  cp -p "$here/make" "$here/\${commands[$package]}"
done`;
/** A machine on which nothing is really installed or written. @param {{ user?: number, sudo?: string, lists?: string }} [machine] */
const machine = ({ user = 0, sudo = 'exit 1', lists = '' } = {}) => ({
  'apt-get': APT,
  id: `echo ${user}`,
  sudo,
  find: `echo '${lists}'`,
  tee: ':',
  rm: ':',
  systemctl: 'echo "systemctl $*" >>"${BASH_SOURCE%/*}/apt.log"',
});
/** A sudo that needs no password. */
const FREE = 'while [[ $1 == -n ]]; do shift; done; "$@"';
const FEW = COMMANDS.filter((name) => !['cc', 'influxd', 'ip', 'apt-get'].includes(name));

test('what may be installed is, after one line that names it, and lists that are missing are fetched first', () => {
  const { status, stderr, asks } = prerequisites(['ready', 'test'], WHOLE, FEW, machine());
  assert.equal(
    stderr,
    "installing what make test lacks of Debian's packages: gcc, influxdb, iproute2 (SETUP=0 turns this off)\n",
  );
  assert.equal(status, 0);
  assert.deepEqual(asks, [
    'update',
    'install gcc influxdb iproute2',
    'systemctl --quiet disable influxdb.service',
  ]);
});

test('who may use sudo without a password installs too, from lists that are new', () => {
  const { status, asks } = prerequisites(
    ['ready', 'bench'],
    WHOLE,
    FEW,
    machine({ user: 1000, sudo: FREE, lists: 'archive_Packages' }),
  );
  assert.deepEqual([status, asks], [0, ['install gcc', 'install iproute2']]);
});

test('before a build, only the packages that building takes are installed', () => {
  const { status, asks } = prerequisites(['ready', 'build'], WHOLE, FEW, machine());
  assert.deepEqual([status, asks], [0, ['update', 'install gcc']]);
});

test('nothing is installed without the right to, with SETUP=0, or where a toolchain is missing', () => {
  const told =
    'make: missing or too old: gcc; what needs iproute2 is left out without: make setup, or apt-get install gcc iproute2\n';
  for (const [own, variables] of /** @type {const} */ ([
    [machine({ user: 1000 }), {}],
    [machine(), { SETUP: '0' }],
  ])) {
    const { status, stderr, asks } = prerequisites(['ready', 'bench'], WHOLE, FEW, own, variables);
    assert.deepEqual([status, stderr, asks], [4, told, []]);
  }
  const { status, stderr, asks } = prerequisites(['ready', 'bench'], without('go'), FEW, machine());
  assert.deepEqual([status, asks], [4, []]);
  assert.match(stderr, /^make: missing or too old: go 1\.26 or newer \(go\.dev\/dl\), gcc; .*\n$/);
});

test('what is needed and cannot be installed ends it in one line, what is not needed does not', () => {
  const refused = (/** @type {string} */ name) =>
    prerequisites(['ready', 'bench'], WHOLE, FEW, machine(), { REFUSED: name });
  const needed = refused('gcc');
  assert.equal(needed.status, 4);
  assert.match(needed.stderr, /\nmake: apt-get cannot install gcc: E: Unable to locate package gcc\n$/);
  const other = refused('iproute2');
  assert.equal(other.status, 0);
  assert.match(
    other.stderr,
    /\napt-get cannot install iproute2, so that what needs them is left out: E: Unable to locate package iproute2\n$/,
  );
});

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
