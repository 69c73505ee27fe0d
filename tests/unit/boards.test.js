/** The boards' JSON: up to date, with the SDK's types, and without findings of the linter. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { DATASOURCE } from '../../grafana/parts/influx.js';
import { committed, outdated } from '../../grafana/generate.js';
import { problemsOf } from '../support/grafana/lint.js';
import { cellsOf } from '../support/grafana/stand-in-table.js';
import { expanded, resolve, standing } from '../support/grafana/stand-in.js';
import { boards, panelOf, propertyOf } from '../support/boards.js';
import { ROOT, start, temporaryFolder } from '../support/k6.js';

/** The panel with the marks. */
const STRIP = 123;

/** Boards that show one run; the board trend shows all runs. */
const boardsOfRuns = () => Object.entries(boards()).filter(([name]) => name !== 'trend.json');

test('grafana/dashboards is up to date', () => {
  assert.deepEqual(outdated(), [], 'run make boards');
  assert.deepEqual(Object.keys(committed()).toSorted(), [
    'dataplane.json',
    'link.json',
    'overview.json',
    'panel.json',
    'relay.json',
    'trend.json',
  ]);
});

test('the linter finds nothing', () => {
  assert.deepEqual(problemsOf(boards()), []);
});

test('the provisioned data source is the boards’ own, and its boards cannot be changed', () => {
  const read = (/** @type {string} */ name) =>
    parse(readFileSync(join(ROOT, 'grafana/provisioning', name), 'utf8'));
  const [source, ...others] = read('datasources/influxdb.yaml').datasources;
  assert.deepEqual(others, []);
  const { uid, type, editable, jsonData, secureJsonData } = source;
  assert.deepEqual({ uid, type, editable }, { ...DATASOURCE, editable: false });
  const { dbName, httpMode, timeInterval } = jsonData;
  assert.deepEqual(
    { dbName, httpMode, timeInterval },
    { dbName: '${INFLUX_DATABASE}', httpMode: 'POST', timeInterval: '1s' },
  );
  assert.deepEqual(secureJsonData, { password: '${INFLUX_PASSWORD}' });
  const [{ folder, allowUiUpdates, disableDeletion }] = read('dashboards/windtunnel.yaml').providers;
  assert.deepEqual(
    { folder, allowUiUpdates, disableDeletion },
    { folder: 'Windtunnel', allowUiUpdates: false, disableDeletion: true },
  );
});

test('by default marks are verdicts, as regions, and seconds that are missing', () => {
  for (const [name, { annotations }] of boardsOfRuns()) {
    const shown = annotations.list.filter((/** @type {any} */ { enable }) => enable);
    assert.deepEqual(
      shown.map((/** @type {any} */ mark) => [mark.name, mark.target.timeEndColumn]),
      [
        ['Passed', 'events.ended_ms'],
        ['Failed', 'events.ended_ms'],
        ['Undecided', 'events.ended_ms'],
        ['Not streamed', undefined],
      ],
      name,
    );
    for (const { filter } of annotations.list)
      assert.deepEqual(filter, { exclude: false, ids: [STRIP] }, `${name}: marks lie on a strip alone`);
  }
});

test('a board of a run opens on its last five minutes: tiles in one line, then rate, latency and errors', () => {
  for (const [name, { time, panels }] of boardsOfRuns()) {
    assert.deepEqual(time, { from: 'now-5m', to: 'now' }, name);
    const open = panels.filter((/** @type {any} */ { type }) => type !== 'row');
    const tiles = open.filter((/** @type {any} */ { type }) => type === 'stat');
    assert.equal(new Set(tiles.map((/** @type {any} */ { gridPos }) => gridPos.y)).size, 1, name);
    assert.deepEqual(
      open.slice(tiles.length, tiles.length + 4).map((/** @type {any} */ { title }) => title),
      ['Rate', 'P95 latency', 'Errors by kind', 'Requests and failures'],
      name,
    );
  }
});

