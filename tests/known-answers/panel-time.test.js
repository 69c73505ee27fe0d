/** Sections of where the time went, with a panel that reports known times: Server-Timing, bottlenecks, Prometheus. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within, withPanel } from '../support/faulty.js';
import { operation, runPanel } from '../support/k6.js';
import { assertVerdict } from '../support/verdict.js';
import { rowsOf, sectionOf } from '../support/sections.js';

/** @typedef {import('../fakes/panel-timings.js').Durations} Durations */

const OUTSIDE = 'outside the route';
const PROMETHEUS = {
  prometheus: { path: '/metrics', histogram: 'panel_component_seconds', label: 'component' },
};

/**
 * The rows of an operation's table: calls, average and share of the route, by component.
 * @param {any} result @param {string} name
 */
const tableOf = (result, name) =>
  Object.fromEntries(partsOf(result, name).map((row) => [row.component, [row.calls, row.avg_ms, row.share]]));

/** @param {any} result @param {string} of an operation; '' is the whole run */
const partsOf = (result, of) =>
  result.sections
    .filter((/** @type {any} */ one) => one.columns[0].name === 'component' && (one.operation ?? '') === of)
    .flatMap(rowsOf);

/** @param {any} result @param {string} of an operation @param {string} name */
const component = (result, of, name) => partsOf(result, of).find((row) => row.component === name);

/** The named bottleneck of an operation. @param {any} result @param {string} name */
const bottleneck = (result, name) => sectionOf(result, 'component', name);

test('each part of each operation is told exactly, and what is outside the route', async () => {
  const timings = /** @type {Record<string, Durations>} */ ({
    create: [
      ['route', 20],
      ['database_pool', 1],
      ['database', 12],
      ['xray_add', 4],
    ],
    read: [
      ['route', 5],
      ['database', 5],
    ],
    disable: [
      ['route', 10],
      ['database', 2.5],
      ['xray_remove', 6],
    ],
    // A name may occur twice. A name that the environment does not list is ignored.
    enable: [
      ['route', 10],
      ['xray_add', 2],
      ['xray_add', 4],
      ['cache', 3],
    ],
  });
  await withPanel({ timings, delayMs: 40 }, async (panel) => {
    const variables = { CLIENTS: '4', USERS: '40' };
    const { code, result } = await runPanel('users-lifecycle', panel.url, variables);
    assertVerdict(result, 'pass', code);
    const outside = (/** @type {string} */ name) => component(result, name, OUTSIDE).avg_ms;
    assert.deepEqual(tableOf(result, 'create'), {
      route: [40, 20, 1],
      database_pool: [40, 1, 0.05],
      database: [40, 12, 0.6],
      xray_add: [40, 4, 0.2],
      'rest of the route': [40, 3, 0.15],
      [OUTSIDE]: [40, outside('create'), null],
    });
    assert.deepEqual(tableOf(result, 'read'), {
      route: [40, 5, 1],
      database: [40, 5, 1],
      'rest of the route': [40, 0, 0],
      [OUTSIDE]: [40, outside('read'), null],
    });
    assert.deepEqual(tableOf(result, 'disable'), {
      route: [40, 10, 1],
      database: [40, 2.5, 0.25],
      xray_remove: [40, 6, 0.6],
      'rest of the route': [40, 1.5, 0.15],
      [OUTSIDE]: [40, outside('disable'), null],
    });
    assert.deepEqual(tableOf(result, 'enable'), {
      route: [40, 10, 1],
      xray_add: [80, 3, 0.6],
      'rest of the route': [40, 4, 0.4],
      [OUTSIDE]: [40, outside('enable'), null],
    });
    assert.deepEqual(tableOf(result, 'delete'), {}, 'its answers tell nothing');
    for (const [name, [[, route]]] of Object.entries(timings)) {
      const { avg } = operation(result, name).latency_ms;
      within(outside(name), avg - route, 0.001);
      within(component(result, name, OUTSIDE).latency_share, (avg - route) / avg, 0.001);
      // The panel does not report the delay of 40 ms.
      assert.equal(bottleneck(result, name).answer, OUTSIDE);
    }
  });
});

