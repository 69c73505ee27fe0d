/** The steps of the release workflow, with invented events: what is refused, what is published, and when. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { Runner } from '../support/workflow.js';

const folder = temporaryFolder('release');
after(folder.remove);
const VERSION = execFileSync(join(ROOT, 'setup/version'), { encoding: 'utf8' }).trim();
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const FILE = '.github/workflows/release.yml';
/** Files that ci/release reads, other than the changelog. */
const READS = [
  ...['ci/release', 'setup/version', 'lib/scenario.js', 'package.json', 'sidecar/Cargo.toml'],
  ...['docker-compose.yml', 'docker/Dockerfile'],
];
let made = 0;

/** @param {string} path @param {string} text */
function program(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/bash\n${text}\n`);
  chmodSync(path, 0o755);
}

/** Writes a release's files, named as by setup/dist, with short contents. @param {string} path @param {string} [content] */
function writeRelease(path, content = 'k6') {
  mkdirSync(join(path, 'top/bin'), { recursive: true });
  for (const name of ['k6', 'sidecar']) writeFileSync(join(path, 'top/bin', name), content);
  const archive = `windtunnel-${VERSION}-linux-${ARCHITECTURE}.tar.gz`;
  execFileSync('tar', ['--mtime=@0', '-czf', join(path, archive), '-C', path, 'top']);
  execFileSync('rm', ['-r', join(path, 'top')]);
  writeFileSync(join(path, `windtunnel-${VERSION}-linux.oci.tar`), 'image');
  const sums = readdirSync(path).map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex');
    return `${digest}  ${name}\n`;
  });
  writeFileSync(join(path, 'SHA256SUMS'), sums.join(''));
}

/**
 * Runs a job. Programs that reach outside only record their arguments; so do setup/dist and make, which take minutes.
 * @param {string} job
 * @param {{ event?: string, tag?: string, changelog?: string, copies?: [string, string], change?: (dist: string) => void }} [of]
 */
async function run(
  job,
  { event = 'push', tag = `v${VERSION}`, changelog, copies = ['k6', 'k6'], change } = {},
) {
  const own = join(folder.path, String((made += 1)));
  const said = join(own, 'said');
  const programs = join(own, 'programs');
  for (const name of ['rustup', 'gh', 'skopeo', 'sudo', 'make'])
    program(
      join(programs, name),
      `echo "${name} $*" >>'${said}'; [[ " $* " != *" --password-stdin "* ]] || cat >>'${own}/password'`,
    );
  /** @param {string} path */
  const checkout = (path) => {
    for (const name of READS) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      copyFileSync(join(ROOT, name), join(path, name));
    }
    writeFileSync(
      join(path, 'CHANGELOG.md'),
      changelog ?? `# Changelog\n\n## ${VERSION}, 2030-01-01\n\n- new\n\n## 0.0.1\n\n- old\n`,
    );
    program(join(path, 'setup/dist'), `echo "setup/dist $* by $RUSTUP_TOOLCHAIN" >>'${said}'`);
  };
  const runner = new Runner(
    own,
    {
      'actions/checkout': async (given) => checkout(join(runner.workspace, given.path ?? '.')),
      'actions/setup-go': async (given) => writeFileSync(said, `go ${given['go-version']}\n`, { flag: 'a' }),
      'actions/setup-node': async () => {},
      'actions/upload-artifact': async () => {},
      'actions/attest-build-provenance': async () => writeFileSync(said, 'attested\n', { flag: 'a' }),
      'actions/download-artifact': async (given) => {
        if (!given.name) writeRelease(join(given.path, 'dist-second'), copies[1]);
        const first = given.name ? given.path : join(given.path, 'dist-first');
        writeRelease(first, copies[0]);
        change?.(first);
      },
    },
    {
      PATH: `${programs}:${process.env.PATH}`,
      GITHUB_REPOSITORY: 'Owner/Windtunnel',
      GITHUB_ACTOR: 'owner',
    },
  );
  const context = {
    github: { event_name: event, ref_name: tag, token: 'the-token' },
    matrix: { copy: 'first', machine: 'ubuntu-24.04' },
    needs: {},
  };
  const ended = await runner.job(FILE, context, job);
  const log = ended.steps.map(({ output }) => output).join('');
  const read = (/** @type {string} */ path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  return { ...ended, log, said: read(said), password: read(join(own, 'password')), temp: runner.temp };
}

