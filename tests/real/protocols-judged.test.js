/** Turns of the matrix with the same program on both sides: a row continues until a verdict. tests/alone/candidate has a slowed program. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT } from '../support/k6.js';
import { protocolRow, sectionOf } from '../support/sections.js';

test('a row of the same program is not slower, and goes on until it knows', async () => {
  const row = 'http';
  const bench = startBench({
    ONLY: 'protocols/matrix',
    CANDIDATE: join(ROOT, 'bin/sing-box'),
    PROFILE: 'smoke',
    TUNNELS: '10',
    PROTOCOL: row,
  });
  try {
    const code = await bench.ended;
    assert.ok([0, 3].includes(Number(code)), bench.output.stdout);
    const result = bench.result('protocols-matrix');
    assert.match(sectionOf(result, 'baseline').notes.join(), /Medians of 2 turns, and further ones/);
    assert.match(sectionOf(result, 'comparison').notes.join(), /interval at [\d.]+ % after 11 turns/);
    const { compared, judged } = protocolRow(result, row);
    assert.ok(compared.turns >= 11, `${compared.turns} turns`);
    assert.ok(!Object.values(judged).includes('missed'), JSON.stringify(judged));
  } finally {
    bench.remove();
  }
});