/** More than the duration of a request, so that no time is left outside the route. @param {number} database @param {number} xray @returns {Durations} */
const parts = (database, xray) => [
  ['route', 2000],
  ['database', database],
  ['xray_add', xray],
];

/** @type {Durations} */
const OVERLAPPING = [
  ['route', 20],
  ['database', 15],
  ['xray_add', 10],
];

test('a bottleneck takes most of nearly all requests, parts in turn are none, and overlapping ones are told', async () => {
  const timings = (/** @type {string} */ name, /** @type {number} */ nth) => {
    if (name === 'create') return parts(1500, 400);
    if (name === 'read') return nth % 2 === 0 ? parts(1500, 400) : parts(300, 1600);
    return name === 'disable' ? OVERLAPPING : [];
  };
  await withPanel({ timings }, async (panel) => {
    const { result } = await runPanel('users-lifecycle', panel.url, { USERS: '100' });
    const { answer, finding } = bottleneck(result, 'create');
    assert.equal(answer, 'database');
    assert.match(finding, /^The bottleneck is database: it took 75 % .* the most of 100 of 100 requests/);
    assert.equal(component(result, 'create', OUTSIDE).avg_ms, 0);

    const turns = bottleneck(result, 'read');
    assert.deepEqual([turns.answer, turns.finding], ['', undefined]);
    assert.match(
      turns.notes[0],
      /^No single bottleneck: the largest part, xray_add, took 50 % .* the most of 50 of 100/,
    );
    assert.match(
      result.notes.join('\n'),
      /disable: its parts \(database, xray_add\) add up to 125 % of the route/,
    );
  });
});

test('a few requests are too few for a bottleneck', async () => {
  await withPanel({ timings: { create: parts(1500, 400) } }, async (panel) => {
    const { result } = await runPanel('users-create', panel.url, { USERS: '20', CLIENTS: '2' });
    const { answer, notes } = bottleneck(result, 'create');
    assertVerdict(result, 'pass');
    assert.equal(answer, '');
    assert.match(notes[0], /^Too few requests to name a bottleneck/);
  });
});

test('without Server-Timing, Prometheus tells the same of the whole run', async () => {
  const timings = /** @type {Record<string, Durations>} */ ({
    create: parts(1500, 400),
    list: [['route', 100]],
  });
  await withPanel({ timings, serverTiming: false, prometheus: true }, async (panel) => {
    const { result } = await runPanel('users-create', panel.url, { USERS: '100' }, PROMETHEUS);
    assertVerdict(result, 'pass');
    // Excludes the creations of the warm-up, and the lists of set-up and clean-up, which the panel also reports.
    assert.deepEqual(tableOf(result, ''), {
      route: [100, 2000, 1],
      database: [100, 1500, 0.75],
      xray_add: [100, 400, 0.2],
    });
    const answers = result.sections.map((/** @type {any} */ { name, answer }) => [name, answer]);
    assert.deepEqual(answers, [['prometheus', undefined]]);
  });
});

test('without either there is no table, one line says why, and the run passes', async () => {
  await withPanel({}, async (panel) => {
    const { result, stderr } = await runPanel('users-create', panel.url, { USERS: '100' }, PROMETHEUS);
    assertVerdict(result, 'pass');
    assert.deepEqual(result.sections, []);
    assert.match(stderr, /panel: \/metrics: 404: its metrics are not in the result/);
    assert.deepEqual(panel.truth.mistakes.splice(0), ['GET /metrics', 'GET /metrics']);
  });
});

test('both loops of a full run have a table of their own', async () => {
  await withPanel({ timings: { create: parts(1500, 400) } }, async (panel) => {
    const variables = { PROFILE: 'full', DURATION: '2s', RATE: '40', CLIENTS: '2' };
    const { result } = await runPanel('users-create', panel.url, variables);
    for (const name of ['create', 'create_open']) {
      const { success } = operation(result, name);
      assert.deepEqual(tableOf(result, name).database, [success, 1500, 0.75], name);
      assert.equal(bottleneck(result, name).answer, 'database', name);
    }
  });
});
