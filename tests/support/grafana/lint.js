/** Rules for each board beyond its types. */
import { BOARD_OF_SYSTEM, uidOf } from '../../../grafana/parts/links.js';
import { DATASOURCE, SCENARIO, SYSTEM } from '../../../grafana/parts/influx.js';
import { ofLook } from './lint-look.js';
import { unknownNames } from './names.js';

/**
 * @typedef {import('./types.js').Board} Board
 * @typedef {import('./types.js').Panel} Panel
 * @typedef {import('./types.js').Row} Row
 * @typedef {Record<string, Board>} Boards by their files' names
 */

const SCHEMA_VERSION = 42;
/** Variables of Grafana, not of a board. */
const BUILT_IN = ['timeFilter', '__interval', '__interval_ms', '__url_time_range', '__data'];
/** The most panels in sight when a board opens. */
const MOST_OPEN = 30;
/** The lowest position of the first graph, in units of about 38 pixels. */
const FIRST_GRAPH = 8;
/** The form of the names that `k6 x bench` gives to runs. */
const RUN_ID = /\d{8}-\d{6}/;
/** Systems whose board has the same name. */
const SAME_NAME = ['panel', 'dataplane'];

/** @param {Board} board @returns {Panel[]} panels of folded rows too */
export const panelsOf = (board) =>
  board.panels.flatMap((panel) => (panel.type === 'row' ? panel.panels : [panel]));

/** @param {Board} board @returns {Row[]} */
const rowsOf = (board) => board.panels.filter((panel) => panel.type === 'row');

/** @param {Board} board */
const variablesOf = (board) => board.templating.list ?? [];

/** Names of its variables. @param {Board} board */
const declaredIn = (board) => variablesOf(board).map(({ name }) => name);

/** @template T @param {T[]} items @returns {T[]} */
const repeated = (items) => items.filter((item, index) => items.indexOf(item) !== index);

/** @param {unknown} reference */
const isOurs = (reference) => JSON.stringify(reference) === JSON.stringify(DATASOURCE);

/** Names and formats of variables in a text. @param {string} text */
const variablesIn = (text) =>
  [...text.matchAll(/\$\{(\w+)(?:[.[][^}:]*)?(?::(\w+))?\}|\$(\w+)/g)].map(([, name, format, bare]) => ({
    name: name ?? bare,
    format,
    bare: bare !== undefined,
  }));

/** @param {string} name @param {Board} board */
function ofBoard(name, board) {
  return [
    board.uid === uidOf(name.replace('.json', '')) || `uid ${board.uid} is not that of the file`,
    board.schemaVersion === SCHEMA_VERSION || `schemaVersion ${board.schemaVersion}, not ${SCHEMA_VERSION}`,
    board.editable === false || 'is editable',
    board.timezone === 'browser' || 'time zone is not the browser’s',
    Boolean(board.refresh) || 'does not refresh',
    Boolean(board.title && board.description && board.tags?.length) || 'has no title, description or tags',
    !RUN_ID.test(JSON.stringify(board)) || 'names a run',
    ...repeated([...rowsOf(board), ...panelsOf(board)].map(({ id }) => id)).map(
      (id) => `panel id ${id} is used twice`,
    ),
    ...ofSight(board),
    ...rowsOf(board).flatMap(({ title, repeat }) => ofRepeat(title ?? '', repeat, board)),
  ];
}

/** The visible part of a board when it opens: graphs first, no long tail, no panel that is only empty. @param {Board} board */
function ofSight(board) {
  const open = board.panels.flatMap((panel) => (panel.type === 'row' ? [] : [panel]));
  const graph = open.find(({ type }) => type === 'timeseries')?.gridPos?.y ?? 0;
  return [
    open.length <= MOST_OPEN || `${open.length} panels are open, more than ${MOST_OPEN}`,
    graph <= FIRST_GRAPH || `the first graph is ${graph} units down, more than ${FIRST_GRAPH}`,
    ...rowsOf(board).map(
      ({ title, repeat, collapsed }) =>
        !repeat || collapsed === true || `row ${title} repeats and is open: it may have any length`,
    ),
    ...open
      .filter(({ fieldConfig }) => /\byet\b/.test(fieldConfig.defaults.noValue ?? ''))
      .map(({ id, title }) => `panel ${id} ${title} is open and may have nothing yet: fold its row`),
  ];
}

/** @param {string} row @param {string | undefined} repeat @param {Board} board */
function ofRepeat(row, repeat, board) {
  if (!repeat) return [];
  const variable = variablesOf(board).find(({ name }) => name === repeat);
  return [variable?.multi === true || `row ${row} repeats ${repeat}, which has not several values`];
}

/** @param {Board} board */
function ofVariables(board) {
  return variablesOf(board).flatMap((variable, index) => {
    if (variable.type === 'constant') return [];
    const text = /** @type {{ query: string }} */ (variable.query).query;
    const chosen = ['testid', 'baseline'].includes(variable.name) && variable.current !== undefined;
    return [
      isOurs(variable.datasource) || `variable ${variable.name} has another data source`,
      Boolean(variable.description) || `variable ${variable.name} has no description`,
      !chosen || `variable ${variable.name} has a value`,
      declaredIn(board).indexOf(variable.name) === index || `variable ${variable.name} is declared twice`,
      ...ofQuery(`variable ${variable.name}`, text, board),
    ];
  });
}

