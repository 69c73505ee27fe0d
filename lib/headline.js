/** The main figure of a report. */

/** The operation and the figure at the top of the report. @param {Record<string, import('./scenario.js').Operations>} operations */
export function headlineOf(operations) {
  const all = Object.entries(operations);
  const found = all.find(([, { headline }]) => headline) ?? all.find(([, { primary }]) => primary);
  if (!found) return undefined;
  const [operation, { headline, primary }] = found;
  const figure = headline ?? primary;
  return { operation, figure: figure === 'p50' ? 'p50_ms' : figure };
}
