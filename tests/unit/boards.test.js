/** The boards' JSON: up to date, of the SDK's types, and as the linter wants it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { DATASOURCE } from '../../grafana/boards/influx.js';
import { committed, outdated } from '../../grafana/generate.js';
import { problemsOf } from '../../grafana/lint.js';
import { cellsOf } from '../../grafana/stand-in-table.js';
import { expanded, resolve, standing } from '../../grafana/stand-in.js';
import { ROOT, start, temporaryFolder } from '../support/k6.js';

/** @returns {Record<string, any>} */
const boards = () =>
  Object.fromEntries(Object.entries(committed()).map(([name, text]) => [name, JSON.parse(text)]));

/** Those that show a run: the trend is of all runs. */
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

/** @param {any} board @param {number} id */
const panelOf = (board, id) =>
  [...board.panels, ...board.panels.flatMap((/** @type {any} */ { panels = [] }) => panels)].find(
    (panel) => panel.id === id,
  );

/** @param {any} board @param {number} id @param {string} column @returns {any[]} */
const propertiesOf = (board, id, column) =>
  panelOf(board, id).fieldConfig.overrides.find(
    (/** @type {any} */ { matcher }) => matcher.options === column,
  ).properties;

/** @param {any} board @param {number} id @param {string} column @param {string} property */
const propertyOf = (board, id, column, property) =>
  propertiesOf(board, id, column).find((one) => one.id === property);

