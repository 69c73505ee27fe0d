/** DNS through a proxy: the client that answers queries, and authoritative servers behind the proxy and beside it. */
import { cpusOf } from '../dataplane/environment.js';
import { ask, startEcho, stopEcho } from '../meter.js';
import { echoWait } from '../dataplane/far-end.js';
import { envChoice } from '../profiles.js';
import { programOf } from './instances.js';
import { selectedRows } from './sides.js';

const START_MOST_MS = 120_000;
const STOP_MOST_MS = 60_000;

/**
 * @typedef {object} Resolver how the client answers queries
 * @property {'udp' | 'tcp'} asks transport of its upstream queries through the hop
 * @property {boolean} cache
 * @property {'action' | 'outbound'} hijack how sing-box takes queries: by the rule action, or by its outbound `dns`
 *
 * @typedef {{ upstream: import('../meter.js').Echo, control: import('../meter.js').Echo }} Servers
 * @typedef {{ id: string, address: string, version: string | null }} Client
 * @typedef {{ servers: Servers, client: Client }} Started
 */

/** The first row of PROTOCOL that has a client with DNS. @param {import('./sides.js').Engine} engine */
export function rowWithDns(engine) {
  const row = selectedRows('protocols/dns').find(
    ({ engines, variables, foreign, dialsAtStart }) =>
      engines[engine] === true && !variables.inbound && !foreign?.client && !dialsAtStart,
  );
  if (row) return row;
  throw `PROTOCOL=${__ENV.PROTOCOL}: none has a client with DNS that ${engine} runs: add a row, such as trojan`;
}

/** The resolver for the variables CACHE, HIJACK and ASKS. @param {import('./matrix.js').Row} row @param {import('./sides.js').Engine} engine @returns {Resolver} */
export function resolverAsked(row, engine) {
  const cache = envChoice('CACHE') === 'on';
  const hijack = /** @type {'action' | 'outbound'} */ (envChoice('HIJACK'));
  const asks = /** @type {'udp' | 'tcp'} */ (envChoice('ASKS', row.udp ? 'udp' : 'tcp'));
  if (hijack === 'outbound' && engine !== 'sing-box')
    throw 'HIJACK=outbound: only sing-box has two ways to take queries: leave it out';
  return { asks, cache, hijack };
}

/**
 * Starts two authoritative servers: one behind the proxy, one for direct queries.
 * @param {import('../dataplane/environment.js').Placement} placement
 * @param {number} ttl of their records, s
 * @returns {Servers}
 */
function startServers(placement, ttl) {
  const start = () =>
    startEcho({ dns: { ttl_s: ttl }, cpus: cpusOf(placement.echo_cpus), wait: echoWait(placement) });
  return { upstream: start(), control: start() };
}

/**
 * Starts a row's client as a DNS server, and the row's server. A failed start ends the run.
 * @param {import('./matrix.js').Row} row
 * @param {import('./sides.js').Side} side
 * @param {Resolver} resolver
 * @param {import('../meter.js').Echo} upstream
 * @param {string} cpus
 * @returns {Client}
 */
function startResolver(row, side, resolver, upstream, cpus) {
  const port = (/** @type {string} */ address) => Number(address.split(':').pop());
  const variables = {
    ...row.variables,
    inbound: 'dns',
    dns_transport: resolver.asks,
    dns_cache: resolver.cache,
    dns_outbound: resolver.hijack === 'outbound',
    target_udp_port: port(upstream.udp),
    target_tcp_port: port(upstream.tcp),
    ...programOf(side),
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

/**
 * In setup(): starts both servers, and a row's client that asks one of them.
 * @param {import('./matrix.js').Row} row
 * @param {import('./sides.js').Side} side
 * @param {Resolver} resolver
 * @param {import('../dataplane/environment.js').Placement} placement
 * @param {number} ttl of the servers' records, s
 */
export function startDns(row, side, resolver, placement, ttl) {
  const servers = startServers(placement, ttl);
  const client = startResolver(row, side, resolver, servers.upstream, placement.system_cpus);
  return { servers, client, instance: client.id };
}

/**
 * Paths of queries: to the client, and direct to the other authoritative server.
 * @param {Started} started
 * @param {string | null} window of the run
 * @returns {import('../dataplane/scenario.js').Vias}
 */
export function viasOf({ servers, client }, window) {
  const far = { id: '', tcp: client.address, udp: client.address };
  return {
    proxied: { proxy: null, instance: client.id, usage_window: window, far },
    direct: { proxy: null, instance: null, usage_window: null, watched_by: window, far: servers.control },
  };
}

/** @param {Started} started */
export function stopDns({ servers, client }) {
  ask('DELETE', `/instances/${client.id}`, undefined, STOP_MOST_MS);
  stopEcho(servers.upstream.id);
  stopEcho(servers.control.id);
}
