/** footprint/start measures a start and a reload of xray. tests/real/smoke/footprint.js checks sing-box. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { LEVELS, assertStart } from '../support/footprint-smoke.js';

test('footprint/start: xray starts with each number of rules, and a restart ends each tunnel', async () => {
  const bench = startBench({
    ONLY: 'footprint/start',
    PROFILE: 'smoke',
    TESTBED: 'xray',
    RULES: LEVELS.join(','),
    TURNS: '1',
    RELOADS: '1',
  });
  try {
    await bench.ended;
    assert.ok(bench.has('footprint-start.json'), bench.output.stdout + bench.output.stderr);
    assertStart(bench.result('footprint-start'), /^A restart: 64 of 64 tunnels were dropped/);
  } finally {
    bench.remove();
  }
});
