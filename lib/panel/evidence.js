/**
 * Where the time went, from three sources: the panel's Server-Timing headers, its database's statement digests, and its
 * Prometheus endpoint.
 *
 * | metric          | type    | unit  | what                                            |
 * |-----------------|---------|-------|-------------------------------------------------|
 * | panel_requests  | counter | count | requests of the load, including the warm-up     |
 * | panel_waited_ms | counter | ms    | time that clients waited for answers            |
 * | panel_route_ms  | counter | ms    | the part of it in the route, by the header      |
 */
import { Counter, wholeMs } from 'k6/x/windtunnel/record';
import { bottleneckOf, bottleneckOfDatabase } from './bottleneck.js';
import { Components, overlapsOf } from './components.js';
import { databaseOf, keepDigests, takeDigests } from './digests.js';
import { keepHistograms, prometheusTable, scrape } from './prometheus.js';
import { databaseSections, partSections } from './time-sections.js';
import { percent } from '../units.js';

const requests = new Counter('panel_requests');
const waited = new Counter('panel_waited_ms');
const routed = new Counter('panel_route_ms');

/** @typedef {{ digests: ReturnType<typeof takeDigests>, histograms: ReturnType<typeof scrape> }} Snapshot */

export class Evidence {
  /** @param {import('./environment.js').PanelEnvironment} environment */
  constructor(environment) {
    this.environment = environment;
    this.components = new Components(environment.components);
  }

  /** Takes the first readings. Call it last in setup(). @returns {Snapshot} */
  before() {
    const { database, prometheus, url } = this.environment;
    return { digests: takeDigests(database), histograms: scrape(url, prometheus) };
  }

  /** Takes the second readings. Call it first in teardown(). @param {Snapshot} snapshot of before() */
  after({ digests, histograms }) {
    const { components, database, prometheus, url } = this.environment;
    keepDigests(digests, takeDigests(database, true));
    keepHistograms(histograms, scrape(url, prometheus), components);
  }

  /** Counts a request of the load. @param {import('./panel.js').Response} response @returns {import('./components.js').Entry[]} its Server-Timing entries */
  count(response) {
    const entries = this.components.entriesOf(response);
    requests.add(1);
    waited.add(wholeMs(response));
    const route = this.components.routeOf(entries);
    if (route !== undefined) routed.add(route);
    return entries;
  }

  /** Records the components of a success. @param {string} operation @param {import('./panel.js').Response} response @param {import('./components.js').Entry[]} entries of count() */
  record(operation, response, entries) {
    this.components.record(operation, entries, wholeMs(response));
  }

  /**
   * In handleSummary: the tables.
   * @param {import('k6/x/windtunnel/record').Metrics} metrics
   * @param {Record<string, { title: string }>} operations
   */
  sections(metrics, operations) {
    const names = Object.keys(operations);
    const table = this.components.table(metrics, names);
    const work = this.databaseWork(metrics);
    const bottlenecks = names.flatMap((name) => {
      const rows = table.filter(({ operation }) => operation === name);
      const found = bottleneckOf(name, rows, this.components.largestOf(metrics, name));
      return found ? withServerShare(found, table, work) : [];
    });
    const titleOf = (/** @type {string} */ name) => operations[name].title;
    return [
      ...partSections([...table, ...this.histograms()], bottlenecks, titleOf),
      ...(work
        ? databaseSections(work, bottlenecks.length === 0 ? bottleneckOfDatabase(work) : undefined)
        : []),
    ];
  }

  histograms() {
    const { components, prometheus } = this.environment;
    return prometheus ? prometheusTable(components) : [];
  }

  /** Notes on overlapping components. @param {import('k6/x/windtunnel/record').Metrics} metrics @param {string[]} operations */
  overlaps(metrics, operations) {
    const table = [...this.components.table(metrics, operations), ...this.histograms()];
    return overlapsOf(table, this.components.route);
  }

  /** @param {import('k6/x/windtunnel/record').Metrics} metrics */
  databaseWork(metrics) {
    const { database } = this.environment;
    if (database?.dialect !== 'mysql') return undefined;
    const sum = (/** @type {string} */ name) => metrics[name]?.values.count ?? 0;
    return databaseOf({
      requests: sum('panel_requests'),
      waitedMs: sum('panel_waited_ms'),
      routeMs: sum('panel_route_ms'),
    });
  }
}

/** Component for all of the panel's database calls. */
const DATABASE = 'database';

/**
 * Adds the database server's share to a bottleneck. Time in the panel's database calls includes driver and waiting.
 * @param {import('./bottleneck.js').Bottleneck} bottleneck
 * @param {{ name: string, calls: number, avg_ms: number }[]} table
 * @param {{ total_ms: number } | undefined} work
 */
function withServerShare(bottleneck, table, work) {
  const calls = table.filter(({ name }) => name === DATABASE);
  const ms = calls.reduce((sum, row) => sum + row.calls * row.avg_ms, 0);
  if (!work || ms === 0 || bottleneck.component !== DATABASE) return bottleneck;
  const share = Math.min(1, work.total_ms / ms);
  const reason = `${bottleneck.reason} Over the whole run the database server itself worked for ${percent(share)} of the time in ${DATABASE}; the rest is the driver, the mapping and waiting.`;
  return { ...bottleneck, reason };
}
