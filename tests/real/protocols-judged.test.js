/** What turns of the matrix tell of the same program: a row goes on until it knows. A slowed one is in tests/alone/candidate. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow, sectionOf } from '../support/sections.js';

const ONLY = 'protocols/matrix';

test('a row of the same program is not slower: it goes on, and a fixed number of turns does not', async () => {
  const row = 'http';
  const same = {
    ONLY,
    CANDIDATE: join(ROOT, 'bin/sing-box'),
    PROFILE: 'smoke',
    TUNNELS: '10',
    PROTOCOL: row,
  };
  const bench = startBench(same);
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
  const few = startBench({ ...same, TURNS: '4' });
  try {
    assert.equal(await few.ended, 3);
    const result = few.result('protocols-matrix');
    assert.equal(protocolRow(result, row).compared.turns, 4);
    assert.match(
      sectionOf(result, 'comparison').notes.join(),
      /^.*4 turns meet and miss no target: with so many targets it takes 10 turns\.$/m,
    );
    const told = /latency: 4 turns cannot tell.*; about \d+ would: TURNS=\d+$/;
    assert.ok(
      reasonsOf(result).some((line) => told.test(line)),
      reasonsOf(result).join('\n'),
    );
  } finally {
    few.remove();
  }
});
