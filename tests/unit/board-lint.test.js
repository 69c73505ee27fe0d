/** The linter of boards finds each kind of fault. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from '../support/grafana/lint.js';
import { boards, panelOf, propertiesOf, propertyOf } from '../support/boards.js';

/** Edits of the board overview, and the linter's messages. @type {[string, (board: any) => void, RegExp][]} */
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
    (board) => (panelOf(board, 106).fieldConfig.overrides[1].matcher.options = 'systm'),
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
    (board) => delete panelOf(board, 105).options.text,
    /panel 105 P95 of the slowest second: the letters of its tiles may be any size/,
  ],
  [
    'too many open panels',
    ({ panels }) => panels.push(...Array.from({ length: 30 }, (_, i) => ({ ...panels[1], id: 5000 + i }))),
    /41 panels are open, more than 30/,
  ],
  [
    'an open row that repeats',
    ({ panels }) => (panels.at(-1).collapsed = false),
    /row Against the baseline: \$scenario repeats and is open/,
  ],
  [
    'a graph that is far down',
    (board) => (panelOf(board, 121).gridPos.y = 30),
    /the first graph is 30 units down/,
  ],
  [
    'an open panel that may have nothing yet',
    ({ panels }) => panels.push(panels.find((/** @type {any} */ { id }) => id === 130).panels.pop()),
    /panel 107 Thresholds is open and may have nothing yet/,
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
