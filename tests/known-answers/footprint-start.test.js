/** footprint/start finds the known time, CPU time and memory of a start, and the known effects of a reload. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { temporaryFolder } from '../support/k6.js';
import { buildLeakyProxy, withFlags } from '../support/leaky-proxy.js';
import { within } from '../support/faulty.js';
import { reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { undisturbed } from '../support/timely.js';

const folder = temporaryFolder('footprint-start');
after(folder.remove);
const built = buildLeakyProxy(folder.fresh());

/** @param {string} flags of the proxy @param {Record<string, string>} [variables] */
async function run(flags, variables = {}) {
  const binary = withFlags(built, folder.fresh(), flags);
  const bench = startBench({
    ONLY: 'footprint/start',
    PROFILE: 'smoke',
    TESTBED: `rules:rules=0,rules_as=inline,binary=${binary}`,
    RULES_AS: 'inline',
    AGAIN: '0',
    ...variables,
  });
  try {
    await bench.ended;
    assert.ok(bench.has('footprint-start.json'), bench.output.stdout + bench.output.stderr);
    const result = bench.result('footprint-start');
    const reload = sectionOf(result, 'reload');
    assert.ok(reload || variables.RELOADS === '0', reasonsOf(result).join('\n') + bench.output.stderr);
    return {
      result,
      start: sectionOf(result, 'start'),
      starts: rowsOf(sectionOf(result, 'start')),
      reload,
    };
  } finally {
    bench.remove();
  }
}

/** Connections after a start in smoke, by address and by name. The first of all may still close at its reading. */
const CONNECTIONS = 20;

/** The result has the holding of each start, and its open far sockets fail the run. @param {any} result @param {number} bytes of all rules */
function assertHeld({ verdict, held_by_rows: rows, ...result }, bytes) {
  const [none, all] = rows.map((/** @type {any} */ { held }) => held.processes[0]);
  assert.deepEqual(
    rows.map((/** @type {any} */ { name }) => name),
    ['0 rules', '4000 rules'],
  );
  within(all.before.anon_bytes - none.before.anon_bytes, bytes, 0.05);
  assert.ok(all.peak.peak_anon_bytes >= all.before.anon_bytes, JSON.stringify(all));
  for (const { before, peak, after: last } of [none, all]) {
    const left = last.descriptors.left - before.descriptors.left;
    assert.ok(left >= CONNECTIONS && left < 2 * CONNECTIONS, JSON.stringify(last));
    assert.ok(peak.peak_open_files >= left && peak.peak_threads > 0, JSON.stringify(peak));
  }
  const told = reasonsOf(result).filter((reason) =>
    /^left open: \d+ rules: \d+ TCP connections/.test(reason),
  );
  assert.deepEqual([verdict, told.length], ['fail', 2], told.join('\n'));
}

describe('footprint/start', () => {
  test(
    'a start of 2 s with half a second of CPU time, 16 KiB of each rule, and a far socket of each connection',
    undisturbed(async () => {
      const rules = 4000;
      const flags = '-start-after 2s -start-busy 500ms -rule-bytes 16384 -far-sockets';
      const { starts, result } = await run(flags, {
        RULES: `0,${rules}`,
        TURNS: '1',
        RELOADS: '0',
      });
      assert.deepEqual(
        starts.map((row) => row.rules),
        [0, rules],
      );
      // Before its connections, the started program has the memory of its rules.
      assertHeld(result, rules * 16 * 1024);
      const [none, all] = starts;
      within(all.own_mib.value - none.own_mib.value, (rules * 16) / 1024, 0.05);
      assert.ok(all.peak_mib.value >= all.own_mib.value, 'the peak includes file pages');
      // The memory takes CPU time, too.
      within(none.cpu_s.value, 0.5, 0.05);
      for (const row of starts) {
        assert.ok(row.start_ms.value >= row.listen_ms.value, 'it listens first');
        within(row.listen_ms.value, 2000, 0.05);
        within(row.start_ms.value, 2000, 0.05);
      }
    }),
  );

  test(
    'a reload that drops half of the tunnels, silences the others, and refuses connections for a second',
    undisturbed(async () => {
      const flags = '-reload drop,silent -refuses 1s';
      const { reload, result } = await run(flags, { RULES: '0,10', TURNS: '1' });
      for (const row of rowsOf(reload)) {
        assert.deepEqual([row.survived.value, row.dropped.value], [0, 32]);
        assert.match(row.ends, /^(\d+ × (closed|connection_reset|stalled)(, )?)+$/);
        // New connections take their turns, too.
        const silent = Number(/(\d+) × stalled/.exec(row.ends)?.[1]);
        assert.ok(silent >= 12 && silent <= 20, row.ends);
        within(row.refused_ms.value, 1000, 0.05);
      }
      assert.match(reload.finding, /64 of 64 tunnels were dropped/);
      // A reload has no bound unless an environment sets one.
      assert.doesNotMatch(reasonsOf(result).join(), /back_/);
    }),
  );

  test('a reload that keeps all tunnels, and a growth that six turns can tell', async () => {
    const { reload, start, result } = await run('-reload keep -rule-bytes 65536', {
      RULES: '0,100',
      TURNS: '6',
    });
    for (const row of rowsOf(reload)) {
      assert.deepEqual([row.survived.value, row.dropped.value, row.refused_ms.value], [32, 0, 0]);
      assert.ok(row.answer_ms.value > 0, 'survivors answered');
    }
    assert.match(start.finding, /Own memory: grows by 6\d{4} bytes a rule/);
    const back = result.operations.filter(({ name }) => name.startsWith('back_'));
    assert.equal(back.length, 2);
    assert.ok(
      back.every(({ latency_ms }) => latency_ms.min > 0),
      'a comparison refuses latencies of 0',
    );
  });
});
