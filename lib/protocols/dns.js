/**
 * DNS through a proxy: the client that takes queries, the authoritative servers behind it and beside it, and how many
 * queries ought to have got through to the one behind it.
 *
 * | metric                      | type    | unit  | what                                                             |
 * |-----------------------------|---------|-------|------------------------------------------------------------------|
 * | operation_upstream_queries  | counter | count | queries that the authoritative server behind the proxy got        |
 * | operation_upstream_expected | counter | count | those that it ought to have got: each name once where it is cached |
 * | operation_upstream_slack    | counter | count | by so many the two may differ: queries that were not answered      |
 */
import { Counter } from 'k6/x/windtunnel/record';
import { cpusOf } from '../dataplane/environment.js';
import { record } from '../dataplane/held.js';
import { ask, startEcho } from '../dataplane/meter.js';
import { echoWait } from '../dataplane/scenario.js';
import { submetric } from '../operations.js';

const queries = new Counter('operation_upstream_queries');
const expected = new Counter('operation_upstream_expected');
const slack = new Counter('operation_upstream_slack');

const START_MOST_MS = 120_000;

/**
 * @typedef {object} Resolver how the client answers queries
 * @property {'udp' | 'tcp'} transport of its own queries, through the hop
 * @property {boolean} cache
 * @property {boolean} outbound sing-box: by its outbound `dns`, not by the rule action
 *
 * @typedef {{ upstream: import('../dataplane/meter.js').Echo, control: import('../dataplane/meter.js').Echo }} Servers
 */

/**
 * Two authoritative servers: one that the proxy asks, one that is asked direct.
 * @param {import('../dataplane/environment.js').Placement} placement
 * @param {number} ttl s, of their records
 * @returns {Servers}
 */
export function startServers(placement, ttl) {
  const start = () =>
    startEcho({ dns: { ttl_s: ttl }, cpus: cpusOf(placement.echo_cpus), wait: echoWait(placement) });
  return { upstream: start(), control: start() };
}

/**
 * A row's client as a DNS server, and its server. What cannot be started ends the run.
 * @param {import('./matrix.js').Row} row
 * @param {import('./sides.js').Side} side
 * @param {Resolver} resolver
 * @param {import('../dataplane/meter.js').Echo} upstream
 * @param {string} cpus
 * @returns {{ id: string, address: string, version: string | null }}
 */
export function startResolver(row, { engine, binary }, resolver, upstream, cpus) {
  const port = (/** @type {string} */ address) => Number(address.split(':').pop());
  const variables = {
    ...row.variables,
    inbound: 'dns',
    dns_transport: resolver.transport,
    dns_cache: resolver.cache,
    dns_outbound: resolver.outbound,
    target_udp_port: port(upstream.udp),
    target_tcp_port: port(upstream.tcp),
    engine,
    binary,
    cpus,
  };
  const started = ask('POST', '/testbeds/protocols/start', { variables }, START_MOST_MS);
  const versions = /** @type {string[]} */ (Object.values(started.versions));
  return {
    id: started.id,
    address: started.outputs.PROTOCOLS_URL.split('://')[1],
    version: versions[0] ?? null,
  };
}

/** Queries that a server got so far. @param {import('../dataplane/meter.js').Echo} server @returns {number} */
export const queriesOf = ({ id }) => ask('GET', `/echoes/${id}`).dns_queries;

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

/** @param {import('k6/x/windtunnel/record').Metrics} metrics @param {string} operation */
export function upstreamOf(metrics, operation) {
  const count = (/** @type {string} */ name) =>
    metrics[submetric(`operation_upstream_${name}`, operation)]?.values.count ?? 0;
  return { queries: count('queries'), expected: count('expected'), slack: count('slack') };
}

/**
 * Whether what was meant to be cached was, and what was not meant to be was not.
 * @param {import('k6/x/windtunnel/record').Metrics} metrics
 * @param {string[]} operations
 * @returns {import('k6/x/windtunnel/judge').Integrity[]}
 */
export const integrityOf = (metrics, operations) =>
  operations.map((operation) => {
    const { queries: found, expected: reported, slack: most } = upstreamOf(metrics, operation);
    const check = `upstream queries, ${operation}`;
    if (reported === 0)
      return { check, reported: null, found, ok: null, detail: 'nothing was measured', source: 'dns' };
    const ok = Math.abs(found - reported) <= most;
    let detail = 'as many as there ought to be';
    if (!ok && found < reported) detail = `${reported - found} queries were answered from a cache`;
    if (!ok && found > reported) detail = `${found - reported} queries too many reached the server`;
    return { check, reported, found, ok, detail, source: 'dns' };
  });
