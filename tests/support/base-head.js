/** A repository of a small proxy with branches, and the sides of a comparison of two of its commits. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { ROOT, cleanEnvironment, temporaryFolder } from './k6.js';

export const folder = temporaryFolder('base-head');
after(folder.remove);
const repository = join(folder.path, 'proxy');
/** Where worktrees are made. */
const TMPDIR = join(folder.path, 'tmp');
const BUILD = 'mkdir -p out && python3 -m py_compile proxy.py && install -m 755 proxy.py out/proxy';

/** @param {string[]} args */
export function git(...args) {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=e@example.com'];
  const { status, stdout, stderr } = spawnSync('git', ['-C', repository, ...identity, ...args], {
    encoding: 'utf8',
    env: cleanEnvironment(),
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

/** A branch of main that changes a file. @param {string} name @param {string} file @param {(text: string) => string} change */
function branch(name, file, change) {
  git('checkout', '--quiet', '-B', name, 'main');
  writeFileSync(join(repository, file), change(readFileSync(join(repository, file), 'utf8')));
  git('commit', '--quiet', '--all', '--message', name);
}

before(() => {
  mkdirSync(repository);
  mkdirSync(TMPDIR);
  git('init', '--quiet');
  git('checkout', '--quiet', '-b', 'main');
  copyFileSync(`${ROOT}tests/fixtures/plain_proxy.py`, join(repository, 'proxy.py'));
  writeFileSync(join(repository, 'README'), 'A proxy\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'main');
  branch('slow', 'proxy.py', (text) => text.replace('BURN_US = 0', 'BURN_US = 500'));
  branch('words', 'README', (text) => `${text}in other words\n`);
  branch('broken', 'proxy.py', (text) => `${text}this is no Python\n`);
});

/** @param {string} head @param {string[]} [more] */
export const sides = (head, more = []) => [
  ...[
    '--repository',
    repository,
    '--base',
    'main',
    '--head',
    head,
    '--binary',
    'out/proxy',
    '--build',
    BUILD,
  ],
  ...['--testbed', 'own-proxy:arguments=--listen 127.0.0.1:PORT', '--scenario', 'dataplane/socks-tcp'],
  ...more,
];
export const variables = { TMPDIR, REST_S: '0', QUIET_S: '0.25', PROFILE: 'smoke', ROUND_TRIPS: '100' };

export function assertNothingLeft() {
  assert.deepEqual(readdirSync(TMPDIR), []);
  assert.equal(git('worktree', 'list').split('\n').length, 1);
}
