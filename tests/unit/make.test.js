/** The Makefile: all that `make help` of earlier releases listed goes on working, and recipes hand everything on. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('make');
after(() => folder.remove());

/** `make help` as it was when the Makefile did everything itself. */
const FIXTURE = readFileSync(join(ROOT, 'tests/fixtures/make-help.txt'), 'utf8');
const [listed = '', scenarios = '', variables = ''] = FIXTURE.split(/^ {2}(?:One system:|Variables,)/m);
const TARGETS = [...listed.matchAll(/^ {2}([a-z][a-z0-9-]*) /gm)].map(([, name]) => name ?? '');
const MEASURED = scenarios.replace('One scenario:', '').split(/\s+/).filter(Boolean);
const VARIABLES = [
  ...new Set([...variables.matchAll(/^ {2}([A-Z][A-Z0-9_]*) /gm)].map(([, name]) => name ?? '')),
];

/** A checkout in which nothing is built. */
function checkout() {
  const path = folder.fresh();
  const own = ['.git', '.venv', 'bin', 'node_modules', 'results'];
  for (const name of readdirSync(ROOT))
    if (!own.includes(name)) symlinkSync(join(ROOT, name), join(path, name));
  return path;
}

/** @param {string} cwd @param {string[]} args */
function make(cwd, ...args) {
  const env = { ...cleanEnvironment(), MAKEFLAGS: '', MAKELEVEL: '' };
  return spawnSync('make', args, {
    cwd,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
}

test('the fixture has targets, scenarios and variables', () => {
  assert.ok(TARGETS.includes('bench') && TARGETS.includes('test-kubernetes'), TARGETS.join(' '));
  assert.ok(MEASURED.includes('pulsar') && MEASURED.includes('link-change'), MEASURED.join(' '));
  assert.ok(VARIABLES.includes('RATE') && VARIABLES.includes('WORSE_BY'), VARIABLES.join(' '));
  const counts = [TARGETS.length, MEASURED.length, VARIABLES.length];
  assert.ok(counts[0] > 45 && counts[1] > 30 && counts[2] > 120, counts.join());
});

test('each target that was listed is there, and each line of its recipe', () => {
  const path = checkout();
  // Without what looks at this machine even then: test-kubernetes.
  const targets = [...TARGETS.filter((name) => name !== 'test-kubernetes'), ...MEASURED];
  const { status, stdout, stderr } = make(path, '-n', '--keep-going', ...targets);
  assert.equal(status, 0, stderr);
  for (const name of ['bench', 'dataplane', 'compare', 'panel-compare', 'protocols-compare', ...MEASURED])
    assert.ok(stdout.includes(`bin/k6 x target ${name}\n`), name);
  for (const name of TARGETS.filter((target) => target.startsWith('benchmark-')))
    assert.ok(stdout.includes(`benchmarks/run ${name}\n`), name);
  for (const line of [
    'bin/k6 x cluster --print',
    'bin/k6 x report results/latest',
    'docker/stack up',
    'docker/influx',
    "setup/dist 'dist'",
    'setup/prerequisites install',
    'setup/check fmt',
    'node --test tests/dist/dist.js',
    'rm -rf bin .venv node_modules ci/node_modules sidecar/target sidecar/primitives/target',
  ])
    assert.ok(stdout.includes(`${line}\n`), line);
});

test('make help is one screen, and make help-all lists everything that was listed', () => {
  const short = make(ROOT, 'help').stdout;
  assert.ok(short.split('\n').length <= 41, short);
  assert.match(short, /^ {2}compare +Two sides in turn, until it knows$/m);
  const { stdout } = make(ROOT, 'help-all');
  for (const name of TARGETS) assert.match(stdout, new RegExp(`^  ${name} +\\S`, 'm'));
  for (const name of MEASURED) assert.match(stdout, new RegExp(`[ :]${name}[ \n]`));
  for (const name of VARIABLES) assert.match(stdout, new RegExp(`^  ${name} +\\S`, 'm'));
  assert.ok(
    readFileSync(join(ROOT, 'Makefile'), 'utf8').split('\n').length <= 201,
    'the Makefile has more than 200 lines',
  );
});

/** A checkout whose k6 prints its arguments, and ends with a code. @param {number} code */
function told(code) {
  const path = checkout();
  mkdirSync(join(path, 'bin'));
  const k6 = `#!/bin/sh\ncase "$*" in *--needs*) exit 0 ;; esac\necho "args: $*"\nenv\nexit ${code}\n`;
  for (const [name, text] of Object.entries({ k6, sidecar: '#!/bin/sh\n' }))
    writeFileSync(join(path, 'bin', name), text, { mode: 0o755 });
  return path;
}

test('each variable that was listed reaches the command', () => {
  const path = told(0);
  const { status, stdout, stderr } = make(
    path,
    'pulsar-ingest',
    ...VARIABLES.map((name, i) => `${name}=v ${i} '"$$`),
  );
  assert.equal(status, 0, stderr);
  const lines = stdout.split('\n');
  assert.equal(lines[0], 'args: x target pulsar-ingest');
  VARIABLES.forEach((name, i) => assert.ok(lines.includes(`${name}=v ${i} '"$`), name));
});

test('a verdict ends make as before, with its code in the line of make', () => {
  const { status, stderr } = make(told(99), 'bench');
  assert.equal(status, 2);
  assert.match(stderr, /^make: \*\*\* \[Makefile:\d+: bench\] Error 99\n$/);
});
