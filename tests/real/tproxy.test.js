/**
 * The transparent proxy, as `make` runs it: real xray and sing-box, the stand-in for the user's own pair, and the remains of the
 * networks. Without the rights to make namespaces only the refusals are tested.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ON_ANY_MACHINE, startBench } from '../support/bench.js';
import { ROOT, cleanEnvironment } from '../support/k6.js';
import { holders, mayMakeNamespaces, namespacesOf, ownNetwork } from '../support/namespaces.js';
import { descendants, isAlive, until } from '../support/processes.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { assertTransparent } from '../support/tproxy-smoke.js';

const skip = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
const socks = join(ROOT, 'tests/fixtures/socks');
const ONLY = 'dataplane/tproxy';

/** @param {number | undefined} pid */
const sidecarOf = (pid) =>
  descendants(pid).find(({ command }) => /bin\/sidecar.*serve/.test(command) && !/__/.test(command));

/** Starts a run that lasts, and waits until its networks are there. */
async function startLong() {
  const bench = startBench({ ONLY, DATAGRAMS: '2000000', SWEEP: 'none' });
  const made = () => {
    const sidecar = sidecarOf(bench.child.pid);
    const found = sidecar ? namespacesOf([sidecar, ...descendants(sidecar.pid)].map(({ pid }) => pid)) : [];
    return found.length === 3 && bench.has('logs/dataplane-tproxy.k6.log') && { sidecar, found };
  };
  const { sidecar, found } = await until(made, 'three namespaces');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  return { bench, sidecar, namespaces: found, started: descendants(bench.child.pid) };
}

// tests/real/smoke has the testbed of environments/local.json, with xray.
for (const [TESTBED, processes, values] of /** @type {[string, string[], unknown[] | null][]} */ ([
  ['tproxy:engine=sing-box', ['proxy'], null],
  [`tproxy-pair:binary=${socks}`, ['client', 'server'], [512, 2048]],
])) {
  test(`smoke on ${TESTBED.replace(socks, 'SOCKS')}`, { skip }, async () => {
    const before = ownNetwork();
    const bench = startBench({ ONLY, PROFILE: 'smoke', TESTBED });
    try {
      const code = await bench.ended;
      assert.ok([0, 3, 99].includes(code), bench.output.stdout);
      assertTransparent(bench, processes, values);
      assert.equal(ownNetwork(), before);
    } finally {
      bench.remove();
    }
  });
}

test(
  'a dispatch queue that is too short for a burst loses datagrams, and the sweep finds the one that is not',
  { skip },
  async () => {
    const TESTBED = `tproxy-pair:binary=${socks},tproxy_udp_dispatch_queue_capacity=4`;
    const sizes = { ROUND_TRIPS: '20', DATAGRAMS: '400', RUNS: '10', TIMEOUT_MS: '100' };
    const bench = startBench({ ONLY, PROFILE: 'smoke', TESTBED, VALUES: '4,2048', ...sizes });
    try {
      await bench.ended;
      const sweep = sectionOf(bench.result('dataplane-tproxy'), 'sweep');
      const [short, long] = rowsOf(sweep);
      assert.ok(short.lost_share.low > 0.02, JSON.stringify(short));
      assert.ok(long.lost_share.value < 0.01, JSON.stringify(long));
      assert.equal(sweep.headline.value, '2048', sweep.headline.detail);
      assert.match(sweep.headline.detail, /= 2048 loses less than 4 /);
    } finally {
      bench.remove();
    }
  },
);

for (const [what, end, expected] of /** @type {[string, (run: any) => void, number][]} */ ([
  ['SIGKILL of the sidecar', ({ sidecar }) => process.kill(sidecar.pid, 'SIGKILL'), 4],
  ['Ctrl-C', ({ bench }) => bench.child.kill('SIGINT'), 130],
])) {
  test(`${what} in mid-probe leaves no network behind`, { skip }, async () => {
    const before = ownNetwork();
    const run = await startLong();
    try {
      end(run);
      assert.equal(await run.bench.ended, expected, run.bench.output.stdout);
      await until(() => !run.started.some(isAlive), 'the end of all that it started');
      assert.deepEqual(run.namespaces.flatMap(holders), []);
      assert.equal(ownNetwork(), before);
    } finally {
      run.bench.remove();
    }
  });
}

