/**
 * Is a leak of 100 bytes a connection told from the bound of 64 bytes, and from no leak?
 *
 * `make benchmark-leak` runs it. tests/support/leaky-proxy leaves 100 bytes of each connection behind, and then nothing. footprint/leak
 * carries 120,000 connections through each. It fails if a verdict is wrong, or if the slope of the leak is off by more than 5 %.
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

const folder = mkdtempSync(join(tmpdir(), 'leak-'));
const proxy = leakyProxy(folder);

/** @param {number} bytes of each connection */
async function found(bytes) {
  const bench = startBench({
    ONLY: 'footprint/leak',
    PROFILE: 'quick',
    TESTBED: proxy(`-bytes ${bytes}`),
    CYCLE_CONNECTIONS: '2500',
    CYCLE_MIB: '1',
    CYCLE_ASSOCIATIONS: '1',
  });
  try {
    await bench.ended;
    const { run, sections } = bench.result('footprint-leak');
    const [row] = rowsOf(sectionOf({ sections }, 'leak'));
    console.log(
      `${bytes} B a connection: growth ${row.slope} (${row.interval}), leaks: ${row.leaks}, ${run.duration_s.toFixed(0)} s`,
    );
    return row;
  } finally {
    bench.remove();
  }
}

const [leak, none] = [await found(LEAK), await found(0)];
rmSync(folder, { recursive: true });
const off = Math.abs(leak.bytes / LEAK - 1);
process.exitCode = leak.leaks === 'yes' && none.leaks === 'no' && off <= OFF_MOST ? 0 : 1;
