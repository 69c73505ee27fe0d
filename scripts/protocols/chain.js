/**
 * What does a second hop cost?
 *
 * Each chain of two rows of lib/protocols/matrix.js: the first row's server sends all to the second row's client, and that
 * one's server to the target. Measured in turn with each of the two rows alone, every turn with processes of its own.
 * CPU and memory of a chain are of both hops; that both carry it is told by the CPU that each uses.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { envCount, envList, sizesOf } from '../../lib/profiles.js';
import { showTurns } from '../../lib/protocols/live.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { instanceIds, startSides, stopAllBut, stopSides } from '../../lib/protocols/instances.js';
import { goesOn } from '../../lib/protocols/outcome.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { candidateLeft, rowNamed, sidesOf, targetsOf } from '../../lib/protocols/sides.js';
import { bytesFor } from '../../lib/protocols/transfer.js';
import { Turn } from '../../lib/protocols/turn.js';
import { undisturbed } from '../../lib/protocols/undisturbed.js';
import { verdictOf } from '../../lib/protocols/verdict.js';
import { closeWindow, openWindow, usageOf } from '../../lib/sidecar.js';

const PROFILES = {
  smoke: { turns: 1, handshakes: 20, round_trips: 200, datagrams: 100, transfer_s: 0.1 },
  quick: { turns: 5, handshakes: 50, round_trips: 500, datagrams: 200, transfer_s: 0.25 },
  full: { turns: 10, handshakes: 200, round_trips: 2000, datagrams: 1000, transfer_s: 0.5 },
};
const sizes = sizesOf(PROFILES, 'chains are compared under one load, so that its shape does not apply');
const turns = envCount('TURNS', sizes.turns);
const targets = targetsOf();
const { baseline } = sidesOf();
const digests = { baseline: digestOf(baseline) };

/** @typedef {import('../../lib/protocols/matrix.js').Row} Row */
/** @typedef {import('../../lib/protocols/result.js').Notes} Notes */

/** Why a row cannot send all that it takes to a second hop; null where it can. @param {Row} row */
function endsThere({ variables: { protocol } }) {
  if (protocol === 'ssh')
    return 'ssh cannot be the first hop: its server is sshd, which sends nothing to a proxy';
  if (protocol === 'wireguard' && baseline.engine === 'xray')
    return 'wireguard cannot be the first hop with xray: its server would ask the second hop for an address inside the tunnel';
  return null;
}

const chains = envList('CHAINS').map((chain) => {
  const hops = chain.split('+').map((name) => rowNamed(name.trim(), 'CHAINS'));
  const odd = hops.find(({ variables }) => variables.protocol === 'direct');
  if (hops.length !== 2 || odd)
    throw `CHAINS=${chain}: two rows with a client and a server are wanted, as trojan+vless`;
  const wrong = endsThere(hops[0]);
  if (wrong) throw `CHAINS=${chain}: ${wrong}`;
  return hops;
});

/** A chain as a row: what both of its rows can do. @param {Row[]} hops @returns {Row} */
const chainRow = ([first, second]) => ({
  ...first,
  row: `${first.row}+${second.row}`,
  udp: first.udp && second.udp,
  since: first.since ?? second.since,
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
  load: roundsLoad(
    Array.from({ length: turns }, () => ({ loop: 'closed', count: 1, factor: 1 })),
    candidateLeft(),
  ),
  parameters: {
    chains: chains.map((hops) => hops.map(({ row }) => row).join('+')).join(','),
    turns,
    handshakes: sizes.handshakes,
    round_trips: sizes.round_trips,
    datagrams: sizes.datagrams,
    transfer_s: sizes.transfer_s,
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
    return { instances: instanceIds() };
  },
  round(_round, index, plane) {
    // Each turn begins with another row.
    for (let step = 0; step < able.length; step += 1) {
      const chain = able[(step + index) % able.length];
      const own = (notes[chain.row.row] ??= { turns: [], outcomes: [], version: null });
      try {
        undisturbed(plane, `${chain.row.row}, turn ${index + 1}`, [own], () => measureOne(chain, own, plane));
      } finally {
        showTurns(operationOf(chain.row), own);
        say(chain.row.row, { baseline: own });
      }
    }
  },
  end: (data) => stopAllBut(/** @type {any} */ (data).instances),
  more: () => ({
    protocols: protocolsOf(said(), {
      rows: all.map(({ row }) => row),
      baseline,
      candidate: null,
      turns,
      extraTurns: turns,
      targets,
      digests,
      covers: false,
    }),
  }),
  judge: (result) => verdictOf(result, result.protocols.rows, false),
});

