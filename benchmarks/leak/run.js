/**
 * How often does footprint/leak err about a proxy with known growth?
 *
 * `make benchmark-leak` runs it. tests/support/leaky-proxy leaves 100 bytes of each connection behind, and then nothing. footprint/leak
 * carries 120,000 connections through each: it tells 100 bytes from the bound of 64 and from nothing. Then each harmless shape runs
 * RUNS times (50), each for eight seconds. The benchmark fails if a verdict is wrong, or if the slope of the leak is off by
 * more than 5 %.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startBench } from '../../tests/support/bench.js';
import { leakyProxy } from '../../tests/support/leaky-proxy.js';
import { rowsOf, sectionOf } from '../../tests/support/sections.js';

const LEAK = 100;
const OFF_MOST = 0.05;

/** Harmless shapes: flags of the proxy. A run has 1,200 connections. */
const HARMLESS = { 'a step of 50 MiB': '-step-at 700', 'a saw-tooth of 20 MiB': '-teeth 120' };
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
    CYCLE_CONNECTIONS: '2500',
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
    const { rows } = await measured(flags, { PROFILE: 'smoke', CYCLES: '18', CYCLE_CONNECTIONS: '60' });
    // The shapes are of connections: smoke does not judge associations, and it cannot tell what few transfers leave.
    const ofConnections = rows.filter(({ work }) => work === 'connection');
    if (rows.some(({ leaks }) => leaks === 'yes')) answers.yes += 1;
    else if (ofConnections.every(({ leaks }) => leaks === 'no')) answers.no += 1;
    else answers.undecided += 1;
  }
  console.log(
    `${shape}, ${RUNS} runs: leak ${answers.yes}, no leak ${answers.no}, undecided ${answers.undecided}`,
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
