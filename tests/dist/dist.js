/** The archives of a release: two builds of one commit are the same bytes, and it runs where there is nothing else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, start, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('dist');
after(folder.remove);
const ARCHITECTURE = { x64: 'amd64', arm64: 'arm64' }[process.arch] ?? assert.fail(process.arch);

/** @param {string} name of a folder in the temporary one */
const inside = (name) => join(folder.path, name);

/** Builds a release from a clone, and returns its checksums. @param {string} name */
async function build(name) {
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, inside(`${name}/checkout`)]);
  const run = start(inside(`${name}/checkout/setup/dist`), [inside(`${name}/out`), ARCHITECTURE], {
    cwd: folder.path,
    env: { ...process.env, DIST_TARGET: inside(`${name}/target`) },
  });
  assert.equal(await run.ended, 0, run.output.stderr);
  return readFileSync(inside(`${name}/out/SHA256SUMS`), 'utf8');
}

/** What a program of the release sees of this machine: its own folder, /proc, and an empty /tmp; no variable but these. */
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
 * @param {{ before?: string, around?: string[] }} [more] before is run by bash before all that: KEPT are variables
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

test('two builds from two folders are the same bytes', async () => {
  const [first, second] = [await build('first'), await build('second')];
  assert.match(first, /windtunnel-\d+\.\d+\.\d+-linux-\w+\.tar\.gz\n/);
  assert.equal(first, second);
});

test('the archive has what it says, and nothing of this machine', () => {
  const archive = readdirSync(inside('first/out')).find((name) => name.endsWith('.tar.gz')) ?? assert.fail();
  mkdirSync(inside('root'));
  execFileSync('tar', ['-xzf', inside(`first/out/${archive}`), '-C', inside('root'), '--strip-components=1']);
  const bom = JSON.parse(readFileSync(inside('root/sbom.cdx.json'), 'utf8'));
  const parts = bom.components.map((/** @type {any} */ { purl }) => purl);
  for (const want of [/^pkg:golang\/go\.k6\.io\/k6@v1/, /^pkg:cargo\/tokio@1/, /^pkg:golang\/stdlib@1/])
    assert.ok(
      parts.some((/** @type {string} */ purl) => want.test(purl)),
      String(want),
    );
  for (const name of ['k6', 'sidecar']) {
    const program = readFileSync(inside(`root/bin/${name}`));
    for (const path of [folder.path, ROOT, String(process.env.HOME) + '/'])
      assert.equal(program.includes(path), false, `${name} names ${path}`);
  }
});

test('the release runs a scenario against a relay that is up, where there is neither Go nor Rust nor Node nor a shell', async () => {
  // The relay's address is known once it is up: bash writes it into the environment's file.
  const before = `
cat >"$ROOT/environments/up.json" <<END
{ "schema": "windtunnel.environment/1", "name": "up", "systems": { "pulsar": { "url": "$PULSAR_URL",
  "auth": { "mode": "login", "username": "$PULSAR_USERNAME", "password_env": "PULSAR_PASSWORD" },
  "websocket": { "auth": "subprotocol" } } } }
END
KEPT=(PULSAR_PASSWORD="$PULSAR_PASSWORD" BESIDE=1 AGAIN=0)`;
  const bench = [
    '/bin/k6',
    'x',
    'bench',
    '--root',
    '/',
    '--run-id',
    'there',
    '--env',
    'up',
    '--only',
    'pulsar',
  ];
  const run = alone(inside('root'), bench, {
    before,
    around: [join(ROOT, 'bin/sidecar'), 'testbed', 'run', 'pulsar-relay', '--'],
  });
  // On a crowded machine the generator may be what was measured.
  const code = Number(await run.ended);
  assert.ok([0, 3].includes(code), `${code}: ${run.output.stdout}${run.output.stderr}`);
  for (const name of ['ingest', 'delivery', 'poll']) {
    const result = JSON.parse(readFileSync(inside(`root/results/there/pulsar-${name}.json`), 'utf8'));
    for (const row of result.operations)
      assert.deepEqual([row.success, row.errors], [row.requests, {}], name);
    assert.ok(
      result.processes.some((/** @type {any} */ { role }) => role === 'generator'),
      'the sidecar measured k6',
    );
  }
});

test('the probe alone runs in an empty root', async () => {
  const file = readdirSync(inside('first/out')).find((name) => name.startsWith('sidecar-')) ?? assert.fail();
  mkdirSync(inside('empty'));
  writeFileSync(inside('empty/sidecar'), readFileSync(inside(`first/out/${file}`)), { mode: 0o755 });
  const run = alone(inside('empty'), ['/sidecar', 'probe', 'udp', '--direct', '--count', '50']);
  assert.equal(await run.ended, 0, run.output.stderr);
  assert.match(run.output.stdout, /50/);
});
