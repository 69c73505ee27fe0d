/** The files of a release: two builds of one commit are the same bytes, and the release runs on a machine without other files. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, start, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('dist');
after(folder.remove);
const ARCHITECTURE = { x64: 'amd64', arm64: 'arm64' }[process.arch] ?? assert.fail(process.arch);
/** A release that was made already, such as on another machine; then nothing is built here. */
const GIVEN = process.env.DIST ? resolve(process.env.DIST) : undefined;

/** @param {string} name of a folder in the temporary one */
const inside = (name) => join(folder.path, name);
const release = GIVEN ?? inside('first/out');

/** @param {RegExp} pattern */
const made = (pattern) =>
  join(release, readdirSync(release).find((name) => pattern.test(name)) ?? assert.fail(String(pattern)));
const ARCHIVE = new RegExp(`^windtunnel-.*-linux-${ARCHITECTURE}[.]tar[.]gz$`);

const COMMIT = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();

/**
 * Builds a release from a clone, and returns its checksums.
 * @param {string} name
 * @param {Record<string, string>} [env] more of it
 */
async function build(name, env = {}) {
  const checkout = inside(`${name}/checkout`);
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, checkout]);
  // HEAD may have moved since COMMIT was read.
  execFileSync('git', ['-C', checkout, 'checkout', '--quiet', COMMIT]);
  const began = performance.now();
  const run = start(join(checkout, 'setup/dist'), [inside(`${name}/out`), ARCHITECTURE], {
    cwd: folder.path,
    env: { ...process.env, DIST_TARGET: inside(`${name}/target`), ...env },
  });
  assert.equal(await run.ended, 0, run.output.stderr);
  console.log(`# build ${name}: ${Math.round((performance.now() - began) / 1000)} s`);
  return readFileSync(inside(`${name}/out/SHA256SUMS`), 'utf8');
}

/** A program of the release sees only its own folder, /proc, an empty /tmp and these variables. */
const ALONE = `
mkdir -p "$ROOT/proc" "$ROOT/tmp" "$ROOT/dev"
touch "$ROOT/dev/null"
mount --rbind /proc "$ROOT/proc"
mount --bind /dev/null "$ROOT/dev/null"
exec env -i PATH=/nonexistent HOME=/tmp "\${KEPT[@]}" "$(command -v chroot)" "$ROOT" "$@"
`;

/**
 * @param {string} root
 * @param {string[]} command
 * @param {{ before?: string, around?: string[] }} [more] bash runs `before` first; KEPT names variables
 */
const alone = (root, command, { before = '', around = [] } = {}) => {
  const [first, ...rest] = [
    ...around,
    ...['unshare', '--user', '--map-root-user', '--mount', 'bash', '-euc'],
    `KEPT=()\n${before}\n${ALONE}`,
    'alone',
    ...command,
  ];
  return start(first, rest, { env: { ...process.env, ROOT: root } });
};

/** In a testbed's environment: an environment's file for the relay that is up, at the path in $UP. */
const UP = `
cat >"$UP" <<END
{ "schema": "windtunnel.environment/1", "name": "up", "systems": { "pulsar": { "url": "$PULSAR_URL",
  "auth": { "mode": "login", "username": "$PULSAR_USERNAME", "password_env": "PULSAR_PASSWORD" },
  "websocket": { "auth": "subprotocol" } } } }
END
`;
const RELAY = [join(ROOT, 'bin/sidecar'), 'testbed', 'run', 'pulsar-relay', '--'];
const BENCH = ['x', 'bench', '--run-id', 'there', '--env', 'up', '--only', 'pulsar'];

/**
 * On a crowded machine the run may have measured the generator; every other part of the result must be right.
 * @param {ReturnType<typeof start>} run
 * @param {string} results
 */
async function assertMeasured(run, results) {
  const code = Number(await run.ended);
  assert.ok([0, 3].includes(code), `${code}: ${run.output.stdout}${run.output.stderr}`);
  for (const name of ['ingest', 'delivery', 'poll']) {
    const result = JSON.parse(readFileSync(join(results, `there/pulsar-${name}.json`), 'utf8'));
    for (const row of result.operations)
      assert.deepEqual([row.success, row.errors], [row.requests, {}], name);
    assert.ok(
      result.processes.some((/** @type {any} */ { role }) => role === 'generator'),
      'the sidecar measured k6',
    );
  }
}

