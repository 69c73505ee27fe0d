/** A proxy that takes a known part of a CPU while nothing goes on: footprint/idle finds the part within 5 %. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { temporaryFolder } from '../support/k6.js';
import { leakyProxy } from '../support/leaky-proxy.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const WAKES = 200;
const BURNS_MS = 3;
const CPU_MS_A_MINUTE = WAKES * BURNS_MS * 60;

const folder = temporaryFolder('spinning');
after(folder.remove);
const proxy = leakyProxy(folder.fresh());

test(
  'a helper that takes 60 % of a CPU spins',
  undisturbed(async () => {
    const bench = startBench({
      ONLY: 'footprint/idle',
      PROFILE: 'smoke',
      TESTBED: proxy(`-wakes ${WAKES} -burns ${BURNS_MS}ms`),
      IDLE_S: '2',
    });
    try {
      await bench.ended;
      const result = bench.result('footprint-idle');
      const idle = sectionOf(result, 'idle');
      for (const { cpu_ms: used } of rowsOf(idle)) {
        const off = Math.abs(Number(used?.value) - CPU_MS_A_MINUTE);
        timely(off <= CPU_MS_A_MINUTE * 0.05, `${used?.value} ms, and ${CPU_MS_A_MINUTE} was expected`);
      }
      assert.match(
        String(idle.finding),
        /With nothing at all, the proxy spins: \d+ % of a CPU, and wakes \d+ times a second[,.]/,
      );
      assert.equal(result.verdict, 'fail');
    } finally {
      bench.remove();
    }
  }),
);
