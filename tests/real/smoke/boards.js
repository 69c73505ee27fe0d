/** Every query of every panel of every board, against the InfluxDB that the run has streamed to. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { committed } from '../../../grafana/generate.js';
import { MATRIX } from '../../../lib/protocols/matrix.js';
import { copyRun } from '../../support/copied-run.js';
import { asking, expanded, hasData, resolve, standing } from '../../support/grafana/stand-in.js';
import { smokeRun } from '../../support/smoke-run.js';

/**
 * @typedef {import('../../support/grafana/stand-in.js').Values} Values
 * @typedef {import('../../support/grafana/stand-in.js').Time} Time
 */

/** Panels that these tests name. */
const [SCENARIOS, LATENCY] = [106, 703];
/** Marks of verdicts; the other verdicts are undecided. @type {Record<string, string>} */
const MARKS = { pass: 'Passed', fail: 'Failed', 'set-up failed': 'Failed' };
/** Panels that are about some scenarios only. @type {Record<number, string[]>} */
const ABOUT = {
  801: ['matrix', 'chain'],
  802: ['matrix', 'chain'],
  803: ['matrix', 'chain'],
  804: ['matrix'],
  1701: ['users-live'],
  1702: ['users-live'],
};
/** The panels of the row Link, which are about scenarios with one; tests/real/link-board.test.js holds its figures. */
const OF_LINK = [1001, 1002, 1003];
/** The table of comparisons: a run is no comparison. */
const OF_COMPARISONS = 161;
/** Panels that are about all scenarios but some. @type {Record<number, string[]>} */
const NOT_ABOUT = {
  701: ['interop', 'users-accounting'],
  702: ['users-accounting'],
  703: ['users-accounting'],
};
/** docs/reference/streaming.md: sets of tags of one k6, of an operation's histogram, and of series without an operation. */
const [MOST_SETS, BUCKETS, OF_SCENARIO] = [6000, 23, 80];
/** Greatest width of a graph, in points. */
const WIDTH = 1000;

const boards = Object.entries(committed()).map(([name, text]) => ({ name, board: JSON.parse(text) }));
/** @type {import('../../support/grafana/stand-in.js').Ask} */
let ask;
/** @type {Time} */
let time;
/** @type {import('../../support/smoke-run.js').Smoke['run']} */
let run;
const BASELINE = 'baseline';

/** @param {typeof run} bench */
const testidOf = ({ folder }) => String(folder.split('/').at(-1));

before(async () => {
  const { influx, from, to, ...smoke } = await smokeRun();
  run = smoke.run;
  ask = asking({
    url: influx.INFLUX,
    username: influx.INFLUX_USERNAME,
    password: influx.INFLUX_PASSWORD,
    database: influx.INFLUX_DATABASE,
  });
  // Its baseline has points of every kind, as a run would have had.
  await copyRun(influx, testidOf(run), BASELINE);
  time = { from, to, interval_s: Math.ceil((to - from) / 1000 / WIDTH) };
});

/** Scenarios of the second run that have a result. @param {string[]} systems */
const ran = (systems) =>
  run
    .files()
    .flatMap(({ name }) => {
      const [, system, scenario] = /^([a-z]+)-(.+)\.json$/.exec(name) ?? [];
      return systems.includes(system) ? [scenario] : [];
    })
    .toSorted();

test('a comparison of all rows of the matrix streams fewer sets of tags than are streamed', async () => {
  const testid = testidOf(run);
  const where = `"testid" = '${testid}' AND "scenario" = 'matrix' AND "operation" = 'trojan_candidate'`;
  const found = await ask(`SHOW SERIES WHERE ${where}`);
  const sets = found
    .flatMap(({ values }) => values.flat())
    .filter((one) => !/^(results|errors|operation_ms_bucket),/.test(String(one)));
  assert.ok(sets.length > 5, JSON.stringify(sets));
  assert.ok((sets.length + BUCKETS) * 2 * MATRIX.length + OF_SCENARIO < MOST_SETS, JSON.stringify(sets));
});