/** A process that used less than this share of the busiest one's CPU carried nothing. */
const IDLE = 0.01;
/** @type {Record<string, Notes>} of this VU, the only one, by row */
const notes = {};
/** @type {Record<string, number>} of a transfer, by row, once it is known how fast it is */
const bytes = {};

/**
 * @param {{ row: Row, hops: Row[] }} chain
 * @param {Notes} own
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 */
function measureOne({ row, hops }, own, plane) {
  if (!goesOn(own)) return;
  /** @type {import('../../lib/protocols/instances.js').Started[]} the last hop first */
  const up = [];
  try {
    for (const hop of [...hops].reverse()) {
      const last = up[up.length - 1];
      if (last && 'failed' in last) break;
      const more = { next_port: last ? last.started.variables.socks_port : 0 };
      const logName = `chain/hop-${hops.length - up.length}-${hop.row}`;
      up.push(...startSides([{ row: hop, side: baseline, more, logName }], plane));
    }
    const started = up.flatMap((side) => ('started' in side ? [side.started] : [])).reverse();
    const failed = up.flatMap((side) => ('failed' in side ? [side.failed] : []));
    if (failed.length > 0) own.outcomes.push(...failed);
    else measureHops(row, started, own, plane);
  } finally {
    stopSides(up);
  }
}

/**
 * @param {Row} row
 * @param {any[]} hops instances, the first hop first
 * @param {Notes} own
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 */
function measureHops(row, hops, own, plane) {
  own.version = Object.values(hops[0].versions)[0] ?? null;
  const windows = hops.map(({ id }) => openWindow(id));
  const turn = new Turn(plane, hops, operationOf(row));
  if (turn.reach(sizes)) {
    // A first turn that others disturbed has not told it.
    if (own.turns.length === 0 || !(row.row in bytes))
      bytes[row.row] = bytesFor([turn.rate()], sizes.transfer_s);
    turn.bulk(bytes[row.row]);
    turn.extras(sizes, bytes[row.row], row.udp);
  }
  windows.forEach(closeWindow);
  const ended = turn.end();
  const idle = hops.length > 1 && ended.outcome === 'measured' ? idleOf(windows, turn) : null;
  own.outcomes.push(idle ? { outcome: 'errors', detail: idle } : ended);
  own.turns.push(turn.figures);
}

/**
 * A hop that the traffic has gone around; the CPU of each is among the figures.
 * @param {(string | null)[]} windows
 * @param {Turn} turn
 */
function idleOf(windows, turn) {
  const used = windows.flatMap((window, hop) =>
    (usageOf(window)?.processes ?? [])
      .filter(({ role }) => role === 'system')
      .map(({ name, cpu_s: cpu }) => ({ hop: hop + 1, name, cpu })),
  );
  if (windows.some((_window, hop) => used.every((process) => process.hop !== hop + 1)))
    return 'the sidecar does not tell what each hop used, so that a hop may be idle';
  const most = Math.max(...used.map(({ cpu }) => cpu));
  for (const [hop] of windows.entries()) {
    const cpus = used.filter((process) => process.hop === hop + 1).map(({ cpu }) => cpu);
    turn.figures[`hop_${hop + 1}_cpu_s`] = Math.min(...cpus);
  }
  const idle = used.find(({ cpu }) => cpu < most * IDLE);
  return idle ? `${idle.name} of hop ${idle.hop} used no CPU: the traffic went around it` : null;
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
