/**
 * Replaces Grafana 12 in tests without Grafana: fills in a board's variables, expands its panels' queries,
 * and repeats its rows. See public/app/plugins/datasource/influxdb and pkg/tsdb/influxdb of Grafana, and
 * packages/scenes/src/variables of grafana/scenes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * @typedef {import('./types.js').Board} Board
 * @typedef {import('./types.js').Panel} Panel
 * @typedef {import('./types.js').Target} Target
 * @typedef {NonNullable<Board['templating']['list']>[number]} Variable
 * @typedef {Record<string, string | string[]>} Values of variables by their names
 * @typedef {{ from: number, to: number, interval_s: number }} Time from and to in ms since 1970
 * @typedef {{ name?: string, tags?: Record<string, string>, columns: string[], values: unknown[][] }} Series
 * @typedef {(query: string) => Promise<Series[]>} Ask
 */

/** @param {string} value */
const escaped = (value) => value.replace(/[\\^$*+?.()|[\]{}/]/g, '\\$&');

/** @type {Record<string, (value: string | string[]) => string>} */
const FORMATS = {
  regex: (value) => {
    const parts = [value].flat().map(escaped);
    return parts.length === 1 ? parts[0] : `(${parts.join('|')})`;
  },
  singlequote: (value) =>
    [value]
      .flat()
      .map((part) => `'${part.replaceAll("'", "\\'")}'`)
      .join(','),
};

/**
 * Variables in a text. Unknown variables stay, as in Grafana.
 * @param {string} text
 * @param {Values} values
 */
const filled = (text, values) =>
  text.replace(/\$\{(\w+):(\w+)\}/g, (whole, name, format) =>
    name in values && format in FORMATS ? FORMATS[format](values[name]) : whole,
  );

/**
 * A query as InfluxDB gets it.
 * @param {string} query
 * @param {Values} values
 * @param {Time} time
 */
export const expanded = (query, values, { from, to, interval_s: seconds }) =>
  filled(query, values)
    .replaceAll('$timeFilter', `time >= ${from}ms and time <= ${to}ms`)
    .replaceAll('$__interval_ms', String(seconds * 1000))
    .replaceAll('$__interval', `${seconds}s`);

/** How VariableSort orders what a query found: the SDK's numbers. @type {Record<number, (values: string[]) => string[]>} */
const SORTS = {
  0: (values) => values,
  2: (values) => values.toSorted().reverse(),
  7: (values) => values.toSorted(new Intl.Collator('en', { numeric: true }).compare),
};

/** @param {Variable} variable @param {string[]} found */
function optionsOf({ regex, sort = 0 }, found) {
  const pattern = regex && new RegExp(regex.slice(1, regex.lastIndexOf('/')));
  const kept = pattern ? found.filter((value) => pattern.test(value)) : found;
  return SORTS[sort]([...new Set(kept)]);
}

/** @param {Variable} variable */
const queryOf = ({ query }) => (typeof query === 'string' ? query : (query?.query ?? ''));

/** @param {string} query @param {string[]} names */
const dependsOn = (query, names) => names.filter((name) => query.includes(`\${${name}:`));

/**
 * The values of a board's variables when it opens: the chosen value, otherwise the first option, or all.
 * @param {Board} board
 * @param {Ask} ask
 * @param {Values} [chosen]
 * @returns {Promise<{ values: Values, options: Record<string, string[]> }>}
 */
export async function resolve(board, ask, chosen = {}) {
  const waiting = new Map((board.templating.list ?? []).map((variable) => [variable.name, variable]));
  /** @type {Values} */
  const values = {};
  /** @type {Record<string, string[]>} */
  const options = {};
  while (waiting.size > 0) {
    const next = [...waiting.values()].find(
      (variable) => dependsOn(queryOf(variable), [...waiting.keys()]).length === 0,
    );
    if (!next) throw new Error(`variables wait for each other: ${[...waiting.keys()].join(', ')}`);
    const { name } = next;
    waiting.delete(name);
    if (next.type === 'constant') {
      values[name] = queryOf(next);
      continue;
    }
    const series = await ask(filled(queryOf(next), values));
    options[name] = optionsOf(
      next,
      series.flatMap((one) => one.values.map(([, value]) => String(value))),
    );
    values[name] = chosen[name] ?? (next.includeAll ? options[name] : (options[name][0] ?? ''));
  }
  return { values, options };
}

/**
 * Panels in the order of a board. A repeated row has its panels once for each value of its variable.
 * @param {Board} board
 * @param {Values} values
 * @returns {{ panel: Panel, values: Values, of: string }[]} `of` is the value of a repeated panel
 */
export function standing(board, values) {
  /** @type {string | undefined} */
  let repeat;
  return board.panels.flatMap((panel) => {
    if (panel.type !== 'row') return copies(panel, repeat, values);
    repeat = panel.repeat;
    return panel.panels.flatMap((inner) => copies(inner, panel.repeat, values));
  });
}

/** @param {Panel} panel @param {string | undefined} repeat @param {Values} values */
const copies = (panel, repeat, values) =>
  repeat
    ? [values[repeat]]
        .flat()
        .map((value) => ({ panel, values: { ...values, [repeat]: value }, of: `${repeat} ${value}` }))
    : [{ panel, values, of: '' }];

/** Whether there is anything to draw. @param {Series[]} series */
export const hasData = (series) =>
  series.some(({ columns, values }) =>
    values.some((row) => row.some((value, index) => columns[index] !== 'time' && value !== null)),
  );

/**
 * Asks as Grafana's data source does, except that simultaneous queries share one request, with a semicolon
 * after each query.
 * @param {{ url: string, username: string, password: string, database: string }} server
 * @returns {Ask}
 */
export function asking({ url, username, password, database }) {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  /** @param {string[]} queries @returns {Promise<Series[][]>} */
  const askAll = async (queries) => {
    const answer = await fetch(`${url}/query?db=${encodeURIComponent(database)}&epoch=ms`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams({ q: queries.join(';\n') }),
    });
    const { results = [], error } = /** @type {any} */ (await answer.json());
    if (error) throw new Error(`${error}: ${queries.join(';\n')}`);
    return queries.map((query, index) => {
      if (results[index].error) throw new Error(`${results[index].error}: ${query}`);
      return results[index].series ?? [];
    });
  };
  /** @type {string[]} */
  let queries = [];
  /** @type {Promise<Series[][]>} */
  let answers;
  return async (query) => {
    if (queries.length === 0)
      answers = nextTurn().then(() => {
        const all = queries;
        queries = [];
        return askAll(all);
      });
    const index = queries.push(query) - 1;
    return (await answers)[index];
  };
}
