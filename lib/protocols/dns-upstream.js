/**
 * How many queries got through to the authoritative server behind the proxy, and how many ought to have.
 *
 * | metric                      | type    | unit  | what                                                             |
 * |-----------------------------|---------|-------|------------------------------------------------------------------|
 * | operation_upstream_queries  | counter | count | queries that the authoritative server behind the proxy got        |
 * | operation_upstream_expected | counter | count | those that it ought to have got: each name once where it is cached |
 * | operation_upstream_slack    | counter | count | by so many the two may differ: queries that were not answered      |
 */
import { Counter } from 'k6/x/windtunnel/record';
import { record } from '../dataplane/held.js';
import { ask } from '../dataplane/meter.js';
import { controlName } from '../dataplane/scenario.js';
import { submetric } from '../operations.js';

const queries = new Counter('operation_upstream_queries');
const expected = new Counter('operation_upstream_expected');
const slack = new Counter('operation_upstream_slack');

/**
 * @typedef {object} Kind of queries
 * @property {string} operation
 * @property {'closed' | 'open'} loop
 * @property {boolean} repeated the same names again and again, not a new one each time
 * @property {number | null} inFlight null: an open loop
 */

/** Queries that a server got so far. @param {import('../dataplane/meter.js').Echo} server @returns {number} */
const queriesOf = ({ id }) => ask('GET', `/echoes/${id}`).dns_queries;

/**
 * @param {string} operation
 * @param {number} got queries upstream
 * @param {number | null} names asked for again and again, of which each is asked upstream once; null: all are
 * @param {number} warmup
 * @param {import('../dataplane/meter.js').Outcome} outcome
 */
export function recordUpstream(operation, got, names, warmup, outcome) {
  const tags = { operation };
  record(() => {
    queries.add(got, tags);
    expected.add(names ?? warmup + outcome.attempted, tags);
    slack.add(
      outcome.attempted - outcome.succeeded + (outcome.warmup_failed ?? 0) + (outcome.replaced ?? 0),
      tags,
    );
  });
}

/**
 * Asks, and records how many queries got through to the server behind the proxy.
 * @param {import('../dataplane/meter.js').Echo} upstream
 * @param {string} operation
 * @param {number | null} names as of recordUpstream
 * @param {number} warmup
 * @param {() => [string, import('../dataplane/meter.js').Measured | null][]} askBoth through the proxy and direct
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
 * Whether what was meant to be cached was, and what was not meant to be was not, is for the judge to tell of these.
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

/**
 * Rows of the section `dns`, each with its control.
 * @param {import('k6/x/windtunnel/record').Metrics} metrics
 * @param {Kind[]} kinds
 */
export const upstreamRows = (metrics, kinds) =>
  kinds.flatMap(({ operation, repeated, inFlight }) => {
    const { queries: found, expected: reported } = upstreamOf(metrics, operation);
    const common = { names: repeated ? 'known' : 'new', in_flight: inFlight };
    return [
      { operation, via: 'proxy', ...common, upstream: { queries: found, expected: reported } },
      { operation: controlName(operation), via: 'direct', ...common, upstream: null },
    ];
  });
