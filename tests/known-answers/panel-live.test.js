/** Changes of users while others talk: a right proxy, and proxies that drop flows, apply a change late, after a restart, or never. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { KINDS } from '../../lib/users/live-plan.js';
import { Inbound } from '../fakes/inbound.js';
import { startBench } from '../support/bench.js';
import { withPanel } from '../support/faulty.js';
import { panelEntry, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { faultsOf, isOfTheMachine } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('panel-live');
after(folder.remove);

const FLOWS = 5;

/** @param {import('../fakes/inbound.js').InboundFaults} faults @param {(result: any, inbound: Inbound) => void} look */
async function measured(faults, look) {
  const inbound = new Inbound(faults);
  const address = await inbound.listen();
  try {
    await withPanel({ changed: (...change) => inbound.changed(...change) }, async (panel) => {
      const bench = startBench({
        ONLY: 'panel/users-live',
        PROFILE: 'smoke',
        ENV: writeEnvironment(folder.fresh(), panelEntry(panel.url), 'panel'),
        PANEL_PASSWORD: 'panel',
        PANEL_INBOUND: address,
        OPEN_FLOWS: String(FLOWS),
        RATE: '4',
        SECONDS: '4',
      });
      try {
        await bench.ended;
        assert.ok(bench.has('panel-users-live.json'), bench.output.stdout + bench.output.stderr);
        look(bench.result('panel-users-live'), inbound);
        assert.deepEqual(panel.left(), []);
      } finally {
        bench.remove();
      }
    });
  } finally {
    await inbound.stop();
  }
}

/** Facts of the data plane. @param {any} result @returns {Record<string, number>} */
const planeOf = (result) =>
  Object.fromEntries(
    result.integrity
      .filter((/** @type {any} */ { source }) => source === 'far_end')
      .map((/** @type {any} */ { check, found }) => [check.replace('data plane: ', ''), found]),
  );

const NOTHING = {
  'disabled users that carry data': 0,
  'active users that carry none': 0,
  'untouched flows that were lost': 0,
  'changes without effect': 0,
};

/** @param {any} result */
const effectsOf = (result) => rowsOf(sectionOf(result, 'effects'));

for (const closes of [true, false])
  test(`a right proxy passes, if it ${closes ? 'closes' : 'leaves open'} connections of unknown users`, () =>
    measured({ closes }, (result, inbound) => {
      assert.deepEqual(planeOf(result), NOTHING);
      assertVerdict(result, 'pass');
      assert.deepEqual(inbound.dropped, []);
      for (const row of effectsOf(result)) {
        assert.ok(row.changes >= 3 && row.never === 0, JSON.stringify(row));
        assert.ok(row.least <= row.most && row.slowest >= row.most, JSON.stringify(row));
      }
      assert.match(sectionOf(result, 'effects').notes.join('\n'), /0 of \d+ ended or fell silent/);
    }));

test('a flow that ends at each change fails the run, and is named beside the change', () =>
  measured({ drops: true }, (result, inbound) => {
    assertVerdict(result, 'fail');
    assert.ok(inbound.dropped.length >= FLOWS, String(inbound.dropped));
    const found = planeOf(result)['untouched flows that were lost'];
    assert.ok(found >= FLOWS, JSON.stringify(planeOf(result)));
    const notes = result.notes.join('\n');
    const kept = inbound.dropped.filter((name) => /live000000[0-4]$/.test(name));
    for (const name of kept)
      assert.match(
        notes,
        new RegExp(`${name} \\((closed|connection_reset), \\d+ ms after the request to \\w+ wt_`),
      );
    assert.ok(faultsOf(result).some((line) => line.includes('untouched flows that were lost')));
  }));

test(
  'a change that takes effect after 2 s fails by its time to effect',
  undisturbed(() =>
    measured({ delayMs: 2000 }, (result, { took }) => {
      // A busy machine may not reach the effect before the end of the tries.
      timely(planeOf(result)['changes without effect'] === 0, JSON.stringify(planeOf(result)));
      effectsOf(result).forEach((row, index) => {
        // The proxy's timers are late on a busy machine, so the effect came then, and no sooner.
        const all = took[KINDS[index]];
        const [first, last] = [Math.min(...all), Math.max(...all)];
        assert.ok(all.length >= row.changes && first >= 1999, String(all));
        // The clocks agree within 1 ms.
        assert.ok(row.least <= last + 2, JSON.stringify({ row, last }));
        // A connection takes time to reach the proxy.
        const holds = row.most >= first - 50 && row.least > 0.75 * first && row.most < 1.25 * last;
        timely(holds, JSON.stringify({ row, first, last }));
      });
      for (const kind of KINDS)
        assert.match(
          faultsOf(result).join('\n'),
          new RegExp(`${kind}_effect: max [\\d,]+ ms, at most 1,000 ms`),
        );
      // A late generator makes it inconclusive.
      const late = result.verdict === 'inconclusive' && result.reasons.some(isOfTheMachine);
      assert.ok(result.verdict === 'fail' || late, JSON.stringify(result.reasons));
    }),
  ),
);

for (const [effect, words] of /** @type {const} */ ([
  ['restart', 'took effect only after a restart of the core'],
  ['never', 'took no effect even after a restart of the core'],
]))
  test(`changes without effect fail the run by name: ${effect}`, () =>
    measured({ effect }, (result) => {
      assertVerdict(result, 'fail');
      const without = planeOf(result)['changes without effect'];
      // The first changes may come before the fault begins.
      assert.ok(without >= 6, JSON.stringify(planeOf(result)));
      const notes = result.notes.join('\n');
      assert.match(notes, new RegExp(`${words}: (create|disable|enable|delete) wt_`));
      assert.match(notes, /changes without effect: (create|disable|enable|delete) wt_\w+live\d{7}, \w+ wt_/);
      const never = effectsOf(result).map((row) => row.never);
      assert.equal(
        never.reduce((sum, count) => sum + count, 0),
        without,
      );
      assert.ok(
        never.every((count) => count > 0),
        String(never),
      );
    }));

test('the end of open flows of disabled users is reported, and not judged', () =>
  measured({ ends: true, closes: true }, (result) => {
    assert.deepEqual(planeOf(result), NOTHING);
    assertVerdict(result, 'pass');
    const notes = sectionOf(result, 'effects').notes.join('\n');
    const [, ended, of] = /(\d+) of (\d+) ended or fell silent, in the median \d+ ms/.exec(notes) ?? [];
    assert.ok(ended === of && Number(of) >= 3, notes);
  }));