/** @param {string} where @param {string} query @param {Board} board */
function ofQuery(where, query, board) {
  return [
    ...variablesIn(query).flatMap(({ name, format, bare }) => {
      if (BUILT_IN.includes(name)) return [];
      return [
        declaredIn(board).includes(name) || `${where}: variable ${name} is not declared`,
        (!bare && format !== undefined) || `${where}: variable ${name} has no format`,
      ];
    }),
    !/"testid"\s*(=~?|!=)\s*['/][^$]*['/]/.test(query) || `${where}: names a run`,
  ];
}

/** @param {Board} board */
const ofAnnotations = (board) =>
  board.annotations.list.flatMap(({ name, datasource, target }) => [
    isOurs(datasource) || `annotation ${name} has another data source`,
    ...ofMark(`annotation ${name}`, target),
    ...ofQuery(`annotation ${name}`, target.query, board),
  ]);

/** Marks belong to the chosen scenarios. Gaps are an exception, because a gap may concern the whole run. */
const CHOSEN = [SYSTEM, SCENARIO];

/** @param {string} where @param {Board['annotations']['list'][number]['target']} target */
function ofMark(where, { query, titleColumn, textColumn, tagsColumn, timeEndColumn }) {
  const [, select = '', from = ''] = /^SELECT (.*) FROM "(\w+)"/.exec(query) ?? [];
  const asked = [titleColumn, textColumn, ...tagsColumn.split(',')].map((name) => `${from}.${name}`);
  const end = timeEndColumn === undefined ? [] : [timeEndColumn];
  return [
    query.includes(`'gap'`) ||
      CHOSEN.every((one) => query.includes(one)) ||
      `${where}: marks of other systems or scenarios`,
    ...[...asked, ...end].map(
      (name) =>
        select.includes(`"${name.replace(`${from}.`, '')}"`) || `${where}: its query has no column ${name}`,
    ),
    end.every((name) => name.startsWith(`${from}.`)) || `${where}: Grafana calls no column ${timeEndColumn}`,
  ];
}

/** @param {Panel} panel @param {Board} board */
function ofPanel(panel, board) {
  const where = `panel ${panel.id} ${panel.title ?? ''}`;
  const refIds = panel.targets.map(({ refId }) => refId);
  return [
    ...ofLook(where, panel),
    isOurs(panel.datasource) || `${where} has another data source`,
    panel.targets.length > 0 || `${where} has no query`,
    repeated(refIds).length === 0 || `${where}: two queries are called ${repeated(refIds).join(', ')}`,
    ...unknownNames(panel).map((name) => `${where}: nothing is called ${name}`),
    ...panel.targets.flatMap((target) => ofTarget(`${where}, query ${target.refId}`, target, board)),
  ];
}

/** @param {string} where @param {import('./types.js').Target} target @param {Board} board */
function ofTarget(where, { datasource, query, alias = '' }, board) {
  const groups = /GROUP BY (.*?)(?: fill\(| LIMIT|$)/.exec(query)?.[1] ?? '';
  return [
    isOurs(datasource) || `${where} has another data source`,
    ...ofQuery(where, query, board),
    ...[...alias.matchAll(/\$tag_(\w+)/g)].map(
      ([, tag]) => groups.includes(`"${tag}"`) || `${where}: the alias has tag ${tag}, the query has not`,
    ),
  ];
}

/** Addresses that a board leads to. @param {Board} board @returns {string[]} */
function linksOf(board) {
  const ofColumns = panelsOf(board).flatMap(({ fieldConfig }) =>
    fieldConfig.overrides.flatMap(({ properties }) => properties.filter(({ id }) => id === 'links')),
  );
  return [
    ...(board.links ?? []).map(({ url }) => url ?? ''),
    ...ofColumns.flatMap(({ value }) => value.map((/** @type {{ url: string }} */ { url }) => url)),
  ];
}

/** Boards that a link may open: one, or one for each system. @param {string} url */
function destinations(url) {
  const uid = /^\/d\/([^?]+)/.exec(url)?.[1] ?? '';
  if (!uid.includes('$')) return [uid];
  return [...SAME_NAME, ...Object.values(BOARD_OF_SYSTEM)].map((board) => uid.replace(/\$\{[^}]*\}/, board));
}

/** @param {Board} board @param {Boards} all */
function ofLinks(board, all) {
  return linksOf(board).flatMap((url) => {
    const parameters = [...url.matchAll(/var-(\w+)=|\$\{(\w+):queryparam\}/g)].map(
      ([, name, own]) => name ?? own,
    );
    const own = variablesIn(url)
      .map(({ name }) => name)
      .filter((name) => !BUILT_IN.includes(name));
    return [
      ...own.map(
        (name) => declaredIn(board).includes(name) || `link ${url}: variable ${name} is not declared`,
      ),
      ...destinations(url).flatMap((uid) => {
        const target = Object.values(all).find((other) => other.uid === uid);
        if (!target) return [`link ${url}: there is no board ${uid}`];
        return parameters.map(
          (name) => declaredIn(target).includes(name) || `link ${url}: ${uid} has no variable ${name}`,
        );
      }),
    ];
  });
}

/** @param {Boards} boards @returns {string[]} what is wrong, each a line */
export function problemsOf(boards) {
  const uids = Object.values(boards).map(({ uid }) => uid);
  const found = Object.entries(boards).map(([name, board]) => ({
    name,
    lines: [
      ...ofBoard(name, board),
      ...ofVariables(board),
      ...ofAnnotations(board),
      ...panelsOf(board).flatMap((panel) => ofPanel(panel, board)),
      ...ofLinks(board, boards),
    ],
  }));
  return [
    ...repeated(uids).map((uid) => `uid ${uid} is used twice`),
    ...found.flatMap(({ name, lines }) =>
      lines.filter((line) => line !== true).map((line) => `${name}: ${line}`),
    ),
  ];
}
