/** Before a run, make builds only the programs that the run's testbeds start. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('builds');
after(folder.remove);

/** A checkout in which only the runners are built. */
before(() => {
  for (const part of ['Makefile', 'environments', 'k6/lists', 'lib', 'scripts', 'setup', 'testbeds'])
    cpSync(`${ROOT}${part}`, `${folder.path}/${part}`, { recursive: true, preserveTimestamps: true });
  mkdirSync(`${folder.path}/bin`);
  for (const runner of ['k6', 'sidecar']) symlinkSync(`${ROOT}bin/${runner}`, `${folder.path}/bin/${runner}`);
});

/** The targets that `make -n` would build. @param {string[]} args */
function built(...args) {
  const { status, stdout, stderr } = spawnSync('make', ['-n', ...args], {
    cwd: folder.path,
    encoding: 'utf8',
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  assert.equal(status, 0, stderr);
  const told = [
    ...stdout.matchAll(/^setup\/program (?:\.venv\/)?([^\s@]+?)(?:@([^\s/]+))?(?:\/\.installed)? /gm),
  ];
  return told.map(([, name, version]) => (version === undefined ? name : `${name} ${version}`)).toSorted();
}

for (const [target, expected] of /** @type {[string[], string[]][]} */ ([
  [['pulsar-ingest'], ['pulsar-relay']],
  [['pulsar'], ['pulsar-relay']],
  [['panel'], ['bin/xray', 'panel']],
  [
    ['panel-compare', 'A=sqlite', 'B=asyncmy'],
    ['bin/xray', 'panel'],
  ],
  [['dataplane-socks-tcp'], ['bin/sing-box']],
  [['dataplane-socks-tcp', 'TESTBED=xray'], ['bin/xray']],
  [['dataplane-socks-tcp', 'TESTBED=sing-box:binary=/bin/sh'], []],
  [['dataplane'], ['bin/sing-box', 'bin/xray']],
  [['dataplane-tproxy'], ['bin/xray']],
  [['protocols'], ['bin/naive-client', 'bin/sing-box', 'bin/xray']],
  [
    ['compare', 'A=sing-box', 'B=xray', 'SCENARIO=dataplane-socks-tcp'],
    ['bin/sing-box', 'bin/xray'],
  ],
  [
    ['compare', 'A=pulsar-relay', 'B=pulsar-relay:version=0.2.0', 'SCENARIO=pulsar-ingest'],
    ['pulsar-relay', 'pulsar-relay 0.2.0'],
  ],
  [['pulsar', 'ENV=remote.example'], []],
  [['bench'], ['bin/sing-box', 'bin/xray', 'panel', 'pulsar-relay']],
  [
    ['bench', 'PROTOCOL=naive'],
    ['bin/naive-client', 'bin/sing-box', 'bin/xray', 'panel', 'pulsar-relay'],
  ],
  [
    ['bench', 'ONLY=all'],
    ['bin/naive-client', 'bin/sing-box', 'bin/xray', 'panel', 'pulsar-relay'],
  ],
])) {
  test(`make ${target.join(' ')} builds ${expected.join(', ') || 'nothing more'}`, () => {
    assert.deepEqual(built(...target), expected);
  });
}
