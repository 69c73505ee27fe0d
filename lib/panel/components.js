/**
 * The parts of a request's time, from the panel's Server-Timing header (https://www.w3.org/TR/server-timing/).
 *
 * | metric            | type    | unit  | what                                                        |
 * |-------------------|---------|-------|-------------------------------------------------------------|
 * | component_ms      | trend   | ms    | time of each call of a component, by `operation` and `component` |
 * | component_largest | counter | count | requests in which this part took the most time              |
 */
import { carries } from 'k6/x/windtunnel/judge';
import { Counter, Trend } from 'k6/x/windtunnel/record';

const spent = new Trend('component_ms', true);
const largest = new Counter('component_largest');

/** The part of the client's latency outside the route: network, queues, the framework. */
export const OUTSIDE = 'outside the route';
/** The part of the route's time that no component accounts for. */
const REST = 'rest of the route';

/** An entry of the header: a name, and parameters whose values may be quoted. */
const ENTRY = /([^\s,;="]+)((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const PARAMETER = /;\s*([^\s=;,"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/** @typedef {{ name: string, ms: number }} Entry */

/** Parses a header without quotes, in which a comma always separates entries. @param {string} header @returns {Entry[]} */
function parsePlain(header) {
  const entries = [];
  for (const part of header.split(',')) {
    const [name, ...parameters] = part.split(';');
    const pairs = parameters.map((text) => text.split('='));
    const duration = pairs.find(([key]) => key.trim().toLowerCase() === 'dur')?.[1];
    const ms = Number.parseFloat(duration ?? '');
    if (Number.isFinite(ms)) entries.push({ name: name.trim(), ms });
  }
  return entries;
}

/** @param {string} header @returns {Entry[]} */
function parseQuoted(header) {
  return [...header.matchAll(ENTRY)].flatMap(([, name, text]) => {
    const parameters = [...text.matchAll(PARAMETER)];
    const [, , quoted, plain] = parameters.find(([, key]) => key.toLowerCase() === 'dur') ?? [];
    const ms = Number.parseFloat(quoted ?? plain ?? '');
    return Number.isFinite(ms) ? [{ name, ms }] : [];
  });
}

/**
 * Parses a header. It avoids regular expressions if it can: k6 compiles them again at each matchAll(), which takes 0.5 ms.
 * @param {string} header
 * @returns {Entry[]} the entries with a duration
 */
export const parseServerTiming = (header) =>
  header.includes('"') ? parseQuoted(header) : parsePlain(header);

/** Records the Server-Timing headers of answers. */
export class Components {
  /** @param {string[]} names of known components, the route first: only these become tags, so their number is limited */
  constructor(names) {
    this.names = names;
    this.route = names[0];
  }

  /** Parts of a client's latency that do not overlap. */
  get parts() {
    return [...this.names.slice(1), REST, OUTSIDE];
  }

  /** The known entries of an answer. @param {import('k6/http').RefinedResponse<any>} response @returns {Entry[]} */
  entriesOf(response) {
    const header = response.headers['Server-Timing'];
    if (!header) return [];
    return parseServerTiming(header).filter(({ name }) => this.names.includes(name));
  }

  /** @param {Entry[]} entries @returns {number | undefined} time of the route, ms; undefined if unknown */
  routeOf(entries) {
    const routes = entries.filter(({ name }) => name === this.route);
    return routes.length > 0 ? sumOf(routes) : undefined;
  }

  /**
   * @param {string} operation
   * @param {Entry[]} entries of the answer
   * @param {number} ms that the client waited
   */
  record(operation, entries, ms) {
    const route = this.routeOf(entries);
    if (route === undefined) return;
    for (const { name, ms: took } of entries) spent.add(took, { operation, component: name });
    const parts = this.partsOf(entries, route, ms);
    spent.add(parts[REST], { operation, component: REST });
    spent.add(parts[OUTSIDE], { operation, component: OUTSIDE });
    const [most] = Object.entries(parts).reduce((best, part) => (part[1] > best[1] ? part : best));
    largest.add(1, { operation, component: most });
  }

  /** @param {Entry[]} entries @param {number} route @param {number} ms @returns {Record<string, number>} */
  partsOf(entries, route, ms) {
    const named = this.names
      .slice(1)
      .map((name) => [name, sumOf(entries.filter((entry) => entry.name === name))]);
    const inside = named.reduce((sum, [, took]) => sum + Number(took), 0);
    return {
      ...Object.fromEntries(named),
      [REST]: Math.max(0, route - inside),
      [OUTSIDE]: Math.max(0, ms - route),
    };
  }

  /**
   * The profiler's table.
   * @param {import('k6/x/windtunnel/record').Metrics} metrics
   * @param {string[]} operations
   */
  table(metrics, operations) {
    return operations.flatMap((operation) => {
      const of = (/** @type {string} */ name) =>
        metrics[submetric('component_ms', operation, name)]?.values ?? { count: 0 };
      const total = (/** @type {string} */ name) => of(name).count * (of(name).avg ?? 0);
      const route = total(this.route);
      const waited = route + total(OUTSIDE);
      return [this.route, ...this.parts]
        .filter((name) => of(name).count > 0)
        .map((name) => ({
          operation,
          source: /** @type {const} */ ('server_timing'),
          name,
          calls: of(name).count,
          avg_ms: rounded(of(name).avg),
          p95_ms: carries(0.95, of(name).count) ? rounded(of(name)['p(95)']) : null,
          p99_ms: carries(0.99, of(name).count) ? rounded(of(name)['p(99)']) : null,
          share: name === OUTSIDE || route === 0 ? null : rounded(total(name) / route),
          latency_share: waited === 0 ? null : rounded(total(name) / waited),
        }));
    });
  }

  /** For each part the number of an operation's requests in which it took the most time. @param {import('k6/x/windtunnel/record').Metrics} metrics @param {string} operation */
  largestOf(metrics, operation) {
    return this.parts.map((name) => ({
      name,
      count: metrics[submetric('component_largest', operation, name)]?.values.count ?? 0,
    }));
  }
}

/** Tolerance for rounded shares of the route, 0 to 1. */
const ROUNDING = 0.005;

/**
 * Notes on operations whose parts add up to more than their route: the parts overlap, or the panel counts a time twice.
 * @param {{ operation: string, name: string, share: number | null }[]} rows of the profiler's table
 * @param {string} route name of the route
 * @returns {string[]} one note per operation
 */
export function overlapsOf(rows, route) {
  const parts = rows.filter(({ name, share }) => share !== null && name !== route && name !== REST);
  const operations = [...new Set(parts.map(({ operation }) => operation))];
  return operations.flatMap((operation) => {
    const ofOperation = parts.filter((row) => row.operation === operation);
    const sum = ofOperation.reduce((total, { share }) => total + (share ?? 0), 0);
    if (sum <= 1 + ROUNDING) return [];
    const which = operation === '' ? 'the run' : operation;
    return [
      `${which}: its parts (${ofOperation.map(({ name }) => name).join(', ')}) add up to ${Math.round(100 * sum)} % of the route: they overlap, and their shares are no parts of a whole`,
    ];
  });
}

/** @param {string} metric @param {string} operation @param {string} component */
const submetric = (metric, operation, component) =>
  `${metric}{operation:${operation},component:${component}}`;

/** @param {{ ms: number }[]} entries */
const sumOf = (entries) => entries.reduce((sum, { ms }) => sum + ms, 0);

/** A figure of a table. @param {number} value */
export const rounded = (value) => Math.round(value * 1e5) / 1e5;