test('what cannot be built is told before anything is', () => {
  const programs = join(folder.path, 'bare');
  program(join(programs, 'rustc'), `echo ${folder.path}/none`);
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` };
  for (const [given, code, why] of /** @type {[string[], number, RegExp][]} */ ([
    [[], 2, /^dist: usage: /],
    [['mips'], 2, /^dist: mips: give amd64 or arm64\n$/],
    [
      ['arm64'],
      4,
      /^dist: Rust cannot build for aarch64-unknown-linux-musl: run rustup target add aarch64-unknown-linux-musl\n$/,
    ],
  ])) {
    const out = given.length > 0 ? [join(folder.path, 'out')] : [];
    const done = spawnSync(join(ROOT, 'setup/dist'), [...out, ...given], { env, encoding: 'utf8' });
    assert.equal(done.status, code, done.stderr);
    assert.match(done.stderr, why);
    assert.equal(existsSync(join(folder.path, 'out')), false);
  }
});

test('a build takes the toolchains of docker/Dockerfile, after the tag', async () => {
  const dockerfile = readFileSync(join(ROOT, 'docker/Dockerfile'), 'utf8');
  const [, go] = /golang:([\d.]+)/.exec(dockerfile) ?? [];
  const [, rust] = /rust:([\d.]+)/.exec(dockerfile) ?? [];
  const { failed, said, temp, log } = await run('build');
  assert.equal(failed, false, log);
  const targets = '--target x86_64-unknown-linux-musl --target aarch64-unknown-linux-musl';
  assert.equal(
    said,
    `go ${go}\nrustup toolchain install ${rust} --profile minimal ${targets}\nsetup/dist ${temp}/dist by ${rust}\n`,
  );
});

test('a tag that is not the version builds nothing and publishes nothing; nor does an unreleased version', async () => {
  for (const job of ['build', 'publish'])
    for (const [of, why] of /** @type {[object, RegExp][]} */ ([
      [{ tag: 'v9.9.9' }, /the tag is 'v9\.9\.9', and the version/],
      [{ tag: '-x' }, /the tag is '-x'/],
      [{ changelog: `## ${VERSION}, unreleased\n` }, /is unreleased/],
      [{ changelog: '## 0.0.1\n' }, /has no ##/],
    ])) {
      const { failed, log, said } = await run(job, of);
      assert.ok(failed, job);
      assert.match(log, why);
      assert.ok(!/setup\/dist|gh |skopeo/.test(said), said);
    }
});

test('two builds that are not the same bytes are refused before the test', async () => {
  const good = await run('test');
  assert.equal(good.failed, false, good.log);
  assert.match(good.said, /make test-dist DIST=.*\/dist-first\n$/);
  const differ = await run('test', { copies: ['k6', 'k7'] });
  assert.ok(differ.failed);
  assert.match(differ.log, /are not the same bytes/);
  assert.doesNotMatch(differ.said, /make/);
});

test('files that are not as SHA256SUMS says are neither tested nor published', async () => {
  const change = (/** @type {string} */ dist) =>
    writeFileSync(join(dist, `windtunnel-${VERSION}-linux.oci.tar`), 'another');
  for (const job of ['test', 'publish']) {
    const { failed, log, said } = await run(job, { change });
    assert.ok(failed, job);
    assert.match(log, /is not what its SHA256SUMS says/);
    assert.doesNotMatch(said, /make|gh |skopeo/);
  }
});

test('a tag is published with all files and its part of the changelog, and no file keeps the token', async () => {
  const { failed, log, said, password, temp } = await run('publish');
  assert.equal(failed, false, log);
  const dist = `${temp}/dist`;
  const image = `windtunnel-${VERSION}-linux.oci.tar`;
  assert.equal(password, 'the-token\n');
  assert.ok(!`${said}${log}`.includes('the-token'));
  const [attested, login, copy, release] = said.split('\n');
  assert.equal(attested, 'attested');
  assert.match(login, /^skopeo login .*--username owner --password-stdin ghcr\.io$/);
  assert.match(
    copy,
    new RegExp(`--all .* oci-archive:${dist}/${image}:${VERSION} docker://ghcr\\.io/owner/windtunnel:`),
  );
  assert.match(release, new RegExp(`^gh release create v${VERSION} --repo Owner/Windtunnel --verify-tag `));
  for (const name of readdirSync(dist)) assert.ok(release.includes(` ${dist}/${name}`), name);
  assert.equal(readFileSync(`${temp}/notes.md`, 'utf8').trim(), '- new');
  assert.equal(existsSync(`${temp}/registry.json`), false);
});

test('by hand it publishes nothing', async () => {
  const { steps } = await run('publish', { event: 'workflow_dispatch' });
  assert.deepEqual(steps, []);
  const build = await run('build', {
    event: 'workflow_dispatch',
    tag: 'main',
    changelog: `## ${VERSION}, unreleased\n`,
  });
  assert.equal(build.failed, false, build.log);
});
