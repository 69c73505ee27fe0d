/** Grafana's transformations that the boards use, as far as a sketch needs them. */

/**
 * @typedef {{ name: string, values: any[] }} Column
 * @typedef {{ refId: string, columns: Column[] }} Frame
 * @typedef {{ id: string, options: any, filter?: { options?: any } }} Transformation
 */

/** As Grafana reads patterns: of the whole name, unless it stands between slashes. @param {string} text */
export const patternOf = (text) =>
  new RegExp(text.startsWith('/') ? text.slice(1, text.lastIndexOf('/')) : `^${text}$`);

/** @param {Frame} frame @param {string} name */
const columnOf = (frame, name) => frame.columns.find((column) => column.name === name);

/** @param {Frame[]} frames @param {any} options */
function joined(frames, { byField }) {
  const keyed = frames.filter((frame) => columnOf(frame, byField));
  if (keyed.length < 2) return frames;
  const keysOf = (/** @type {Frame} */ frame) => /** @type {Column} */ (columnOf(frame, byField)).values;
  const keys = [...new Set(keyed.flatMap(keysOf))];
  if (keys.every(Number.isFinite)) keys.sort((a, b) => a - b);
  const others = keyed.flatMap((frame) =>
    frame.columns
      .filter(({ name }) => name !== byField)
      .map(({ name, values }) => ({
        name,
        values: keys.map((key) => values[keysOf(frame).indexOf(key)] ?? null),
      })),
  );
  return [{ refId: 'joined', columns: [{ name: byField, values: keys }, ...others] }];
}

/** @type {Record<string, (a: number, b: number) => number>} */
const OPERATORS = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b };

/** @param {Frame} frame @param {any} options @returns {Column['values'] | undefined} */
function calculation(frame, { mode, binary, unary }) {
  if (mode === 'index') return frame.columns[0].values.map((_, index) => index);
  if (mode === 'unary') return columnOf(frame, unary.fieldName)?.values.map(Math.floor);
  const left = columnOf(frame, binary.left.matcher.options);
  const right = binary.right.matcher && columnOf(frame, binary.right.matcher.options);
  if (binary.right.matcher && !right) return undefined;
  return left?.values.map((value, index) => {
    const other = right ? right.values[index] : Number(binary.right.fixed);
    return value === null || other === null ? null : OPERATORS[binary.operator](value, other);
  });
}

/** @param {Frame} frame @param {any} options */
function calculated(frame, options) {
  const values = calculation(frame, options);
  return values ? { ...frame, columns: [...frame.columns, { name: options.alias, values }] } : frame;
}

/** @param {Frame} frame @param {any} options */
function organized(frame, { excludeByName, indexByName, renameByName }) {
  const place = (/** @type {Column} */ { name }) => indexByName[name] ?? Infinity;
  const columns = frame.columns
    .filter(({ name }) => !excludeByName[name])
    .toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)))
    .map(({ name, values }) => ({ name: renameByName[name] ?? name, values }));
  return { ...frame, columns };
}

/** @param {Frame} frame @param {any} options */
function filtered(frame, { include, exclude }) {
  const pattern = patternOf((include ?? exclude).pattern);
  return { ...frame, columns: frame.columns.filter(({ name }) => pattern.test(name) === Boolean(include)) };
}

/** @param {Frame} frame @param {any} options */
function sorted(frame, { sort: [{ field }] }) {
  const by = columnOf(frame, field)?.values ?? [];
  const order = by.map((_, index) => index).toSorted((a, b) => (by[a] < by[b] ? -1 : 1));
  return {
    ...frame,
    columns: frame.columns.map(({ name, values }) => ({ name, values: order.map((index) => values[index]) })),
  };
}

/** @param {Frame} frame @param {any} options */
const renamed = (frame, { regex, renamePattern }) => ({
  ...frame,
  columns: frame.columns.map(({ name, values }) => ({
    name: name.replace(new RegExp(regex), renamePattern),
    values,
  })),
});

/** @type {Record<string, (frame: Frame, options: any) => Frame>} */
const OF_ONE = {
  calculateField: calculated,
  organize: organized,
  filterFieldsByName: filtered,
  sortBy: sorted,
  renameByRegex: renamed,
};

/** @param {Frame[]} frames @param {Transformation[]} transformations */
export function transformed(frames, transformations) {
  return transformations.reduce((before, { id, options, filter }) => {
    if (id === 'joinByField') return joined(before, options);
    const change = OF_ONE[id];
    if (!change) return before;
    return before.map((frame) => (filter && filter.options !== frame.refId ? frame : change(frame, options)));
  }, frames);
}
