/**
 * How many queries reached the authoritative server behind the proxy, and how many should have.
 *
 * | metric                      | type    | unit  | what                                                             |
 * |-----------------------------|---------|-------|------------------------------------------------------------------|
 * | operation_upstream_queries  | counter | count | queries that the authoritative server behind the proxy received   |
 * | operation_upstream_expected | counter | count | expected number of them: each name once if the client caches      |
 * | operation_upstream_slack    | counter | count | by how many the two may differ: unanswered queries                |
 */
import { Counter } from 'k6/x/windtunnel/record';
import { ask } from '../meter.js';
import { controlName } from '../dataplane/scenario.js';
import { submetric } from '../operations.js';
import { figureOf, sectionOf } from '../section.js';

const queries = new Counter('operation_upstream_queries');
const expected = new Counter('operation_upstream_expected');
const slack = new Counter('operation_upstream_slack');

/**
 * @typedef {object} Kind of queries
 * @property {string} operation
 * @property {'closed' | 'open'} loop
 * @property {boolean} repeated the same names repeatedly, instead of a new name each time
 * @property {number | null} inFlight null: an open loop
 */

/** Number of queries that a server has received. @param {import('../meter.js').Echo} server @returns {number} */
const queriesOf = ({ id }) => ask('GET', `/echoes/${id}`).dns_queries;

/**
 * @param {string} operation
 * @param {number} got queries that arrived upstream
 * @param {number | null} names number of repeated names, of which each reaches the upstream once; null: every query does
 * @param {number} warmup
 * @param {import('../meter.js').Outcome} outcome
 */
export function recordUpstream(operation, got, names, warmup, outcome) {
  const tags = { operation };
  queries.add(got, tags);
  expected.add(names ?? warmup + outcome.attempted, tags);
  slack.add(
    outcome.attempted - outcome.succeeded + (outcome.warmup_failed ?? 0) + (outcome.replaced ?? 0),
    tags,
  );
}

/**
 * Sends queries, and records how many reached the server behind the proxy.
 * @param {import('../meter.js').Echo} upstream
 * @param {string} operation
 * @param {number | null} names see recordUpstream()
 * @param {number} warmup
 * @param {() => [string, import('../meter.js').Measured | null][]} askBoth through the proxy and direct
 */
export function countUpstream(upstream, operation, names, warmup, askBoth) {
  const before = queriesOf(upstream);
  const outcome = askBoth().find(([name]) => name === operation)?.[1]?.outcome;
  if (!outcome || outcome.stopped) return;
  recordUpstream(operation, queriesOf(upstream) - before, names, warmup, outcome);
}

/** @param {'queries' | 'expected' | 'slack'} name @param {string} operation */
const counter = (name, operation) =>
  /** @type {import('k6/x/windtunnel/judge').Term} */ ({
    metric: `operation_upstream_${name}`,
    tags: { operation },
    times: 1,
  });

/**
 * Facts for the judge: whether cached names were cached, and others were not.
 * @param {Pick<Kind, 'operation'>[]} kinds
 * @returns {import('k6/x/windtunnel/judge').Fact[]}
 */
export const factsOf = (kinds) =>
  kinds.map(({ operation }) => ({
    check: `upstream queries, ${operation}`,
    source: 'dns',
    found: { counted: [counter('queries', operation)] },
    reported: { counted: [counter('expected', operation)] },
    slack: [counter('slack', operation)],
  }));

/** @param {import('k6/x/windtunnel/record').Metrics} metrics @param {string} operation */
function upstreamOf(metrics, operation) {
  const count = (/** @type {string} */ name) =>
    metrics[submetric(`operation_upstream_${name}`, operation)]?.values.count ?? 0;
  return { queries: count('queries'), expected: count('expected') };
}

/** @typedef {Kind & { via: string, counts: ReturnType<typeof upstreamOf> | null }} Line counts: null for a direct query */

/** @type {import('../section.js').Column<Line>[]} */
const COLUMNS = [
  ['operation', 'Operation', 'text', { print: 'none' }],
  ['names', 'Names', 'text', ({ repeated }) => (repeated ? 'known' : 'new')],
  ['in_flight', 'In flight', 'count', ({ inFlight }) => inFlight ?? 'open loop'],
  ['via', 'Via', 'text'],
  ['rate_per_s', 'Queries/s', 'per_s', ({ operation }) => figureOf(operation, 'rate_per_s')],
  ['p50_ms', 'P50', 'ms', ({ operation }) => figureOf(operation, 'p50_ms')],
  ['p95_ms', 'P95', 'ms', ({ operation }) => figureOf(operation, 'p95_ms')],
  ['p99_ms', 'P99', 'ms', ({ operation }) => figureOf(operation, 'p99_ms')],
  ['lost_share', 'Lost', 'share', ({ operation }) => figureOf(operation, 'lost_share')],
  [
    'by_direct',
    'By direct P50',
    'times',
    ({ operation, counts }) => counts && figureOf(operation, 'p50_ms', controlName(operation)),
  ],
  ['upstream', 'Upstream queries', 'count', ({ counts }) => counts?.queries],
  ['expected', 'Upstream queries expected', 'count', ({ counts }) => counts?.expected, { print: 'none' }],
];

/**
 * A table of all kinds of queries: each through the proxy, and below it the same direct.
 * @param {import('k6/x/windtunnel/record').Metrics} metrics
 * @param {Kind[]} kinds
 * @param {{ via: string, cache: boolean }} about `via`: the client that answers the queries, in words
 */
export const dnsSection = (metrics, kinds, { via, cache }) =>
  sectionOf({
    name: 'dns',
    title: 'DNS queries',
    columns: COLUMNS,
    rows: kinds.flatMap((kind) => [
      { ...kind, via, counts: upstreamOf(metrics, kind.operation) },
      { ...kind, operation: controlName(kind.operation), via: 'direct', counts: null },
    ]),
    notes: [
      `${cache ? 'The client caches: each known name should get through once per probe.' : 'The client does not cache.'} Upstream queries are those that the authoritative server behind the proxy received, including the warm-up.`,
    ],
  });
