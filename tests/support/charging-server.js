/** Runs a bench against the server with known faults, tests/fixtures/charging-server.js. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBench } from './bench.js';
import { ROOT } from './k6.js';

/** @typedef {ReturnType<typeof startBench>} Bench */

/**
 * @param {string} faults
 * @param {string} testbed which runs the server as its `binary`
 * @param {Record<string, string>} variables ONLY names one scenario
 * @param {(bench: Bench) => void} look
 */
export async function withServer(faults, testbed, variables, look) {
  const folder = mkdtempSync(join(tmpdir(), 'charged-'));
  const binary = join(folder, 'server');
  const program = join(ROOT, 'tests/fixtures/charging-server.js');
  writeFileSync(binary, `#!/bin/sh\nexec '${process.execPath}' '${program}' ${faults} "$@"\n`, {
    mode: 0o755,
  });
  const bench = startBench({ PROFILE: 'smoke', TESTBED: `${testbed},binary=${binary}`, ...variables });
  try {
    await bench.ended;
    const result = `${variables.ONLY.replace('/', '-')}.json`;
    assert.ok(bench.has(result), bench.output.stdout + bench.output.stderr);
    look(bench);
  } finally {
    bench.remove();
    rmSync(folder, { recursive: true });
  }
}
