/**
 * The cells of a table panel, as Grafana 12 computes them from the answers of the queries. Transformations
 * run in order, and then each title of a column has one cell. Columns with the same title share a cell. See
 * packages/grafana-ui/src/components/Table of Grafana.
 */

/**
 * @typedef {import('./types.js').Panel} Panel
 * @typedef {NonNullable<Panel['transformations']>[number]} Transformation
 * @typedef {Record<string, unknown>} Row values by names of columns
 * @typedef {Record<string, Row[]>} Frames rows by the refId of their query
 */

/** @param {string} pattern between slashes, or a whole name @returns {(name: string) => boolean} */
function matching(pattern) {
  const [, expression] = /^\/(.*)\/$/.exec(pattern) ?? [];
  return expression === undefined ? (name) => name === pattern : (name) => new RegExp(expression).test(name);
}

/** @param {Row} row @param {(name: string) => boolean} keeps @returns {Row} */
const only = (row, keeps) => Object.fromEntries(Object.entries(row).filter(([name]) => keeps(name)));

/** @param {Frames} frames @param {(row: Row) => Row} change @returns {Frames} */
const each = (frames, change) =>
  Object.fromEntries(Object.entries(frames).map(([refId, rows]) => [refId, rows.map(change)]));

/** Changes the rows of the one query that a transformation is about, or of all. @param {Transformation} of @param {Frames} frames */
function transformed({ filter, ...transformation }, frames) {
  if (!filter) return changed(frames, transformation);
  const { [filter.options]: own = [], ...others } = frames;
  return { ...others, ...changed({ [filter.options]: own }, transformation) };
}

/** @param {Frames} frames @param {{ byField: string, mode?: string }} options @returns {Frames} */
function joined(frames, { byField, mode }) {
  const all = Object.values(frames);
  const keys = [...new Set(all.flatMap((rows) => rows.map((row) => row[byField])))];
  const of = (/** @type {unknown} */ key) => all.map((rows) => rows.find((row) => row[byField] === key));
  const kept = mode === 'inner' ? keys.filter((key) => of(key).every(Boolean)) : keys;
  return { joined: kept.map((key) => Object.assign({}, ...of(key))) };
}

/** @type {Record<string, (left: number, right: number) => number>} */
const OPERATORS = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};

/** @param {Row} row @param {any} options @returns {Row} */
function calculated(row, { alias, binary: { left, operator, right } }) {
  const value = (/** @type {any} */ side) => Number(side.fixed ?? row[side.matcher.options] ?? 0);
  return { ...row, [alias]: OPERATORS[operator](value(left), value(right)) };
}

/** @param {Frames} frames @param {Transformation} transformation @returns {Frames} */
function changed(frames, { id, options }) {
  switch (id) {
    case 'joinByField':
      return joined(frames, options);
    case 'filterFieldsByName': {
      const { include, exclude } = options;
      return each(frames, (row) =>
        only(row, (name) => (include ? matching(include.pattern)(name) : !matching(exclude.pattern)(name))),
      );
    }
    case 'calculateField':
      return each(frames, (row) => calculated(row, options));
    case 'organize':
      return each(frames, (row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [options.renameByName[name] ?? name, value]),
        ),
      );
    default:
      throw new Error(`the stand-in knows no transformation ${id}`);
  }
}

/**
 * @param {Panel} panel
 * @param {Frames} frames
 * @returns {Row[]} values by the titles of their columns
 */
export function cellsOf({ transformations = [], fieldConfig }, frames) {
  const [rows] = Object.values(transformations.reduce((all, one) => transformed(one, all), frames));
  const order = transformations.findLast(({ id }) => id === 'organize')?.options.indexByName ?? {};
  const titleOf = (/** @type {string} */ name) =>
    fieldConfig.overrides
      .filter(({ matcher }) => matcher.id === 'byName' && matcher.options === name)
      .flatMap(({ properties }) => properties)
      .find(({ id }) => id === 'displayName')?.value ?? name;
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .toSorted(([a], [b]) => (order[a] ?? 0) - (order[b] ?? 0))
        .map(([name, value]) => [titleOf(name), value]),
    ),
  );
}
