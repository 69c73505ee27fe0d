/**
 * A proxy with one known fault (tests/fakes/proxy) against an honest one: each fault gets its verdict in a single run, in a comparison and
 * in a gate. A fault of content needs no quiet machine, so such runs are beside each other. A fault of cost is many times the cost.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, describe, test } from 'node:test';
import { ON_ANY_MACHINE, startBench } from '../support/bench.js';
import { CANDIDATE } from '../support/candidate.js';
import { ROOT, cleanEnvironment, start, temporaryFolder } from '../support/k6.js';

const PROXY = join(ROOT, 'bin/fake-proxy');
const ARGUMENTS = 'arguments=--listen 127.0.0.1:PORT';
const folder = temporaryFolder('evidence');
after(folder.remove);

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
async function single({ mode, scenario, variables }) {
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
async function gate(variables) {
  gates += 1;
  const id = `${process.pid}-${gates}`;
  const out = folder.fresh();
  const inputs = { GATE_NAME: 'evidence', GATE_OUT: out, GATE_PROFILE: 'smoke', GATE_MINUTES: '3' };
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

/** The three verdicts of a fault: alone, and against an honest proxy. @param {import('node:test').TestContext} t @param {Fault} fault */
async function verdicts(t, fault) {
  const alone = await single(fault);
  const measured = await gate({
    GATE_BASE: program('honest'),
    GATE_HEAD: program(fault.mode),
    GATE_TESTBED: `own-proxy:${ARGUMENTS}`,
    GATE_SCENARIO: fault.scenario,
    ...fault.variables,
  });
  const { verdict = 'none', reasons = [] } = measured.comparison;
  const { code, conclusion } = measured.told;
  t.diagnostic(
    `${fault.mode}, ${fault.scenario}: bench ${alone.code}, compare ${verdict} (${code}), gate ${conclusion} (${measured.code}), ${measured.first} ${reasons.join(' | ')}`,
  );
  return { alone, measured, /** @type {string[]} */ reasons };
}

/** @param {Awaited<ReturnType<typeof gate>>} measured @param {string} verdict @param {string} code of the command that measured */
function assertFailure(measured, verdict, code) {
  const { first, told, said } = measured;
  assert.equal(told.code, code, said);
  assert.match(first, new RegExp(`^<!-- windtunnel evidence ${verdict}( failure)? -->$`));
  assert.deepEqual([told.conclusion, measured.code], ['failure', 1]);
}

/** @param {Awaited<ReturnType<typeof verdicts>>} found @param {RegExp} why */
function assertFails({ measured, reasons }, why) {
  assertFailure(measured, 'fail', '99');
  assert.equal(measured.comparison.verdict, 'fail');
  assert.ok(
    reasons.some((reason) => why.test(reason)),
    reasons.join('\n'),
  );
}

const TCP = 'dataplane/socks-tcp';
const HANDSHAKE = 'dataplane/handshake';
const DOWN = { DIRECTIONS: 'down', MANY: '1' };
/** A run without a fault passes, or the machine was too busy. */
const NO_FAILURE = [0, 3];
const MORE = /^B fails more: /;

/** @type {Record<string, Fault>} by what it does */
const CONTENT = {
  'changes each long payload': { mode: 'corrupt --bytes 512', scenario: TCP },
  'changes 0.75 % of payloads': { mode: 'corrupt --one-in 133', scenario: TCP },
  'drops a byte per MiB': { mode: 'drop-bytes', scenario: 'dataplane/throughput', variables: DOWN },
  'answers round trips and dials nothing': { mode: 'echo', scenario: TCP },
  'opens tunnels and dials nothing': { mode: 'echo', scenario: HANDSHAKE },
};

describe('whatever others do', { concurrency: 3 }, () => {
  for (const [what, fault] of Object.entries(CONTENT)) {
    test(`a proxy that ${what} fails alone, against another one and in a gate`, async (t) => {
      const found = await verdicts(t, fault);
      assert.equal(found.alone.code, 99, found.alone.said);
      assertFails(found, MORE);
    });
  }

  test('a proxy that changes each payload carries none: its set-up fails', async (t) => {
    const { alone, measured } = await verdicts(t, { mode: 'corrupt', scenario: TCP });
    assert.equal(alone.code, 4, alone.said);
    assert.match(measured.said, /set-up failed/);
    assertFailure(measured, 'set-up-failed', '4');
  });

  for (const scenario of [TCP, 'dataplane/socks-udp', HANDSHAKE, 'dataplane/throughput']) {
    test(`the same proxy without a fault does not fail ${scenario}`, async () => {
      const { code, said } = await single({ mode: 'honest', scenario });
      assert.ok(NO_FAILURE.includes(code), said);
    });
  }

  test('a candidate that leaves out TLS from its second turn on fails in a gate', async (t) => {
    const starts = join(folder.fresh(), 'of-');
    const measured = await gate({
      GATE_BASE: join(ROOT, 'bin/sing-box'),
      GATE_HEAD: CANDIDATE,
      GATE_PROTOCOL: 'http-tls',
      CANDIDATE_ENV: `CANDIDATE_FAULT=strips CANDIDATE_FROM=5 CANDIDATE_STARTS=${starts}`,
      TURNS: '2',
      TUNNELS: '10',
    });
    t.diagnostic(
      `strips: ${measured.told.code}, ${measured.told.conclusion} (${measured.code}), ${measured.first}`,
    );
    assert.match(measured.said, /http-tls: candidate: wrong wire: turn 2: /);
    assertFailure(measured, 'fail', '99');
  });
});

/** Words of a comparison on a busy machine. */
const BUSY = /neighbours|can be used|hypervisor/;

/** @type {Record<string, Fault & { why: RegExp }>} by what it does */
const COST = {
  'uses many times the CPU later, while nothing is sent': {
    mode: 'defer --us 200',
    scenario: TCP,
    // All of its CPU counts, not only the part that fell between the first and the last request.
    why: /CPU per operation is worse by more than 10 %: \+\d{3,}\./,
  },
  'never frees the memory of its connections': {
    mode: 'leak --kib 2048 --descriptor',
    scenario: TCP,
    variables: { CONNECTIONS: '16' },
    why: /own memory/,
  },
  'is fast for 480 requests, and slow after them': {
    mode: 'slow-later --after 480 --us 1000',
    scenario: TCP,
    why: /throughput|CPU per operation/,
  },
};

for (const [what, fault] of Object.entries(COST)) {
  // A single run has nothing to compare the cost with, so it may pass.
  test(`a proxy that ${what} fails against another one and in a gate`, async (t) => {
    const found = await verdicts(t, fault);
    assert.ok(NO_FAILURE.includes(found.alone.code), found.alone.said);
    const busy = found.reasons.find((reason) => BUSY.test(reason));
    if (found.measured.told.code === '3' && busy) t.skip(`the machine was busy (${busy})`);
    else assertFails(found, fault.why);
  });
}
