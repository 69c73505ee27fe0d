/**
 * How does each proxy protocol perform, and how does a candidate compare with the baseline?
 *
 * Each row of lib/protocols/matrix.js through a real client and a real server: time to a tunnel's first reply, round
 * trip, throughput in writes of 1 KiB, 64 KiB and 1 MiB, datagrams, 10, 100 and 1,000 tunnels at once, CPU seconds for
 * each GiB, peak memory. With CANDIDATE both sides of a row are up together and measured in turn, each pair of turns with
 * processes of its own and the order reversed from pair to pair.
 * Variables: PROTOCOL (rows, a list; a name may end with *), CANDIDATE (the absolute path of a binary, or xray),
 * CANDIDATE_ENGINE (sing-box, xray), BASELINE, BASELINE_ENGINE, TURNS, TUNNELS (a list), TARGET_THROUGHPUT (0.9),
 * TARGET_LATENCY (1.2), TARGET_MEMORY (1), TOLERANCE (0.05).
 */
import { roundsLoad } from '../../lib/dataplane/load.js';
import { ask } from '../../lib/dataplane/meter.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { currentProfile, envCount } from '../../lib/profiles.js';
import { showTurns } from '../../lib/protocols/live.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { selectedRows, sidesOf, targetsOf } from '../../lib/protocols/sides.js';
import { Turn, startSide, stopSide } from '../../lib/protocols/turn.js';
import { verdictOf } from '../../lib/protocols/verdict.js';

/** `alone` and `compared` are turns of each side. */
const PROFILES = {
  smoke: {
    alone: 1,
    compared: 2,
    handshakes: 20,
    round_trips: 200,
    datagrams: 100,
    mib: 8,
    tunnels: '10,100',
  },
  quick: {
    alone: 3,
    compared: 10,
    handshakes: 40,
    round_trips: 400,
    datagrams: 200,
    mib: 16,
    tunnels: '10,100,1000',
  },
  full: {
    alone: 10,
    compared: 20,
    handshakes: 100,
    round_trips: 2000,
    datagrams: 1000,
    mib: 64,
    tunnels: '10,100,1000',
  },
};
/** Turns in which tunnels are opened: a thousand of them take seconds. */
const TUNNEL_TURNS = { smoke: 1, quick: 1, full: 5 };

const profile = currentProfile();
if (!(profile in PROFILES))
  throw `PROFILE=${profile}: the matrix compares protocols under one load, so that its shape does not apply; choose smoke, quick or full`;
const size = /** @type {'smoke' | 'quick' | 'full'} */ (profile);
const base = PROFILES[size];
const { baseline, candidate } = sidesOf();
const sides = candidate ? [baseline, candidate] : [baseline];
const rows = selectedRows();
const turns = envCount('TURNS', candidate ? base.compared : base.alone);
if (turns > 50) throw `TURNS=${turns}: at most 50`;
const tunnels = (__ENV.TUNNELS || base.tunnels).split(',').map(Number);
if (tunnels.some((number) => !Number.isInteger(number) || number < 1 || number > 4096))
  throw `TUNNELS=${__ENV.TUNNELS}: whole numbers from 1 to 4096 are wanted`;
const targets = targetsOf();

/** @param {string} row @param {import('../../lib/protocols/sides.js').Side} side */
const operationOf = (row, side) =>
  row.replace(/[^a-z0-9]/g, '_') + (side.name === 'candidate' ? '_candidate' : '');

const operations = Object.fromEntries(
  rows.flatMap((row) =>
    sides
      .filter(({ engine }) => row.engines[engine] === true)
      .map((side) => [
        operationOf(row.row, side),
        {
          title: side.name === 'candidate' ? `${row.row}, candidate` : row.row,
          latencyIs: 'from a request of 1,024 bytes sent to its echo received',
          optional: true,
          bounds: { failed: 1, errors: undefined },
        },
      ]),
  ),
);

/** @typedef {import('../../lib/protocols/result.js').Notes} Notes */

const script = planeScenario({
  system: 'protocols',
  name: 'matrix',
  title: 'Every proxy protocol',
  load: roundsLoad(rows.map(() => ({ loop: 'closed', count: 1, factor: 1 }))),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    turns,
    handshakes: base.handshakes,
    round_trips: base.round_trips,
    datagrams: base.datagrams,
    transfer_mib: base.mib,
    tunnels: tunnels.join(','),
    ...(candidate ? { ...targets } : {}),
  },
  operations,
  ownInstances: true,
  // It has room for all tunnels, so that each row has the same far end, in namespaces too.
  echo: 'events',
  prepare() {
    ask('DELETE', '/notes');
    const instances = ask('GET', '/instances').map((/** @type {any} */ { id }) => id);
    return { instances };
  },
  round(_round, index, plane) {
    const row = rows[index];
    /** @type {Record<string, Notes>} */
    const notes = Object.fromEntries(
      sides.map(({ name }) => [name, { turns: [], outcomes: [], version: null }]),
    );
    const able = sides.filter(({ engine }) => row.engines[engine] === true);
    for (let turn = 0; turn < turns; turn += 1) measurePair(plane, row, able, turn, notes);
    for (const side of able) showTurns(operationOf(row.row, side), notes[side.name]);
    ask('POST', `/notes/${row.row}`, notes);
  },
  end(data) {
    const { instances } = /** @type {any} */ (data);
    for (const { id } of ask('GET', '/instances')) {
      if (!instances.includes(id)) ask('DELETE', `/instances/${id}`, undefined, 60_000);
    }
  },
  more: () => ({
    protocols: protocolsOf(ask('GET', '/notes'), { rows, baseline, candidate, turns, targets }),
  }),
  judge: (result) => {
    const { rows: found } = result.protocols;
    const interrupted = result.validity.some(
      (/** @type {any} */ { check, ok }) => check === 'complete' && ok === false,
    );
    return verdictOf(result, found, interrupted);
  },
});

/**
 * One turn of each side that still runs the row, in an order that is reversed from turn to turn.
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 * @param {import('../../lib/protocols/matrix.js').Row} row
 * @param {import('../../lib/protocols/sides.js').Side[]} able
 * @param {number} turn
 * @param {Record<string, Notes>} notes
 */
function measurePair(plane, row, able, turn, notes) {
  const running = able.filter(({ name }) =>
    notes[name].outcomes.every(({ outcome }) => outcome === 'measured' || outcome === 'errors'),
  );
  const up = running.map((side) => ({ side, started: startSide(row, side, plane) }));
  const sizes = { ...base, tunnels: turn < TUNNEL_TURNS[size] ? tunnels : [] };
  for (const { side, started } of turn % 2 === 0 ? up : [...up].reverse()) {
    const own = notes[side.name];
    if ('failed' in started) {
      own.outcomes.push(started.failed);
      continue;
    }
    own.version = Object.values(started.started.versions)[0] ?? null;
    const { figures, ...outcome } = new Turn(plane, started.started, operationOf(row.row, side)).measure(
      sizes,
      row.udp,
    );
    own.turns.push(figures);
    own.outcomes.push(outcome);
  }
  for (const { started } of up) stopSide(started);
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
