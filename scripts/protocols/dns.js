/**
 * What does a proxy cost a DNS query, with its cache and without?
 *
 * The client of one row of lib/protocols/matrix.js takes queries and asks an authoritative server on this machine through
 * the hop. `cached` asks for the same NAMES again and again, after each was asked for once; `uncached` for a new name each
 * time; with one query in flight, and with WINDOW (`_burst`), which tells the rate. Beside each the same direct, to an
 * authoritative server of its own. Each answer is checked, and so is how many queries got through to the server.
 */
import { loadPlane } from '../../lib/dataplane/environment.js';
import { probeLoad } from '../../lib/dataplane/load.js';
import { ask, stopEcho } from '../../lib/dataplane/meter.js';
import { controlName, partName, planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { envChoice, envCount } from '../../lib/profiles.js';
import {
  integrityOf,
  queriesOf,
  recordUpstream,
  startResolver,
  startServers,
  upstreamOf,
} from '../../lib/protocols/dns.js';
import { candidateLeft, selectedRows, sidesOf } from '../../lib/protocols/sides.js';
import { defaultNumber } from '../../lib/variables.js';

const BASE = { smoke: 2000, quick: 20_000, full: 100_000, rate: defaultNumber('RATE', 'protocols/dns') };
const NEW_WARMUP = 50;
/** Of an open loop: what is on its way at most. */
const OPEN_WINDOW = 1024;

const environment = loadPlane('protocols');
const { baseline } = sidesOf();
const rows = selectedRows('protocols/dns');
const row = rows.find(
  ({ engines, variables, needs, dialsAtStart }) =>
    engines[baseline.engine] === true && !variables.inbound && needs !== 'naive-client' && !dialsAtStart,
);
if (!row)
  throw `PROTOCOL=${__ENV.PROTOCOL}: none has a client with DNS that ${baseline.engine} runs: add a row, such as trojan`;

const load = probeLoad(BASE, 'QUERIES');
const names = envCount('NAMES');
const window = envCount('WINDOW', 'protocols/dns');
const timeoutMs = envCount('TIMEOUT_MS', 'protocols/dns');
const ttl = envCount('TTL_S');
const cache = envChoice('CACHE') === 'on';
const hijack = envChoice('HIJACK');
const transport = /** @type {'udp' | 'tcp'} */ (envChoice('ASKS', row.udp ? 'udp' : 'tcp'));
if (hijack === 'outbound' && baseline.engine !== 'sing-box')
  throw 'HIJACK=outbound: only sing-box has two ways to take queries: leave it out';
if (names < window)
  throw `NAMES=${names}: a name would be asked for again before its answer is there: give at least WINDOW, ${window}`;
if (transport === 'udp' && !row.udp) throw `ASKS=udp: ${row.row} carries no datagrams: leave it out`;

const closed = load.rounds.filter((round) => round.loop === 'closed');
const open = load.rounds.filter((round) => round.loop === 'open');
const total = closed.reduce((sum, { count }) => sum + count, 0);

/** @typedef {{ operation: string, repeated: boolean, inFlight: number | null }} Kind `inFlight` null: an open loop */
/** @type {Kind[]} */
const kinds = [true, false].flatMap((repeated) => {
  const name = repeated ? 'cached' : 'uncached';
  return [
    ...(total > 0
      ? [
          { operation: name, repeated, inFlight: 1 },
          { operation: `${name}_burst`, repeated, inFlight: window },
        ]
      : []),
    ...(open.length > 0 ? [{ operation: `${name}_open`, repeated, inFlight: null }] : []),
  ];
});

/** @param {Kind} kind @returns {import('../../lib/dataplane/scenario.js').PlaneOperation} */
const rowOf = ({ repeated, inFlight }) => ({
  title: `${repeated ? 'Known names' : 'New names'}, ${inFlight === null ? 'open loop' : `${inFlight} in flight`}`,
  loop: inFlight === null ? 'open' : 'closed',
  latencyIs: `from the query ${inFlight === null ? 'meant to be ' : ''}sent to its answer received`,
  bounds: inFlight === 1 ? { 'p(95)': 50 } : {},
  least: inFlight === null ? 1 : total,
  saturates: inFlight !== null && inFlight > 1,
  answersItself: repeated && cache,
});

const script = planeScenario({
  system: 'protocols',
  name: 'dns',
  title: `DNS through ${row.row}`,
  environment,
  load: { ...load, notes: [...load.notes, ...candidateLeft()] },
  parameters: {
    protocol: row.row,
    engine: baseline.engine,
    ...(total > 0 ? { queries: total, rounds: closed.length, window } : {}),
    ...(open.length > 0
      ? {
          peak_rate_per_s: Math.max(...open.map(({ rate }) => rate)),
          open_rounds: open.length,
          open_seconds: open.reduce((sum, { seconds }) => sum + seconds, 0),
        }
      : {}),
    names,
    timeout_ms: timeoutMs,
    ttl_s: ttl,
    cache,
    hijack,
    asks: transport,
  },
  operations: Object.assign({}, ...kinds.map((kind) => withControl(kind.operation, rowOf(kind)))),
  ownInstances: true,
  prepare() {
    const { placement } = environment;
    const servers = startServers(placement, ttl);
    const resolver = { transport, cache, outbound: hijack === 'outbound' };
    const client = startResolver(row, baseline, resolver, servers.upstream, placement.system_cpus);
    return { servers, client, instance: client.id };
  },
  vias: ({ servers, client, window: measuring }) => ({
    proxied: {
      proxy: null,
      instance: client.id,
      usage_window: measuring,
      far: { id: '', tcp: client.address, udp: client.address },
    },
    direct: {
      proxy: null,
      instance: null,
      usage_window: null,
      watched_by: measuring,
      far: servers.control,
    },
  }),
  round(round, index, plane) {
    for (const kind of kinds) {
      if ((kind.inFlight === null) !== (round.loop === 'open')) continue;
      plane.part(partName(kind.operation, index), (again) => measureKind(kind, round, index, again, plane));
    }
  },
  end({ servers, client }) {
    ask('DELETE', `/instances/${client.id}`, undefined, 60_000);
    stopEcho(servers.upstream.id);
    stopEcho(servers.control.id);
  },
  integrity: (metrics) =>
    integrityOf(
      metrics,
      kinds.map(({ operation }) => operation),
    ),
  more: (metrics, _rows, { client }) => ({
    dns: {
      engine: baseline.engine,
      version: client.version,
      protocol: row.row,
      cache,
      rows: kinds.flatMap((kind) => {
        const { queries, expected } = upstreamOf(metrics, kind.operation);
        const common = { names: kind.repeated ? 'known' : 'new', in_flight: kind.inFlight };
        return [
          { operation: kind.operation, via: 'proxy', ...common, upstream: { queries, expected } },
          { operation: controlName(kind.operation), via: 'direct', ...common, upstream: null },
        ];
      }),
    },
  }),
});

/**
 * @param {Kind} kind
 * @param {import('../../lib/dataplane/load.js').Round} round
 * @param {number} index of the round
 * @param {number} again times that others disturbed it
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 */
function measureKind({ operation, repeated, inFlight }, round, index, again, plane) {
  const { servers } = /** @type {any} */ (plane.data);
  const warmup = repeated ? names : NEW_WARMUP;
  const before = queriesOf(servers.upstream);
  const both = plane.pair(index, [operation], {
    kind: 'dns',
    // Names of this probe alone.
    dns: {
      run: `${operation.replaceAll('_', '')}${index}${again ? `again${again}` : ''}`,
      ...(repeated ? { names } : {}),
    },
    warmup,
    window: inFlight ?? OPEN_WINDOW,
    timeout_ms: timeoutMs,
    ...(round.loop === 'closed'
      ? { count: round.count }
      : {
          loop: { open: { rate_per_s: round.rate } },
          // Known and new names share the round.
          count: Math.max(1, Math.round((round.rate * round.seconds) / 2)),
          limit_s: round.seconds + 30,
        }),
  });
  const outcome = both.find(([name]) => name === operation)?.[1]?.outcome;
  if (!outcome || outcome.stopped) return;
  const got = queriesOf(servers.upstream) - before;
  recordUpstream(operation, got, repeated && cache ? names : null, warmup, outcome);
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