/** What is done to the board overview, and what the linter says of it. @type {[string, (board: any) => void, RegExp][]} */
const FAULTS = [
  ['another uid', (board) => (board.uid = 'overview'), /uid overview is not that of the file/],
  ['another schema', (board) => (board.schemaVersion = 36), /schemaVersion 36/],
  ['a panel twice', ({ panels }) => panels.push(panels[1]), /panel id 101 is used twice/],
  ['no unit', ({ panels }) => delete panels[1].fieldConfig.defaults.unit, /panel 101 Verdict has no unit/],
  ['no description', ({ panels }) => (panels[1].description = ''), /panel 101 Verdict has no description/],
  ['no title', ({ panels }) => (panels[1].title = ''), /panel 101 {2}has no title/],
  [
    'another data source of a query',
    ({ panels }) => (panels[1].targets[0].datasource.uid = 'mine'),
    /panel 101 Verdict, query A has another data source/,
  ],
  [
    'another data source of a variable',
    ({ templating }) => delete templating.list[0].datasource,
    /variable testid has another data source/,
  ],
  [
    'another data source of an annotation',
    ({ annotations }) => delete annotations.list[0].datasource,
    /annotation Passed has another data source/,
  ],
  [
    'a run in a query',
    ({ panels }) => (panels[1].targets[0].query = `SELECT "a" FROM "b" WHERE "testid" = 'mine'`),
    /panel 101 Verdict, query A: names a run/,
  ],
  [
    'a run by default',
    ({ templating }) => (templating.list[0].current = { text: 'mine', value: 'mine' }),
    /variable testid has a value/,
  ],
  [
    'a variable that is not declared',
    ({ templating }) => templating.list.pop(),
    /variable operation is not declared/,
  ],
  [
    'a variable without a format',
    ({ panels }) => (panels[1].targets[0].query += ' AND "scenario" = \'$scenario\''),
    /query A: variable scenario has no format/,
  ],
  [
    'an alias of a tag that the query has not',
    ({ panels }) => (panels[1].targets[0].alias = '$tag_operation'),
    /the alias has tag operation, the query has not/,
  ],
  [
    'a link to nowhere',
    ({ links }) => (links[0].url = '/d/windtunnel-protocols'),
    /there is no board windtunnel-protocols/,
  ],
  [
    'a link with a variable that the other board has not',
    ({ links }) => (links[0].url += '&var-driver=x'),
    /has no variable driver/,
  ],
  [
    'an override of nothing',
    ({ panels }) => (panels[6].fieldConfig.overrides[1].matcher.options = 'systm'),
    /panel 106 Scenarios: nothing is called systm/,
  ],
  [
    'a calculation with nothing',
    ({ panels }) =>
      (panels.at(-1).panels[0].transformations[2].options.binary.right.matcher.options = 'Rat base'),
    /panel 601 Figures of both runs: nothing is called Rat base/,
  ],
  [
    'marks of all systems',
    ({ annotations }) =>
      (annotations.list[0].target.query = annotations.list[0].target.query.replace(
        /"system" \S+ \S+ AND /,
        '',
      )),
    /annotation Passed: marks of other systems or scenarios/,
  ],
  [
    'a region whose end no column has',
    ({ annotations }) =>
      (annotations.list[0].target.query = annotations.list[0].target.query.replace(', "ended_ms"', '')),
    /annotation Passed: its query has no column events\.ended_ms/,
  ],
  [
    'a region whose end is not called as Grafana calls it',
    ({ annotations }) => (annotations.list[0].target.timeEndColumn = 'ended_ms'),
    /annotation Passed: Grafana calls no column ended_ms/,
  ],
  [
    'a legend that takes half of a graph',
    (board) => {
      const { legend } = panelOf(board, 501).options;
      Object.assign(legend, { displayMode: 'table', placement: 'bottom' });
    },
    /panel 501 CPU: its legend is a table beneath the graph/,
  ],
  [
    'a title that is cut off',
    (board) => (propertyOf(board, 107, 'ok', 'custom.width').value = 60),
    /panel 107 Thresholds: the title holds is cut off/,
  ],
  [
    'two columns with one title',
    (board) => propertiesOf(board, 107, 'value').push({ id: 'displayName', value: 'bound' }),
    /panel 107 Thresholds: two columns are titled bound/,
  ],
  [
    'a column that two joined queries have',
    (board) => {
      const [run, baseline] = panelOf(board, 601).targets;
      baseline.query = baseline.query.replace('AS "Rate base"', 'AS "Rate"');
      assert.match(run.query, /AS "Rate"/);
    },
    /panel 601 Figures of both runs: two of its queries have a column Rate/,
  ],
  [
    'a title without its statistic',
    (board) => propertiesOf(board, 107, 'value').push({ id: 'unit', value: 'ms' }),
    /panel 107 Thresholds: the title value has no statistic/,
  ],
  [
    'columns that are too wide for their panel',
    (board) => (propertyOf(board, 107, 'threshold', 'custom.width').value = 1200),
    /panel 107 Thresholds: its columns take \d+ pixels of 1536/,
  ],
  [
    'columns without widths',
    (board) => (propertyOf(board, 107, 'threshold', 'custom.width').id = 'custom.minWidth'),
    /panel 107 Thresholds: more than one column has no width/,
  ],
  [
    'an empty panel without words',
    (board) => (panelOf(board, 106).fieldConfig.defaults.noValue = '–'),
    /panel 106 Scenarios: it has no words for where it is empty/,
  ],
  [
    'an empty cell that speaks for the whole table',
    (board) => panelOf(board, 106).fieldConfig.overrides.shift(),
    /panel 106 Scenarios: a cell without a value shows what a table without rows does/,
  ],
  [
    'bars that stand',
    (board) => (panelOf(board, 602).options.orientation = 'auto'),
    /panel 602 Latencies of both runs: its bars stand/,
  ],
  [
    'bars in no order',
    (board) => panelOf(board, 602).transformations.splice(-2, 1),
    /panel 602 Latencies of both runs: its bars are not sorted/,
  ],
  [
    'more bars than can be read',
    (board) => (panelOf(board, 602).transformations.at(-1).options.limitField = 100),
    /panel 602 Latencies of both runs: it has no room for 100 bars/,
  ],
  [
    'letters of any size',
    (board) => (panelOf(board, 105).options.textMode = 'value_and_name'),
    /panel 105 P95 of the slowest second: the letters of its tiles may be any size/,
  ],
  [
    'a coarser interval',
    ({ panels }) => (panels[1].interval = '10s'),
    /panel 101 Verdict: its least interval is not 1s/,
  ],
];

for (const [what, change, line] of FAULTS) {
  test(`the linter finds ${what}`, () => {
    const all = boards();
    change(all['overview.json']);
    assert.match(problemsOf(all).join('\n'), line);
  });
}

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

/** What tsc says of boards. @param {Record<string, unknown>} all @returns {Promise<string>} */
async function typeErrors(all) {
  const folder = temporaryFolder('boards');
  try {
    const files = Object.entries(all).map(([name, board]) => {
      const file = join(folder.path, name.replace('.json', '.ts'));
      const types = JSON.stringify(join(ROOT, 'grafana/types.js'));
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
  const rates = found.filter(({ panel }) => panel.title === 'Rate');
  assert.deepEqual(
    rates.map(({ values }) => values.scenario),
    ['a', 'b'],
  );
  assert.equal(found.filter(({ panel }) => panel.title === 'Verdict').length, 1);
  assert.equal(found.filter(({ panel }) => panel.title === 'Figures of both runs').length, 2, 'folded');
});