test('the tile of failures is red from the bound on, and blue without a bound', () => {
  for (const [name, board] of boardsOfRuns()) {
    const { fieldConfig, transformations, targets } = panelOf(board, 104);
    assert.deepEqual(fieldConfig.defaults.thresholds.steps, [{ value: null, color: 'blue' }], name);
    assert.deepEqual(transformations[0].options, {
      configRefId: 'bound',
      mappings: [
        {
          fieldName: 'bound',
          handlerKey: 'threshold1',
          reducerId: 'lastNotNull',
          handlerArguments: { threshold: { color: 'red' } },
        },
      ],
    });
    const bound = targets.find((/** @type {any} */ { refId }) => refId === 'bound').query;
    assert.match(bound, /^SELECT min\("bound"\) \+ 0\.000000001 FROM "bounds" .*\^operation_failed /, name);
  }
});

test('the tile of the slowest second names each operation, and a doubtful scenario has its own mark', () => {
  for (const [name, board] of boardsOfRuns()) {
    const slowest = panelOf(board, 105);
    assert.match(slowest.targets[0].query, /GROUP BY "scenario", "operation"$/, name);
    assert.equal(slowest.options.textMode, 'value_and_name', name);
    assert.match(panelOf(board, 102).targets[0].query, /GROUP BY "system", "scenario"\)$/, name);
    assert.match(panelOf(board, 106).targets[0].query, /"trusted"/, name);
  }
});

test('the trend names no group, which is a hash, and one graph has one unit', () => {
  const { panels } = boards()['trend.json'];
  const graphs = panels
    .flatMap((/** @type {any} */ panel) => [panel, ...(panel.panels ?? [])])
    .filter((/** @type {any} */ { type }) => type === 'timeseries');
  assert.ok(graphs.length > 5);
  for (const { title, targets, fieldConfig } of graphs) {
    assert.ok(!targets[0].alias.includes('group'), title);
    assert.match(targets[0].query, /"(unit|metric)" (=|!~) /, title);
    assert.equal(fieldConfig.defaults.custom.scaleDistribution.type, 'log', title);
  }
});

test('each row of the table of scenarios leads to its own time, on its system’s board and on this one', () => {
  for (const [name, board] of boardsOfRuns()) {
    const urls = ['scenario', 'began_ms'].map(
      (column) => propertyOf(board, 106, column, 'links').value[0].url,
    );
    for (const url of urls)
      assert.match(
        url,
        /&from=\$\{__data\.fields\.from\.numeric\}&to=\$\{__data\.fields\.to\.numeric\}$/,
        name,
      );
    assert.ok(urls[1].startsWith(`/d/windtunnel-${name.replace('.json', '')}?`), urls[1]);
    assert.match(
      panelOf(board, 106).targets[0].query,
      /"began_ms" - \d+ AS "from", "ended_ms" \+ \d+ AS "to"/,
    );
  }
});

test('a link to a run begins two seconds before the run', () => {
  const panel = panelOf(boards()['overview.json'], 151);
  const [cells] = cellsOf(panel, {
    begin: [{ Time: 100_000, testid: 'a', profile: 'quick', text: '' }],
    end: [{ Time: 160_000, testid: 'a', verdict: 'pass' }],
  });
  assert.equal(cells.from, 98_000);
  const [show, watch] = propertyOf(boards()['overview.json'], 151, 'testid', 'links').value;
  for (const { url } of [show, watch]) assert.match(url, /&from=\$\{__data\.fields\.from\.numeric\}&to=/);
});

test('the trend shows one class of machine at a time, and no run', () => {
  const { 'trend.json': board } = boards();
  const [machine] = board.templating.list;
  assert.equal(machine.name, 'class');
  assert.ok(!machine.multi && !machine.includeAll, 'classes are never shown together');
  const queries = board.panels.flatMap((/** @type {any} */ { targets = [] }) => targets);
  const marks = board.annotations.list.map((/** @type {any} */ { target }) => target);
  assert.ok(queries.length >= 2 && marks.length === 1);
  for (const { query } of [...queries, ...marks]) assert.match(query, /"class" = \$\{class:singlequote\}/);
  assert.ok(
    board.links.every((/** @type {any} */ { url, keepTime }) => !url.includes('testid') && !keepTime),
  );
});

test('links to the other boards are in sight, marks in the menu', () => {
  for (const { links, annotations } of Object.values(boards())) {
    assert.ok(links.every((/** @type {any} */ link) => !('placement' in link)));
    assert.ok(annotations.list.every((/** @type {any} */ { placement }) => placement === 'inControlsMenu'));
  }
});

test('without a candidate its panel says so', () => {
  const { defaults } = panelOf(boards()['dataplane.json'], 804).fieldConfig;
  assert.match(defaults.noValue, /^this run has no candidate/);
});

