/** The reports of the panel's scenarios for a panel with known speed, users and mix. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, within, withPanel } from '../support/faulty.js';
import { operation, runPanel } from '../support/k6.js';
import { faultsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';
import { timely, undisturbed } from '../support/timely.js';

/** @typedef {import('../fakes/panel-timings.js').Operation} Operation */

const FOREIGN = ['anna', 'wt_bert', 'cora'];

/** The rows of each scenario, and the panel's names for them. @type {Record<string, Record<string, Operation>>} */
const ROWS = {
  'users-create': { create: 'create' },
  'users-disable': { disable: 'disable' },
  'users-enable': { enable: 'enable' },
  'users-lifecycle': {
    create: 'create',
    read: 'read',
    disable: 'disable',
    enable: 'enable',
    delete: 'delete',
  },
  'users-list': { page: 'list' },
  mixed: {
    read: 'read',
    list: 'list',
    system: 'system',
    create: 'create',
    disable: 'disable',
    enable: 'enable',
    delete: 'delete',
  },
};

for (const [name, rows] of Object.entries(ROWS)) {
  test(
    `${name} reports an injected delay, and leaves only users of others`,
    undisturbed(async () => {
      await withPanel({ delayMs: 40, foreign: FOREIGN }, async (panel) => {
        const variables = { CLIENTS: '3', USERS: '30', PAGES: '30', REQUESTS: '99' };
        const { code, result, stderr } = await runPanel(name, panel.url, variables);
        for (const [row, served] of Object.entries(rows)) {
          const { latency_ms: latency, requests, success, errors } = operation(result, row);
          within(latency.p50, median(panel.truth.served[served] ?? []), 0.25);
          assert.ok(requests > 0 && success === requests, `${row}: ${JSON.stringify(errors)}`);
        }
        assertVerdict(result, 'pass', code);
        assert.deepEqual([faultsOf(result), stderr], [[], '']);
        assert.deepEqual(panel.users(), FOREIGN);
      });
    }),
  );
}

test(
  'a stall shows in the open-loop p99 and not in that of a closed loop',
  undisturbed(async () => {
    const stall = { afterRequests: 300, ms: 600 };
    await withPanel({ delayMs: 2, stall }, async (panel) => {
      const { result } = await runPanel('users-create', panel.url, { USERS: '1000', CLIENTS: '5' });
      const { p99, max } = operation(result, 'create').latency_ms;
      timely(p99 < 200, `closed-loop p99 ${p99}`);
      assert.ok(max > 550, 'the closed loop met the stall, once for each client');
    });
    await withPanel({ delayMs: 2, stall }, async (panel) => {
      const variables = { PROFILE: 'soak', RATE: '100', DURATION: '6s' };
      const { result } = await runPanel('users-create', panel.url, variables);
      // 60 of about 450 recorded requests meet the stall and wait 300 ms on average.
      const { p99, max } = operation(result, 'create_open').latency_ms;
      assert.ok(p99 > 450, `open-loop p99 ${p99}`);
      assert.ok(max > 550, `open-loop max ${max}`);
      timely(max < 900, `open-loop max ${max}`);
    });
  }),
);

test('users-list asks for every page, the short last one too', async () => {
  const foreign = Array.from({ length: 237 }, (_, index) => `user_${index}`);
  await withPanel({ foreign }, async (panel) => {
    const { result } = await runPanel('users-list', panel.url, { PAGES: '10', CLIENTS: '2', LIMIT: '50' });
    const { requests, success, items } = operation(result, 'page');
    // Five pages, read twice.
    assert.deepEqual([requests, success, items.count], [10, 10, 2 * 237]);
    assert.deepEqual(panel.users(), foreign);
  });
});

test('users-list makes users where a panel has none and no database is named, tells how many, and removes them', async () => {
  await withPanel({}, async (panel) => {
    const { code, result } = await runPanel('users-list', panel.url, { PAGES: '20', LIMIT: '50' });
    const { requests, success, items } = operation(result, 'page');
    assert.deepEqual([requests, success, items.count], [20, 20, 2 * 500]);
    assert.equal(result.run.parameters.existing, 500);
    assertVerdict(result, 'pass', code);
    assert.deepEqual(panel.left(), []);
  });
});

for (const mix of ['read:40,list:10,system:10,create:15,switch:20,delete:5', 'read:50,create:30,delete:20']) {
  test(`mixed sends exactly ${mix}, half of the switches each way`, async () => {
    await withPanel({ delayMs: 2 }, async (panel) => {
      const { code, result } = await runPanel('mixed', panel.url, {
        CLIENTS: '10',
        REQUESTS: '400',
        MIX: mix,
      });
      const weights = Object.fromEntries(mix.split(',').map((part) => part.split(':')));
      const { switch: switched = 0, ...others } = weights;
      const expected = Object.entries({ ...others, disable: switched / 2, enable: switched / 2 })
        .filter(([, weight]) => weight > 0)
        .map(([kind, weight]) => [kind, weight * 4]);
      const sent = result.operations.map((/** @type {any} */ row) => [row.name, row.success]);
      assert.deepEqual(Object.fromEntries(sent), Object.fromEntries(expected));
      assertVerdict(result, 'pass', code);
      assert.deepEqual(panel.left(), []);
      assert.ok(result.integrity.every((/** @type {any} */ line) => line.ok));
    });
  });
}
