/**
 * What does a second hop cost?
 *
 * Each chain of two rows of lib/protocols/matrix.js: the first row's server sends all to the second row's client, and that
 * one's server to the target. Measured in turn with each of the two rows alone, every turn with processes of its own.
 * CPU and memory of a chain are of its first row.
 * Variables: CHAINS (such as trojan+shadowsocks-2022, a list), TURNS, BASELINE, BASELINE_ENGINE.
 */
import { roundsLoad } from '../../lib/dataplane/load.js';
import { ask } from '../../lib/dataplane/meter.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { currentProfile, envCount } from '../../lib/profiles.js';
import { showTurns } from '../../lib/protocols/live.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { rowNamed, sidesOf, targetsOf } from '../../lib/protocols/sides.js';
import { Turn, startSide, stopSide } from '../../lib/protocols/turn.js';
import { verdictOf } from '../../lib/protocols/verdict.js';

const PROFILES = {
  smoke: { turns: 1, handshakes: 20, round_trips: 200, datagrams: 100, mib: 8, tunnels: [] },
  quick: { turns: 5, handshakes: 50, round_trips: 500, datagrams: 200, mib: 32, tunnels: [] },
  full: { turns: 10, handshakes: 200, round_trips: 2000, datagrams: 1000, mib: 128, tunnels: [] },
};

const profile = currentProfile();
if (!(profile in PROFILES))
  throw `PROFILE=${profile}: chains are compared under one load, so that its shape does not apply; choose smoke, quick or full`;
const sizes = PROFILES[/** @type {'smoke' | 'quick' | 'full'} */ (profile)];
const turns = envCount('TURNS', sizes.turns);
const { baseline } = sidesOf();

/** @typedef {import('../../lib/protocols/matrix.js').Row} Row */
/** @typedef {import('../../lib/protocols/result.js').Notes} Notes */

const chains = (__ENV.CHAINS || 'trojan+shadowsocks-2022,vless-reality+trojan,hysteria2+vless-ws')
  .split(',')
  .map((chain) => {
    const hops = chain.split('+').map((name) => rowNamed(name.trim(), 'CHAINS'));
    const odd = hops.find(({ variables }) => variables.protocol === 'direct');
    if (hops.length !== 2 || odd)
      throw `CHAINS=${chain}: two rows with a client and a server are wanted, as trojan+vless`;
    return hops;
  });

/** A chain as a row: what both of its rows can do. @param {Row[]} hops @returns {Row} */
const chainRow = ([first, second]) => ({
  ...first,
  row: `${first.row}+${second.row}`,
  udp: first.udp && second.udp,
  known: { ...second.known, ...first.known },
  engines: {
    'sing-box': first.engines['sing-box'] === true ? second.engines['sing-box'] : first.engines['sing-box'],
    xray: first.engines.xray === true ? second.engines.xray : first.engines.xray,
  },
});

/** Rows alone, then the chains; each once. @type {{ row: Row, hops: Row[] }[]} */
const all = [
  ...[...new Set(chains.flat())].map((row) => ({ row, hops: [row] })),
  ...chains.map((hops) => ({ row: chainRow(hops), hops })),
];
const able = all.filter(({ row }) => row.engines[baseline.engine] === true);
/** @param {Row} row */
const operationOf = ({ row }) => row.replace(/[^a-z0-9]/g, '_');

const script = planeScenario({
  system: 'protocols',
  name: 'chain',
  title: 'Two hops',
  load: roundsLoad(Array.from({ length: turns }, () => ({ loop: 'closed', count: 1, factor: 1 }))),
  parameters: {
    chains: chains.map((hops) => hops.map(({ row }) => row).join('+')).join(','),
    turns,
    handshakes: sizes.handshakes,
    round_trips: sizes.round_trips,
    datagrams: sizes.datagrams,
    transfer_mib: sizes.mib,
  },
  operations: Object.fromEntries(
    able.map(({ row }) => [
      operationOf(row),
      {
        title: row.row,
        latencyIs: 'from a request of 1,024 bytes sent to its echo received',
        optional: true,
        bounds: { failed: 1, errors: undefined },
      },
    ]),
  ),
  ownInstances: true,
  echo: 'events',
  prepare() {
    ask('DELETE', '/notes');
    return { instances: ask('GET', '/instances').map((/** @type {any} */ { id }) => id) };
  },
  round(_round, index, plane) {
    // Each turn begins with another row.
    for (let step = 0; step < able.length; step += 1) measureOne(able[(step + index) % able.length], plane);
  },
  end(data) {
    const { instances } = /** @type {any} */ (data);
    for (const { id } of ask('GET', '/instances')) {
      if (!instances.includes(id)) ask('DELETE', `/instances/${id}`, undefined, 60_000);
    }
  },
  more: () => ({
    protocols: protocolsOf(ask('GET', '/notes'), {
      rows: all.map(({ row }) => row),
      baseline,
      candidate: null,
      turns,
      targets: targetsOf(),
      covers: false,
    }),
  }),
  judge: (result) => {
    const complete = (/** @type {any} */ { check, ok }) => check === 'complete' && ok === false;
    return verdictOf(result, result.protocols.rows, result.validity.some(complete));
  },
});

/** @type {Record<string, Notes>} of this VU, the only one, by row */
const notes = {};

/**
 * @param {{ row: Row, hops: Row[] }} chain
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 */
function measureOne({ row, hops }, plane) {
  const own = (notes[row.row] ??= { turns: [], outcomes: [], version: null });
  /** @type {import('../../lib/protocols/turn.js').Started[]} the last hop first */
  const up = [];
  let next = 0;
  for (const hop of [...hops].reverse()) {
    const started = startSide(hop, baseline, plane, { next_port: next });
    up.push(started);
    if ('failed' in started) break;
    next = started.started.variables.socks_port;
  }
  const entry = up[up.length - 1];
  if ('failed' in entry) {
    own.outcomes.push(entry.failed);
  } else {
    own.version = Object.values(entry.started.versions)[0] ?? null;
    const { figures, ...outcome } = new Turn(plane, entry.started, operationOf(row)).measure(sizes, row.udp);
    own.turns.push(figures);
    own.outcomes.push(outcome);
  }
  for (const started of up.reverse()) stopSide(started);
  showTurns(operationOf(row), own);
  ask('POST', `/notes/${row.row}`, { baseline: own });
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
