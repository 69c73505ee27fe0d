/** `make test-cgroup2` takes 4 of tests/cgroup2 for a test that is left out. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('cgroup2');
after(folder.remove);

const isRoot = process.getuid?.() === 0;
const hasOnlyTwo = /^0::/.test(readFileSync('/proc/self/cgroup', 'utf8'));
const skip = isRoot && !hasOnlyTwo ? false : 'it takes root, and control groups of version 1';

/** @param {string} path @param {string} script */
function plant(path, script) {
  mkdirSync(join(folder.path, path, '..'), { recursive: true });
  writeFileSync(join(folder.path, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** The end of the script, if the tests on the other kernel end so. @param {number} status */
function endOf(status) {
  cpSync(join(ROOT, 'tests/cgroup2'), join(folder.path, 'tests/cgroup2'));
  plant('path/cargo', 'true');
  plant('bin/cgroup2/usr/bin/linux.uml', `for last; do :; done; echo ${status} >"$last/status"`);
  const env = { ...process.env, PATH: `${folder.path}/path:${process.env.PATH}` };
  return spawnSync(join(folder.path, 'tests/cgroup2'), { env }).status;
}

test('a sidecar that cannot set limits there is a failure, and no test that is left out', { skip }, () => {
  assert.equal(endOf(0), 0);
  assert.equal(endOf(1), 1);
  assert.equal(endOf(4), 1);
});
