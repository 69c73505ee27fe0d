/** A proxy that does a known amount while nothing goes on: footprint/idle finds it, names it, and leaves a quiet one alone. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { temporaryFolder } from '../support/k6.js';
import { leakyProxy } from '../support/leaky-proxy.js';
import { reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('footprint-idle');
after(folder.remove);
const proxy = leakyProxy(folder.fresh());
const KIB = 1024;

/** @param {string} flags of the proxy @param {Record<string, string>} [variables] */
async function run(flags, variables = {}) {
  const bench = startBench({
    ONLY: 'footprint/idle',
    PROFILE: 'smoke',
    TESTBED: proxy(flags),
    IDLE_S: '2',
    ...variables,
  });
  try {
    await bench.ended;
    const result = bench.result('footprint-idle');
    const section = sectionOf(result, 'idle');
    return { result, rows: rowsOf(section), finding: String(section.finding ?? '') };
  } finally {
    bench.remove();
  }
}

/** @param {any} cell a median with its range */
const valueOf = (cell) => Number(cell?.value ?? NaN);

/** A figure within a share of what is expected. A busy machine spoils it. @param {number} value @param {number} expected @param {number} [share] */
function near(value, expected, share = 0.05) {
  timely(Math.abs(value - expected) <= expected * share, `${value}, and ${expected} was expected`);
}

describe('footprint/idle', () => {
  test(
    'a quiet proxy stays within all bounds, and a helper that wakes 200 times a second and burns 0.5 ms each time does not',
    undisturbed(async () => {
      const quiet = await run('-holds 65536');
      assert.equal(quiet.finding, '');
      assert.deepEqual(
        (quiet.result.integrity ?? []).filter((/** @type {any} */ { ok }) => !ok),
        [],
      );
      const [nothing, tunnels, associations] = quiet.rows;
      assert.deepEqual([nothing.count, tunnels.count, associations.count], [0, 50, 50]);
      for (const row of quiet.rows) {
        assert.equal(row.life, 'still open after 2.0 s');
        assert.equal(row.answered, '50 of 50');
        timely(valueOf(row.packets) === 0 && valueOf(row.cpu_ms) < 1200, JSON.stringify(row));
      }
      // 64 KiB that each holds, beside buffers and stacks of the program.
      for (const row of [tunnels, associations])
        assert.ok(valueOf(row.kib_each) > 64 && valueOf(row.kib_each) < 160, JSON.stringify(row));
      const wakes = await run(`-holds ${65536 + 256 * KIB} -wakes 200 -burns 500us`);
      for (const index of [1, 2])
        near(valueOf(wakes.rows[index].kib_each) - valueOf(quiet.rows[index].kib_each), 256);
      wakes.rows.forEach((row, index) => {
        near(valueOf(row.wakeups) - valueOf(quiet.rows[index].wakeups), 200);
        // Beside the helper, the proxy's own use varies. tests/alone/spinning.test.js has a larger one.
        near(valueOf(row.cpu_ms) - valueOf(quiet.rows[index].cpu_ms), 200 * 0.5 * 60, 0.1);
      });
      assert.match(
        wakes.finding,
        /With nothing at all, the proxy uses \d+ ms of CPU a minute, and wakes \d+ times a second[,.]/,
      );
      const reasons = reasonsOf(wakes.result).join();
      assert.match(reasons, /nothing at all: CPU, ms a minute: at least \d+, and the bound is 1200/);
      assert.match(reasons, /nothing at all: wake-ups a second: at least \d+, and the bound is 100/);
      assert.equal(wakes.result.verdict, 'fail');
    }),
  );

  test(
    'a keep-alive each second is found, and tunnels that end are no fault',
    undisturbed(async () => {
      const { result, rows, finding } = await run('-keep-alive', { IDLE_S: '12' });
      const [nothing, tunnels, associations] = rows;
      // A datagram of 32 bytes has headers of 28.
      near(valueOf(tunnels.packets), 60);
      near(valueOf(tunnels.bytes), 60 * 60);
      timely(valueOf(nothing.packets) === 0 && valueOf(associations.packets) === 0, JSON.stringify(rows));
      assert.match(
        finding,
        /With idle tunnels, the proxy [^.]*sends \d+\.\d packets a minute for each tunnel\./,
      );
      assert.equal(result.verdict, 'fail');

      const ends = await run('-closes-after 1500ms');
      const [, closed] = ends.rows;
      const [, first, there] =
        String(closed.life).match(
          /^50 of 50 ended, the first after ([\d.]+) s; at the far end 50, the first after ([\d.]+) s$/,
        ) ?? [];
      timely(Number(first) > 0.3 && Number(first) <= 1.1, String(closed.life));
      timely(Math.abs(Number(there) - Number(first)) <= 0.4, String(closed.life));
      assert.equal(closed.answered, '0 of 0');
      assert.notEqual(ends.result.verdict, 'fail');
    }),
  );
});
