/** Names of columns and series that a panel uses, although neither its queries nor its transformations define them. */

/**
 * @typedef {import('./types.js').Panel} Panel
 * @typedef {import('./types.js').Target} Target
 * @typedef {NonNullable<Panel['transformations']>[number]} Transformation
 */

/** Texts in double quotes. @param {string} text */
const quoted = (text) => [...text.matchAll(/"([^"]*)"/g)].map(([, name]) => name);

/** A comma outside quotes. */
const BETWEEN_COLUMNS = /, (?=(?:[^"]*"[^"]*")*[^"]*$)/;

/** Columns of a table, or names of series: the alias, or measurements if there is no alias. @param {Target} target */
export function namesOf({ query, resultFormat, alias = '' }) {
  const [, select, from, groups = ''] =
    /^SELECT (.*) FROM (.*?) WHERE .*?(?: GROUP BY (.*))?$/.exec(query) ?? [];
  if (resultFormat !== 'table') return ['Time', ...(alias === '$m' ? quoted(from) : [alias])];
  const columns = select.split(BETWEEN_COLUMNS).flatMap((column) => quoted(column).slice(-1));
  return ['Time', ...columns, ...quoted(groups)];
}

/** Names that a transformation asks for. @param {Transformation} transformation @returns {string[]} */
function askedBy({ id, options }) {
  switch (id) {
    case 'joinByField':
      return [options.byField];
    case 'organize':
      return [...Object.keys(options.indexByName), ...Object.keys(options.renameByName)];
    case 'configFromData':
      return options.mappings.map((/** @type {{ fieldName: string }} */ { fieldName }) => fieldName);
    case 'groupBy':
      return Object.keys(options.fields);
    case 'sortBy':
      return options.sort.map((/** @type {{ field: string }} */ { field }) => field);
    case 'calculateField': {
      const { binary } = options;
      const sides = binary ? [binary.left, binary.right] : [];
      return sides.flatMap(({ matcher }) => (matcher ? [matcher.options] : []));
    }
    default:
      return [];
  }
}

/** Names that a transformation makes. @param {Transformation} transformation @returns {string[]} */
function madeBy({ id, options }) {
  switch (id) {
    case 'calculateField':
      return [options.alias];
    case 'organize':
      return Object.values(options.renameByName);
    case 'reduce':
      return ['Field', 'Max'];
    default:
      return [];
  }
}

/** @param {Panel} panel @returns {string[]} */
export function unknownNames({ targets, transformations = [], fieldConfig }) {
  const known = new Set(targets.flatMap(namesOf));
  const unknown = [];
  for (const transformation of transformations) {
    unknown.push(...askedBy(transformation).filter((name) => !known.has(name)));
    for (const name of madeBy(transformation)) known.add(name);
  }
  const overridden = fieldConfig.overrides
    .filter(({ matcher }) => matcher.id === 'byName')
    .map(({ matcher }) => String(matcher.options));
  return [...unknown, ...overridden.filter((name) => !known.has(name))];
}

/**
 * Columns that two joined queries of a table both return, except the column of the join: Grafana would number
 * them.
 * @param {Panel} panel
 * @returns {string[]}
 */
export function clashingNames({ targets, transformations = [] }) {
  const join = transformations.find(({ id }) => id === 'joinByField');
  if (!join) return [];
  const columns = targets.flatMap((target) => [...new Set(namesOf(target))]);
  return columns.filter(
    (name, index) => !['Time', join.options.byField].includes(name) && columns.indexOf(name) !== index,
  );
}