/** Runs the bench as a user in a separate namespace. @param {string[]} rights of unshare @param {string} only */
function benchWith(rights, only) {
  const id = `test-${process.pid}-${rights.join('')}-${only.length}`;
  const words = [...rights, 'bin/k6', 'x', 'bench', '--run-id', id, '--only', only];
  const env = { ...process.env, ...ON_ANY_MACHINE };
  const run = spawnSync('unshare', words, { cwd: ROOT, encoding: 'utf8', env });
  rmSync(join(ROOT, 'results', id), { recursive: true, force: true });
  return run;
}

const skipOwn = mayMakeNamespaces('-Ur') ? false : 'no user namespaces here';

test('a user namespace of one’s own is enough', { skip: skipOwn }, () => {
  const { status, stdout, stderr } = benchWith(['-Ur'], ONLY);
  assert.ok([0, 3, 99].includes(Number(status)), stdout + stderr);
  assert.match(stdout, /udp_burst/);
});

/** Whether a user of a namespace may write results here. @param {string[]} rights of unshare */
const mayWrite = (rights) =>
  spawnSync('unshare', [...rights, 'test', '-w', 'results'], { cwd: ROOT }).status === 0;
const skipUser = mayWrite(['-U']) ? false : 'no user namespaces here, or none that may write results';

test('without the rights it is left out with one line, and the others run', { skip: skipUser }, () => {
  const why = /dataplane\/tproxy: left out: testbed tproxy (makes network namespaces.*unshare -Ur|needs)/;
  const alone = benchWith(['-U'], ONLY);
  assert.equal(alone.status, 4, alone.stdout + alone.stderr);
  assert.match(alone.stdout, why);
  const beside = benchWith(['-U'], `dataplane/handshake,${ONLY}`);
  assert.ok([0, 3].includes(Number(beside.status)), beside.stdout + beside.stderr);
  assert.match(beside.stdout, why);
});

/** A user without rights to make namespaces, in a namespace where make can start programs. */
const NOBODY = ['--user', '--map-user=1000', '--map-group=1000'];
const cannot = mayWrite(NOBODY) ? false : 'no user namespaces here, or none that may write results';

test('make dataplane goes on without it, and fails where another testbed does', { skip: cannot }, () => {
  const make = (/** @type {string} */ beds) =>
    spawnSync('unshare', [...NOBODY, 'make', 'dataplane', `DATAPLANE_TESTBEDS=${beds}`], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, RUN_ID: `test-${process.pid}-${beds.length}` },
    });
  try {
    const { status, stdout, stderr } = make('tproxy tproxy:engine=sing-box');
    assert.equal(status, 0, stdout + stderr);
    assert.equal(
      stdout.match(/dataplane\/tproxy: left out: testbed tproxy (makes network namespaces|needs)/g)?.length,
      2,
    );
    const broken = make('sing-box-pair:binary=/bin/false tproxy');
    assert.equal(broken.status, 2, broken.stdout + broken.stderr);
    assert.match(broken.stdout, /set-up failed: .*\/bin\/false generate/);
  } finally {
    for (const name of readdirSync(join(ROOT, 'results')))
      if (name.startsWith(`test-${process.pid}-`)) rmSync(join(ROOT, 'results', name), { recursive: true });
  }
});

test('a testbed that is not for it is named', async () => {
  const bench = startBench({ ONLY, TESTBED: 'sing-box-pair' });
  assert.equal(await bench.ended, 2);
  assert.match(bench.output.stderr, /testbeds\/sing-box-pair\.toml is not for dataplane\/tproxy: left out/);
});