test(
  'two builds from two folders are the same bytes',
  { skip: GIVEN && 'DIST was made before' },
  async () => {
    const first = await build('first');
    // The second build starts from nothing: the first may reuse builds in Go's cache.
    const second = await build('second', { GOCACHE: inside('go') });
    assert.match(first, /windtunnel-\d+\.\d+\.\d+-linux-\w+\.tar\.gz\n/);
    assert.equal(first, second);
  },
);

test('the files are those of SHA256SUMS', () => {
  const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8');
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: release });
  for (const kind of [ARCHIVE, /[.]sbom[.]cdx[.]json$/, /^sidecar-/, /[.]oci[.]tar$/])
    assert.ok(
      sums.split('\n').some((line) => kind.test(line.slice(66))),
      String(kind),
    );
});

test('the archive has what it says, and nothing of the machine that made it', () => {
  mkdirSync(inside('root'));
  execFileSync('tar', ['-xzf', made(ARCHIVE), '-C', inside('root'), '--strip-components=1']);
  const bom = JSON.parse(readFileSync(inside('root/sbom.cdx.json'), 'utf8'));
  const parts = bom.components.map((/** @type {any} */ { purl }) => purl);
  for (const want of [
    /^pkg:golang\/go\.k6\.io\/k6@v1/,
    /^pkg:cargo\/tokio@1/,
    /^pkg:golang\/stdlib@1/,
    /^pkg:generic\/rust-std@1/,
  ])
    assert.ok(
      parts.some((/** @type {string} */ purl) => want.test(purl)),
      String(want),
    );
  // The folders of toolchains in the home: the home's path alone may be a word in names of packages.
  const home = String(process.env.HOME);
  const own = [
    ...[folder.path, ROOT.replace(/\/$/, ''), `${home}/.`, `${process.env.GOPATH ?? `${home}/go`}/`],
    ...[process.env.CARGO_HOME, hostname()].filter((name) => name && name.length > 4),
  ];
  const files = readdirSync(inside('root'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.ok(files.length > 100);
  for (const { parentPath, name } of files) {
    const content = readFileSync(join(parentPath, name));
    for (const text of own) assert.equal(content.includes(String(text)), false, `${name} names ${text}`);
  }
});

test('the release runs a scenario against a relay that is up, where there is neither Go nor Rust nor Node nor a shell', async () => {
  const before = `UP="$ROOT/environments/up.json"\n${UP}\nKEPT=(PULSAR_PASSWORD="$PULSAR_PASSWORD" BESIDE=1 AGAIN=0)`;
  const run = alone(inside('root'), ['/bin/k6', ...BENCH, '--root', '/'], { before, around: RELAY });
  await assertMeasured(run, inside('root/results'));
});

test('the probe alone runs in an empty root, and sends datagrams through a SOCKS5 proxy', async () => {
  mkdirSync(inside('empty'));
  const sidecar = new RegExp(`^sidecar-.*-${ARCHITECTURE}$`);
  writeFileSync(inside('empty/sidecar'), readFileSync(made(sidecar)), { mode: 0o755 });
  const around = [join(ROOT, 'bin/sidecar'), 'testbed', 'run', 'sing-box', '--'];
  const before = 'set -- "$@" --proxy "${DATAPLANE_URL#*://}"';
  const run = alone(inside('empty'), ['/sidecar', 'probe', 'udp', '--count', '50'], { before, around });
  assert.equal(await run.ended, 0, run.output.stderr);
  assert.match(run.output.stdout, /^50 of 50 succeeded in /m);
});

const CONTAINER = join(ROOT, 'tests/dist/container');
const PARTS = join(ROOT, 'bin/kubernetes/debian');
const impossible = spawnSync(join(ROOT, 'tests/kubernetes/possible'), { encoding: 'utf8' });

test(
  'the image runs a scenario against a relay that is up, by containerd and as nobody in particular',
  { skip: impossible.status !== 0 && impossible.stdout.trim() },
  async () => {
    mkdirSync(inside('results'));
    chmodSync(inside('results'), 0o777);
    const run = start(
      RELAY[0],
      [
        ...RELAY.slice(1),
        ...['bash', '-euc', `${UP}\nexec "$@"`, 'up', CONTAINER],
        ...[PARTS, made(/[.]oci[.]tar$/), inside('results'), inside('up.json'), 'k6', ...BENCH],
      ],
      { env: { ...process.env, UP: inside('up.json'), BESIDE: '1', AGAIN: '0' } },
    );
    await assertMeasured(run, inside('results'));
  },
);
