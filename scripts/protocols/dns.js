/**
 * What does a proxy add to a DNS query, with and without its cache?
 *
 * The client of one row takes queries, and asks an authoritative server on this machine through the hop. `cached` repeats the same
 * NAMES; `uncached` asks for a new name each time. Both run with one query in flight and with WINDOW queries (`_burst`), which
 * measures the rate. Each answer is checked, and so is the number of queries that reach the server.
 */
import { loadPlane } from '../../lib/dataplane/environment.js';
import { closedOf, openParameters, plannedOf, probeLoad, probeOf } from '../../lib/dataplane/load.js';
import { partName, planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { envCount } from '../../lib/profiles.js';
import { resolverAsked, rowWithDns, startDns, stopDns, viasOf } from '../../lib/protocols/dns.js';
import { countUpstream, dnsSection, factsOf } from '../../lib/protocols/dns-upstream.js';
import { programTitle } from '../../lib/protocols/programs.js';
import { candidateLeft, sidesOf } from '../../lib/protocols/sides.js';
import { defaultNumber } from '../../lib/variables.js';

const BASE = { smoke: 2000, quick: 20_000, full: 100_000, rate: defaultNumber('RATE', 'protocols/dns') };
const NEW_WARMUP = 50;
/** The largest number of queries in flight in an open loop. */
const OPEN_WINDOW = 1024;

const environment = loadPlane('protocols');
const { baseline } = sidesOf();
const row = rowWithDns(baseline.engine);
const load = probeLoad(BASE, 'QUERIES');
const names = envCount('NAMES');
const window = envCount('WINDOW', 'protocols/dns');
const timeoutMs = envCount('TIMEOUT_MS', 'protocols/dns');
const ttl = envCount('TTL_S');
const resolver = resolverAsked(row, baseline.engine);
if (names < window)
  throw `NAMES=${names}: a name would be asked for again before its answer is there: give at least WINDOW, ${window}`;
if (resolver.asks === 'udp' && !row.udp) throw `ASKS=udp: ${row.row} carries no datagrams: leave it out`;

const about = { protocol: row.row, engine: baseline.engine, ...baseline.settings };
const total = plannedOf(load.rounds);

/** @typedef {import('../../lib/protocols/dns-upstream.js').Kind} Kind */
/** @typedef {import('../../lib/dataplane/load.js').Round} Round */
/** @type {Kind[]} */
const all = [
  { operation: 'cached', loop: 'closed', repeated: true, inFlight: 1 },
  { operation: 'cached_burst', loop: 'closed', repeated: true, inFlight: window },
  { operation: 'cached_open', loop: 'open', repeated: true, inFlight: null },
  { operation: 'uncached', loop: 'closed', repeated: false, inFlight: 1 },
  { operation: 'uncached_burst', loop: 'closed', repeated: false, inFlight: window },
  { operation: 'uncached_open', loop: 'open', repeated: false, inFlight: null },
];
const kinds = all.filter(({ loop }) => load.rounds.some((round) => round.loop === loop));

/** @param {Kind} kind */
const rowsOf = ({ operation, loop, repeated, inFlight }) =>
  withControl(operation, {
    title: `${repeated ? 'Known names' : 'New names'}, ${inFlight ? `${inFlight} in flight` : 'open loop'}`,
    loop,
    latencyIs: `from the query ${inFlight ? '' : 'meant to be '}sent to its answer received`,
    bounds: inFlight === 1 ? { 'p(95)': 50 } : {},
    least: inFlight ? total : 1,
    saturates: Number(inFlight) > 1,
    answersItself: repeated && resolver.cache,
  });

/** The queries of a round. @param {Kind} kind @param {Round} round @param {string} run part of the names */
const queriesOf = ({ repeated, inFlight }, round, run) => ({
  kind: 'dns',
  dns: { run, ...(repeated ? { names } : {}) },
  warmup: repeated ? names : NEW_WARMUP,
  window: inFlight ?? OPEN_WINDOW,
  timeout_ms: timeoutMs,
  // Known and new names each get half of an open round.
  ...probeOf(round, 1 / 2),
});

const script = planeScenario({
  system: 'protocols',
  name: 'dns',
  title: `DNS through ${row.row}`,
  environment,
  load: { ...load, notes: [...load.notes, ...candidateLeft()] },
  parameters: {
    ...about,
    ...(total > 0 ? { queries: total, rounds: closedOf(load.rounds).length, window } : {}),
    ...openParameters(load.rounds),
    names,
    timeout_ms: timeoutMs,
    ttl_s: ttl,
    ...resolver,
  },
  operations: Object.assign({}, ...kinds.map(rowsOf)),
  ownInstances: true,
  prepare: () => startDns(row, baseline, resolver, environment.placement, ttl),
  vias: (data) => viasOf(data, data.window),
  round(round, index, plane) {
    for (const kind of kinds.filter(({ loop }) => loop === round.loop)) {
      const { operation, repeated } = kind;
      plane.part(partName(operation, index), (again) => {
        // Names that no other probe uses.
        const run = `${operation.replaceAll('_', '')}${index}${again ? `again${again}` : ''}`;
        const queries = queriesOf(kind, round, run);
        const askedOnce = repeated && resolver.cache ? names : null;
        const ask = () => plane.pair(index, [operation], queries);
        countUpstream(plane.data.servers.upstream, operation, askedOnce, queries.warmup, ask);
      });
    }
  },
  end: stopDns,
  facts: () => factsOf(kinds),
  more: (metrics, { client }) => ({
    sections: [
      dnsSection(metrics, kinds, {
        via: `${programTitle({ engine: baseline.engine, binary: baseline.engine, version: client.version })}, ${row.row}`,
        cache: resolver.cache,
      }),
    ],
  }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