/** tsc's errors for boards. @param {Record<string, unknown>} all @returns {Promise<string>} */
async function typeErrors(all) {
  const folder = temporaryFolder('boards');
  try {
    const files = Object.entries(all).map(([name, board]) => {
      const file = join(folder.path, name.replace('.json', '.ts'));
      const types = JSON.stringify(join(ROOT, 'tests/support/grafana/types.js'));
      writeFileSync(
        file,
        `import type { Board } from ${types};\nexport const board: Board = ${JSON.stringify(board, null, 1)};\n`,
      );
      return file;
    });
    const options =
      '--noEmit --strict --skipLibCheck --target es2023 --module esnext --moduleResolution bundler';
    const run = start(process.execPath, ['node_modules/typescript/bin/tsc', ...options.split(' '), ...files]);
    await run.ended;
    return run.output.stdout + run.output.stderr;
  } finally {
    folder.remove();
  }
}

test('the boards are of the SDK’s types, and what is not of them is found', async () => {
  const [option, variable, key] = [boards(), boards(), boards()].map((all) => all['relay.json']);
  option.panels[1].options.colorMode = 'rainbow';
  variable.templating.list[1].refresh = 7;
  key.timezon = 'utc';
  const faulty = { 'option.json': option, 'variable.json': variable, 'key.json': key };
  const told = await typeErrors({ ...boards(), ...faulty });
  assert.match(told, /option\.ts.*Type '"rainbow"' is not assignable/);
  assert.match(told, /variable\.ts.*Type '7' is not assignable to type 'VariableRefresh/);
  assert.match(told, /key\.ts.*"timezon"' does not exist/);
  const others = told
    .split('\n')
    .filter((line) => /\.ts\(/.test(line) && !/(option|variable|key)\.ts\(/.test(line));
  assert.deepEqual(others, []);
});

const TIME = { from: 1_000, to: 61_000, interval_s: 2 };

test('a query is expanded as Grafana does', () => {
  const query =
    'SELECT sum("n") * 1000 / $__interval_ms FROM "m" WHERE "testid" = ${testid:singlequote} AND "scenario" =~ /^${scenario:regex}$/ AND "operation" =~ /^${operation:regex}$/ AND $timeFilter GROUP BY time($__interval)';
  assert.equal(
    expanded(query, { testid: "o'run", scenario: ['a.b', 'c/d'], operation: ['one'] }, TIME),
    'SELECT sum("n") * 1000 / 2000 FROM "m" WHERE "testid" = \'o\\\'run\' AND "scenario" =~ /^(a\\.b|c\\/d)$/ AND "operation" =~ /^one$/ AND time >= 1000ms and time <= 61000ms GROUP BY time(2s)',
  );
});

test('variables are the newest run, the newest other one, and all of what depends on them', async () => {
  /** @type {string[]} */
  const asked = [];
  const { values } = await resolve(boards()['dataplane.json'], async (query) => {
    asked.push(query);
    const found = query.includes('KEY = "testid"')
      ? ['20260101-1', '20260103-1', '20260102-1']
      : query.includes('KEY = "operation"')
        ? ['open_100', 'open_10', 'open_10_direct', 'direct']
        : ['dataplane', 'panel'];
    const own = query.includes('"testid" != ') ? found.filter((one) => one !== '20260103-1') : found;
    return [{ columns: ['key', 'value'], values: own.map((value) => ['', value]) }];
  });
  assert.equal(values.testid, '20260103-1');
  assert.equal(values.baseline, '20260102-1');
  assert.deepEqual(values.system, ['dataplane']);
  assert.deepEqual(values.operation, ['open_10', 'open_100']);
  assert.ok(asked.some((query) => query.includes(`"testid" != '20260103-1'`)));
});

test('a row that repeats stands once for each value', () => {
  const found = standing(boards()['overview.json'], { scenario: ['a', 'b'] });
  const rates = found.filter(({ panel }) => panel.id === 201);
  assert.deepEqual(
    rates.map(({ values }) => values.scenario),
    ['a', 'b'],
  );
  assert.equal(found.filter(({ panel }) => panel.title === 'Verdict').length, 1);
  assert.equal(found.filter(({ panel }) => panel.title === 'Figures of both runs').length, 2, 'folded');
});
