/**
 * A proxy with one known fault (tests/fakes/proxy), alone and against an honest proxy in a gate. The comparison and the gate each have a
 * verdict.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ON_ANY_MACHINE, startBench } from './bench.js';
import { ROOT, cleanEnvironment, start, temporaryFolder } from './k6.js';

export const TCP = 'dataplane/socks-tcp';
/** A run without a fault passes, or the machine was too busy. */
export const NO_FAILURE = [0, 3];
const PROXY = join(ROOT, 'bin/fake-proxy');
const ARGUMENTS = 'arguments=--listen 127.0.0.1:PORT';
const folder = temporaryFolder('evidence');
export const removeEvidence = folder.remove;

/** @param {string} text */
const asName = (text) => text.replace(/\W+/g, '-');

/** Writes a program that starts the proxy in one mode. @param {string} mode */
function program(mode) {
  const path = join(folder.path, asName(mode));
  writeFileSync(path, `#!/bin/sh\nexec '${PROXY}' --mode ${mode} "$@"\n`, { mode: 0o755 });
  return path;
}

/**
 * @typedef {object} Fault
 * @property {string} mode of the proxy, with its flags
 * @property {string} scenario
 * @property {Record<string, string>} [variables]
 */

/** One run. @param {Fault} fault */
export async function single({ mode, scenario, variables }) {
  const TESTBED = `own-proxy:binary=${program(mode)},${ARGUMENTS}`;
  const bench = startBench({ ONLY: scenario, TESTBED, ...variables });
  try {
    return { code: Number(await bench.ended), said: bench.output.stdout + bench.output.stderr };
  } finally {
    bench.remove();
  }
}

let gates = 0;

/** A gate, as CI runs it. @param {Record<string, string>} variables inputs, and variables of the scenario */
export async function gate(variables) {
  gates += 1;
  const id = `${process.pid}-${gates}`;
  const out = folder.fresh();
  const inputs = {
    GATE_NAME: 'evidence',
    GATE_OUT: out,
    GATE_PROFILE: 'smoke',
    GATE_MINUTES: '3',
    REST_S: '0',
    // The fault `defer` owes a fifth of it.
    QUIET_S: '0.5',
  };
  const run = start(join(ROOT, 'ci/gate'), ['all'], {
    env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, ...inputs, GITHUB_RUN_ID: id, ...variables },
  });
  const code = Number(await run.ended);
  const results = join(ROOT, `results/gate-evidence-${id}-1`);
  const read = (/** @type {string} */ path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  try {
    const verdict = read(join(out, 'verdict'));
    return {
      code,
      said: run.output.stdout + run.output.stderr,
      first: read(join(out, 'comment.md')).split('\n')[0],
      told: Object.fromEntries(verdict.split('\n').map((line) => line.split(/=(.*)/))),
      comparison: JSON.parse(read(join(results, 'compare.json')) || '{}'),
    };
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

/** The verdicts of a fault against an honest proxy. @param {import('node:test').TestContext} t @param {Fault} fault */
export async function measured(t, fault) {
  const of = await gate({
    GATE_BASE: program('honest'),
    GATE_HEAD: program(fault.mode),
    GATE_TESTBED: `own-proxy:${ARGUMENTS}`,
    GATE_SCENARIO: fault.scenario,
    ...fault.variables,
  });
  const { verdict = 'none', reasons = [] } = of.comparison;
  const { code, conclusion } = of.told;
  t.diagnostic(
    `${fault.mode}, ${fault.scenario}: compare ${verdict} (${code}), gate ${conclusion} (${of.code}), ${of.first} ${reasons.join(' | ')}`,
  );
  return { ...of, /** @type {string[]} */ reasons };
}

/** @param {Awaited<ReturnType<typeof gate>>} of @param {string} verdict @param {string} code of the command that measured */
export function assertFailure(of, verdict, code) {
  const { first, told, said } = of;
  assert.equal(told.code, code, said);
  assert.match(first, new RegExp(`^<!-- windtunnel evidence ${verdict}( failure)? -->$`));
  assert.deepEqual([told.conclusion, of.code], ['failure', 1]);
}

/** @param {Awaited<ReturnType<typeof measured>>} found @param {RegExp} why */
export function assertFails(found, why) {
  assertFailure(found, 'fail', '99');
  assert.equal(found.comparison.verdict, 'fail');
  assert.ok(
    found.reasons.some((reason) => why.test(reason)),
    found.reasons.join('\n'),
  );
}
