/**
 * How often does footprint/leak err about a proxy with known growth?
 *
 * `make benchmark-leak` runs it. tests/support/leaky-proxy leaves 100 bytes of each connection behind, and then nothing. footprint/leak
 * carries 120,000 connections through each: it tells 100 bytes from the bound of 64 and from nothing. Then each harmless shape runs
 * RUNS times (50) with the cycles and blocks of quick, and a fifth of its connections. The benchmark fails if a verdict is wrong, or if the
 * slope of the leak is off by more than 5 %.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { LEAK_PROFILES, MEMORY_SLACK } from '../../lib/footprint/leak-sizes.js';
import { startBench } from '../../tests/support/bench.js';
import { leakyProxy } from '../../tests/support/leaky-proxy.js';
import { rowsOf, sectionOf } from '../../tests/support/sections.js';

const LEAK = 100;
const OFF_MOST = 0.05;

/** Connections of a cycle of harmless shapes, and of a whole run. */
const CYCLE = 100;
const ALL = CYCLE * LEAK_PROFILES.quick.cycles;
/** The smallest leak of such a run, bytes of a connection: its bound. */
const LEAST = Math.ceil(MEMORY_SLACK / ALL);
/** Flags of the proxy: a step in the middle of the run, and teeth of two cycles. */
const HARMLESS = {
  'a step of 50 MiB': `-step-at ${ALL / 2}`,
  'a saw-tooth of 20 MiB': `-teeth ${2 * CYCLE}`,
};
const RUNS = Number(process.env.RUNS ?? 50);

const folder = mkdtempSync(join(tmpdir(), 'leak-'));
const proxy = leakyProxy(folder);

/** @param {string} flags @param {Record<string, string>} variables */
async function measured(flags, variables) {
  const bench = startBench({ ONLY: 'footprint/leak', TESTBED: proxy(flags), CYCLE_MIB: '1', ...variables });
  try {
    await bench.ended;
    const result = bench.result('footprint-leak');
    return { result, rows: rowsOf(sectionOf(result, 'leak')) };
  } finally {
    bench.remove();
  }
}

/** @param {number} bytes of each connection */
async function found(bytes) {
  const { result, rows } = await measured(`-bytes ${bytes}`, {
    PROFILE: 'quick',
    // More blocks than quick has: their neighbours are alike.
    CYCLES: '96',
    CYCLE_CONNECTIONS: '1250',
    CYCLE_ASSOCIATIONS: '1',
  });
  const [row] = rows;
  console.log(
    `${bytes} B a connection: growth ${row.slope} (${row.interval}), leaks: ${row.leaks}, ${result.run.duration_s.toFixed(0)} s`,
  );
  return row;
}

/** @param {string} shape @param {string} flags @returns {Promise<number>} runs that found a leak */
async function leaksOf(shape, flags) {
  const answers = { yes: 0, no: 0, undecided: 0 };
  for (let run = 0; run < RUNS; run += 1) {
    const { rows } = await measured(flags, {
      PROFILE: 'quick',
      CYCLE_CONNECTIONS: String(CYCLE),
      CYCLE_ASSOCIATIONS: '1',
      LEAK_BYTES: String(LEAST),
    });
    // Only connections have the shapes. The run has too few transfers to judge a GiB.
    const ofConnections = rows.filter(({ work }) => work === 'connection');
    if (rows.some(({ leaks }) => leaks === 'yes')) answers.yes += 1;
    else if (ofConnections.every(({ leaks }) => leaks === 'no')) answers.no += 1;
    else answers.undecided += 1;
  }
  console.log(
    `${shape}, ${RUNS} runs, at most ${LEAST} B a connection: leak ${answers.yes}, no leak ${answers.no}, undecided ${answers.undecided}`,
  );
  return answers.yes;
}

const [leak, none] = [await found(LEAK), await found(0)];
let wrong = 0;
for (const [shape, flags] of Object.entries(HARMLESS)) wrong += await leaksOf(shape, flags);
rmSync(folder, { recursive: true });
const off = Math.abs(leak.bytes / LEAK - 1);
const right = leak.leaks === 'yes' && none.leaks === 'no' && off <= OFF_MOST && wrong === 0;
process.exitCode = right ? 0 : 1;
