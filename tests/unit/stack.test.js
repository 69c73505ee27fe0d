import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const STACK = fileURLToPath(new URL('../../docker/stack', import.meta.url));
const PASSWORDS = { INFLUX_PASSWORD: 'a-1', GRAFANA_PASSWORD: 'b' };
/** Prints its arguments, and reports every container as healthy. */
const ENGINE = `printf '%s|%s|%s\\n' "$INFLUX_PASSWORD" "$\{COMPOSE_PROFILES:-}" "$*" >>"$ASKED"
case "$*" in *ps*) echo one ;; *inspect*) echo healthy ;; esac`;

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'windtunnel-stack-'));
});
after(() => rmSync(folder, { recursive: true }));

/**
 * Runs docker/stack with only its own tools and these programs in the PATH.
 * @param {string} command @param {Record<string, string>} programs names and shell scripts
 * @param {Record<string, string>} [env]
 */
function stack(command, programs, env = PASSWORDS) {
  const path = mkdtempSync(join(folder, 'path-'));
  const asked = join(path, 'asked');
  mkdirSync(join(path, 'bin'));
  for (const tool of ['bash', 'cat', 'dirname', 'sleep'])
    symlinkSync(`/bin/${tool}`, join(path, 'bin', tool));
  for (const [name, script] of Object.entries(programs)) {
    const file = join(path, 'bin', name);
    writeFileSync(file, `#!/bin/bash\n${script}\n`);
    chmodSync(file, 0o755);
  }
  writeFileSync(asked, '');
  const run = spawnSync('/bin/bash', [STACK, command], {
    env: { PATH: join(path, 'bin'), ASKED: asked, ...env },
    encoding: 'utf8',
  });
  const lines = readFileSync(asked, 'utf8').trim().split('\n');
  return { code: run.status, stdout: run.stdout, stderr: run.stderr.trim(), asked: lines };
}

/** @param {ReturnType<typeof stack>} run @param {number} code @param {RegExp} line */
function refused(run, code, line) {
  assert.equal(run.code, code, run.stderr);
  assert.match(run.stderr, line);
  assert.equal(run.stderr.split('\n').length, 1, run.stderr);
}

test('without an engine, one line says what to install and how to do without', () => {
  const without = /^make: docker is not installed: apt-get install docker\.io docker-compose; .*make influx/;
  for (const command of ['up', 'down', 'logs']) refused(stack(command, {}), 4, without);
});

test('without compose, and without a daemon', () => {
  refused(stack('up', { docker: '[[ $1 != compose ]]' }), 4, /neither docker compose nor docker-compose/);
  refused(stack('up', { docker: '[[ $1 != version ]]' }), 4, /daemon does not answer/);
});

test('without passwords, or with one that InfluxDB would not get whole', () => {
  const docker = 'exit 0';
  refused(stack('up', { docker }, {}), 2, /^make: INFLUX_PASSWORD is not set/);
  refused(stack('up', { docker }, { INFLUX_PASSWORD: 'a' }), 2, /^make: GRAFANA_PASSWORD is not set/);
  for (const INFLUX_PASSWORD of ["a'b", 'a b', 'a\\', 'ä', '*']) {
    const run = stack('up', { docker }, { ...PASSWORDS, INFLUX_PASSWORD });
    refused(run, 2, /^make: INFLUX_PASSWORD: give letters/);
    assert.ok(!run.stderr.includes(INFLUX_PASSWORD) || INFLUX_PASSWORD === '*');
  }
});

test('up starts the stack with either compose, and says where it is without the password', () => {
  const both = { docker: ENGINE };
  const first = { docker: `[[ $1 != compose ]] || exit 1\n${ENGINE}`, 'docker-compose': ENGINE };
  for (const [programs, up] of [
    [both, 'a-1||compose up --detach'],
    [first, 'a-1||up --detach'],
  ]) {
    const run = stack('up', programs, { ...PASSWORDS, GRAFANA_PORT: '3100' });
    assert.equal(run.code, 0, run.stderr);
    assert.ok(run.asked.includes(up), run.asked.join('\n'));
    assert.match(run.stdout, /http:\/\/127\.0\.0\.1:3100 /);
    assert.match(run.stdout, /export INFLUX=http:\/\/127\.0\.0\.1:8086 /);
    assert.doesNotMatch(run.stdout, /a-1/);
  }
});

test('a stack that does not come up: the password, or something else', () => {
  /** @param {string} health */
  const engine = (health) =>
    `case "$*" in *up*) exit 1 ;; *ps*) echo one ;; *inspect*) echo ${health} ;; esac`;
  refused(
    stack('up', { docker: engine('unhealthy') }),
    4,
    /InfluxDB is not healthy: where INFLUX_PASSWORD is not that of its first start/,
  );
  refused(stack('up', { docker: engine('starting') }), 4, /the stack is not up: compose has said why/);
});

test('down asks for no password, meets every profile, and keeps the data unless it is told', () => {
  const kept = stack('down', { docker: ENGINE }, {});
  assert.equal(kept.code, 0, kept.stderr);
  assert.equal(kept.asked.at(-1), '-|k6,sidecar,testbeds|compose down --remove-orphans');
  const gone = stack('down', { docker: ENGINE }, { VOLUMES: '1' });
  assert.equal(gone.asked.at(-1), '-|k6,sidecar,testbeds|compose down --remove-orphans --volumes');
});