/** Measurements that k6 and the sidecar take once a second, so that a scenario of less than a second may have no points. */
const ONCE_A_SECOND = /^SELECT \S+ FROM "(vus|processes|host)" WHERE (.*) AND time >=/;

/**
 * Whether the scenarios of a query ended before k6 or the sidecar could count.
 * @param {string} query expanded
 */
async function isTooShort(query) {
  const where = ONCE_A_SECOND.exec(query)?.[2];
  if (!where) return false;
  const tags = where.split(' AND ').filter((one) => /^"(testid|system|scenario)"/.test(one));
  const requests = await ask(`SELECT "count" FROM "operation_failed" WHERE ${tags.join(' AND ')}`);
  const seconds = new Set(requests.flatMap(({ values }) => values.map(([at]) => Math.floor(at / 1000))));
  return seconds.size > 0 && seconds.size <= 2;
}

/**
 * Whether a query has no bound to draw. An operation without a threshold on P95 has no bound, and a row of protocols has no threshold.
 * @param {string} query expanded
 */
async function hasNoBound(query) {
  const [, where, kind] = /** @type {RegExpExecArray} */ (
    /WHERE (.*) AND "threshold" =~ \/\^(\S+)/.exec(query)
  );
  const thresholds = await ask(`SHOW TAG VALUES FROM "thresholds" WITH KEY = "threshold" WHERE ${where}`);
  const texts = thresholds.flatMap(({ values }) => values.map(([, text]) => String(text)));
  // Rows over a link have bounds on round trips, if any.
  if (/"system" =~ \/\^link\$\//.test(where)) return !texts.some((text) => text.startsWith(`${kind} `));
  if (texts.length === 0) return hasNoThreshold(where);
  return kind === 'operation_ms' && !texts.some((text) => /^operation_ms p\(95\)/.test(text));
}

/**
 * The result of a scenario of one of some systems.
 * @param {string} scenario
 * @param {string[]} systems
 */
function resultOf(scenario, systems) {
  const system = systems.find((one) => run.has(`${one}-${scenario}.json`));
  return system ? run.result(`${system}-${scenario}`) : null;
}

/** Whether a query is only about rows of protocols, by their results. @param {string} where expanded */
async function hasNoThreshold(where) {
  const scenarios = await ask(`SHOW TAG VALUES FROM "results" WITH KEY = "scenario" WHERE ${where}`);
  const names = scenarios.flatMap(({ values }) => values.map(([, name]) => String(name)));
  return (
    names.length > 0 && names.every((name) => resultOf(name, ['protocols', 'link'])?.thresholds.length === 0)
  );
}

/** One percentile of a scenario's results; a result with too few samples has no percentile. */
const PERCENTILE = /"(p\d\d)_ms" AS "through the proxy".* "scenario" =~ \/\^([a-z0-9-]+)\$/;

/** Whether no operation of a query has the wanted percentile, by the result. @param {string} query expanded */
function hasNoPercentile(query) {
  const [, percentile, scenario] = PERCENTILE.exec(query) ?? [];
  if (!scenario) return false;
  /** @type {{ name: string, latency_ms: Record<string, number | null> | null }[]} */
  const operations = resultOf(scenario, ['dataplane', 'protocols', 'link']).operations;
  const asked = operations.filter(({ name }) => !name.endsWith('direct'));
  return (
    asked.length > 0 && asked.every(({ latency_ms: latency }) => (latency?.[percentile] ?? null) === null)
  );
}

/** Scenarios of the second run that this machine cannot run. @returns {string[]} */
const leftOut = () =>
  run
    .result('run')
    .scenarios.filter((/** @type {any} */ { outcome }) => outcome === 'left out')
    .map((/** @type {any} */ { scenario }) => scenario);

/** @param {string[]} scenarios */
const measured = (scenarios) => scenarios.filter((name) => !leftOut().includes(name));

/**
 * Whether a scenario's measurements are only in its sections, which boards do not show. Goodput has no latency, and one change of a link
 * has only one value.
 * @param {string} scenario
 */
function hasSectionsAlone(scenario) {
  if (!run.has(`link-${scenario}.json`)) return false;
  const { operations, sections } = run.result(`link-${scenario}`);
  const tells = (/** @type {any} */ { latency_ms: latency }) => (latency?.p95 ?? null) !== null;
  return sections.length > 0 && !operations.some(tells);
}

/** Whether a scenario of the second run went over a link. @param {string} scenario */
const hasLink = (scenario) =>
  ['dataplane', 'protocols', 'link'].some(
    (system) =>
      run.has(`${system}-${scenario}.json`) && Boolean(run.result(`${system}-${scenario}`).run.link),
  );

/** Whether a panel is about none of the scenarios. @param {number} id of the panel @param {string[]} scenarios */
function isOfOthers(id, scenarios) {
  if (id === OF_COMPARISONS) return true;
  if (OF_LINK.includes(id)) return !scenarios.some(hasLink);
  return (
    measured(scenarios).every(hasSectionsAlone) ||
    ABOUT[id]?.every((scenario) => !scenarios.includes(scenario)) ||
    scenarios.every((scenario) => NOT_ABOUT[id]?.includes(scenario))
  );
}

/** @param {import('../../support/grafana/stand-in.js').Target} target @param {string} asked */
async function fault({ refId, alias = '' }, asked) {
  const series = await ask(asked);
  if (!hasData(series)) {
    const about = /FROM "thresholds" WHERE (.*)/.exec(asked)?.[1];
    const known = about
      ? await hasNoThreshold(about)
      : refId === 'bound'
        ? await hasNoBound(asked)
        : hasNoPercentile(asked) || (await isTooShort(asked));
    return known ? '' : 'finds nothing';
  }
  // InfluxDB takes a tag that it does not know for one that is empty. Failed requests have no kind.
  const named = [...alias.matchAll(/\$tag_(\w+)/g)].map(([, tag]) => tag).filter((tag) => tag !== 'kind');
  const nameless = named.filter((tag) => series.some(({ tags }) => !tags?.[tag]));
  return nameless.length > 0 ? `has series without ${nameless.join(', ')}` : '';
}

/** Faults of panels, by their names. @param {any} board @param {Values} values */
async function faults(board, values) {
  const asked = standing(board, values)
    .filter(({ panel, values: own }) => !isOfOthers(panel.id, [own.scenario].flat()))
    .flatMap(({ panel, values: own, of }) =>
      panel.targets.map((target) => ({ panel, of, target, query: expanded(target.query, own, time) })),
    );
  const found = await Promise.all(
    asked.map(async ({ panel, of, target, query }) => {
      const what = await fault(target, query);
      return (
        what && `${panel.id} ${panel.title}${of && ` of ${of}`}: query ${target.refId} ${what}: ${query}`
      );
    }),
  );
  return found.filter(Boolean);
}

/** @param {Values} values */
const verdictsOf = ({ testid, system }) =>
  `SELECT "scenario", "verdict" FROM "verdicts" WHERE "testid" = '${testid}' AND "system" =~ /^(${[system].flat().join('|')})$/`;

/** Boards of one run; tests/real/trend.test.js has the board of the trend. */
const ofRuns = boards.filter(({ name }) => name !== 'trend.json');

for (const { name, board } of ofRuns) {
  test(`${name}: no panel is without data when it opens`, async () => {
    const { values } = await resolve(board, ask);
    assert.ok(values.testid && values.baseline && values.testid !== values.baseline, JSON.stringify(values));
    assert.deepEqual(measured([values.scenario].flat()).toSorted(), ran([values.system].flat()));
    assert.ok(values.operation.length > 1, JSON.stringify(values));
    assert.deepEqual(await faults(board, values), []);
  });

  test(`${name}: no panel is without data for any scenario`, async () => {
    const { options } = await resolve(board, ask);
    for (const scenario of measured(options.scenario)) {
      const { values } = await resolve(board, ask, { scenario: [scenario] });
      assert.deepEqual(await faults(board, values), [], scenario);
    }
  });

  test(`${name}: marks are of its scenarios only, and Grafana can read them`, async () => {
    const { values } = await resolve(board, ask);
    for (const { name: mark, target } of board.annotations.list) {
      const region = target.timeEndColumn !== undefined;
      for (const { columns, values: rows } of await ask(expanded(target.query, values, time))) {
        assert.deepEqual(columns, [
          'time',
          'title',
          'text',
          'kind',
          'scenario',
          ...(region ? ['ended_ms'] : []),
        ]);
        // Grafana drops a row with an empty column.
        assert.ok(
          rows.every((row) => !row.includes(null)),
          `${mark}: ${JSON.stringify(rows)}`,
        );
        for (const [at, , , , scenario, ended] of rows) {
          assert.ok(values.scenario.includes(String(scenario)), `${mark}: ${scenario}`);
          if (region) assert.ok(Number(at) <= Number(ended), `${mark}: ${scenario}`);
        }
      }
    }
  });

  test(`${name}: each scenario that has ended is one region, in its verdict’s colour`, async () => {
    const { values } = await resolve(board, ask);
    const found = [];
    for (const { name: mark, target } of board.annotations.list) {
      if (target.timeEndColumn === undefined) continue;
      const series = await ask(expanded(target.query, values, time));
      for (const [, , , , scenario] of series.flatMap((one) => one.values)) found.push(`${scenario} ${mark}`);
    }
    const ended = await ask(expanded(verdictsOf(values), values, time));
    assert.deepEqual(
      found.toSorted(),
      ended
        .flatMap((one) => one.values)
        .map(([, scenario, verdict]) => `${scenario} ${MARKS[String(verdict)] ?? 'Undecided'}`)
        .toSorted(),
    );
  });

  test(`${name}: a row of the scenarios zooms to all that was measured of it`, async () => {
    const { values } = await resolve(board, ask);
    const [{ panel }] = standing(board, values).filter((one) => one.panel.id === SCENARIOS);
    const [{ columns, values: rows }] = await ask(expanded(panel.targets[0].query, values, time));
    assert.equal(rows.length, [values.scenario].flat().length);
    for (const row of rows) {
      const of = Object.fromEntries(columns.map((column, index) => [column, row[index]]));
      const where = `"testid" = '${values.testid}' AND "system" = '${of.system}' AND "scenario" = '${of.scenario}'`;
      const seconds = (await ask(`SELECT "count" FROM "operation_failed" WHERE ${where}`))
        .flatMap((one) => one.values)
        .map(([at]) => Number(at));
      const [from, to] = [of.from, of.to].map(Number);
      assert.ok(
        seconds.every((at) => from <= at && at <= to),
        `${of.scenario}: ${from} to ${to}: ${seconds}`,
      );
      assert.ok(to - from < Number(of.seconds) * 1000 + 5000, JSON.stringify(of));
    }
  });
}

test('dataplane.json: an operation stands beside its control', async () => {
  const { board } = boards.find(({ name }) => name === 'dataplane.json') ?? {};
  const { values } = await resolve(board, ask, { scenario: ['socks-tcp'] });
  const [{ panel }] = standing(board, values).filter((one) => one.panel.id === LATENCY);
  const [{ columns, values: rows }] = await ask(expanded(panel.targets[0].query, values, time));
  assert.deepEqual(columns, ['time', 'operation', 'through the proxy', 'direct']);
  const result = run.result('dataplane-socks-tcp');
  const p50 = (/** @type {string} */ name) =>
    result.operations.find((/** @type {any} */ one) => one.name === name).latency_ms.p50;
  assert.deepEqual(
    rows.map(([, ...row]) => row),
    result.controls.map((/** @type {any} */ { operation, control }) => [
      operation,
      p50(operation),
      p50(control),
    ]),
  );
});
