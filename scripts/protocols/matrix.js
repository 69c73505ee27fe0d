/**
 * How does each proxy protocol perform, and how does a candidate compare with the baseline?
 *
 * Each row of lib/protocols/matrix.js through a real client and a real server: time to a tunnel's first reply, round
 * trip, downloads in writes of 1 KiB, 64 KiB and 1 MiB, uploads, datagrams, 10, 100 and 1,000 tunnels at once, CPU seconds
 * for each GiB, peak memory. With CANDIDATE both sides of a row are up together and measured in turn, each pair of turns with
 * processes of its own, in an order that is by lot. The first pair finds out how long a transfer has to be. Rows that the turns
 * of the profile have not decided then have further ones, for MINUTES at most.
 */
import { mostMinutes, order } from 'k6/x/windtunnel/difference';
import { said, say } from 'k6/x/windtunnel/record';
import { roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { currentProfile, envCount, envList, sizesOf } from '../../lib/profiles.js';
import { crossed } from '../../lib/protocols/cross.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { goFurther } from '../../lib/protocols/further.js';
import { instanceIds, programsOf, startSides, stopAllBut, stopSides } from '../../lib/protocols/instances.js';
import { showTurns } from '../../lib/protocols/live.js';
import { goesOn, tooSlow, worst } from '../../lib/protocols/outcome.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { namedProgram, selectedRows, sidesOf, targetsOf } from '../../lib/protocols/sides.js';
import { bytesFor } from '../../lib/protocols/transfer.js';
import { Turn } from '../../lib/protocols/turn.js';
import { undisturbed } from '../../lib/protocols/undisturbed.js';
import { TURNS_MOST, undecidedRows, verdictOf } from '../../lib/protocols/verdict.js';

/**
 * `alone` and `compared` are turns of each side; in the first of them, `extra`, datagrams, other sizes of writes and tunnels
 * are measured, too. As many of them begin with the one side as with the other. `round_trips` and `transfer_s` are of each of
 * PASSES parts.
 */
const PROFILES = {
  smoke: {
    alone: 1,
    compared: 2,
    extra: 2,
    handshakes: 20,
    round_trips: 50,
    datagrams: 100,
    transfer_s: 0.025,
    tunnels: '10,100',
  },
  quick: {
    alone: 3,
    compared: 8,
    extra: 2,
    handshakes: 30,
    round_trips: 75,
    datagrams: 100,
    transfer_s: 0.06,
    tunnels: '10,100,1000',
  },
  full: {
    alone: 10,
    compared: 12,
    extra: 4,
    handshakes: 100,
    round_trips: 250,
    datagrams: 500,
    transfer_s: 0.15,
    tunnels: '10,100,1000',
  },
};
const base = sizesOf(
  PROFILES,
  'the matrix compares protocols under one load, so that its shape does not apply',
);
const { baseline, candidate } = sidesOf();
const sides = candidate ? [baseline, candidate] : [baseline];
const digests = Object.fromEntries(sides.map((side) => [side.name, digestOf(namedProgram(side))]));
const rows = selectedRows('protocols/matrix');
const turns = envCount('TURNS', candidate ? base.compared : base.alone);
/** For further turns, all rows together; 0 where their number is fixed, or where there is nothing to decide. */
const minutes = candidate && !__ENV.TURNS ? envCount('MINUTES', mostMinutes(currentProfile())) : 0;
const tunnels = envList('TUNNELS', base.tunnels).map(Number);
const targets = targetsOf();
/** Round trips and transfers of a turn are in so many parts, in turn with those of the other side: A B, B A, A B, B A. */
const PASSES = 4;
/** So many at once take seconds to open: in half of the extra turns. Every other row begins with the other side. */
const MANY_TUNNELS = 500;
const extra = Math.min(turns, base.extra);

/** Tunnels of an extra turn, the fewest first. @param {number} turn */
const tunnelsOf = (turn) =>
  tunnels.filter((number) => number < MANY_TUNNELS || turn < extra / 2).sort((a, b) => a - b);

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

/**
 * @typedef {import('../../lib/protocols/result.js').Notes} Notes
 * @typedef {{ side: import('../../lib/protocols/sides.js').Side, own: Notes, turn: Turn }} Begun one side's turn
 */

const script = planeScenario({
  system: 'protocols',
  name: 'matrix',
  title: 'Every proxy protocol',
  // The last round is of further turns.
  load: roundsLoad(
    Array.from({ length: rows.length + Number(minutes > 0) }, () => ({
      loop: 'closed',
      count: 1,
      factor: 1,
    })),
  ),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    turns,
    handshakes: base.handshakes,
    round_trips: PASSES * base.round_trips,
    datagrams: base.datagrams,
    transfer_s: PASSES * base.transfer_s,
    tunnels: tunnels.join(','),
    ...(candidate ? { ...targets } : {}),
  },
  operations,
  ownInstances: true,
  // It has room for all tunnels, so that each row has the same far end, in namespaces too.
  echo: 'events',
  prepare() {
    return { instances: instanceIds() };
  },
  round(_round, index, plane) {
    if (index === rows.length) further();
    else {
      measured[index] = new Measured(plane, index);
      measured[index].go(turns);
    }
  },
  end(data) {
    const { instances } = /** @type {any} */ (data);
    stopAllBut(instances);
  },
  more() {
    const { [LOOKS]: looks, ...notes } = said();
    return { protocols: protocolsOf(notes, askedWith(looks ?? (minutes > 0 ? [turns] : []))) };
  },
  judge: (result) => verdictOf(result, result.protocols.rows, candidate !== null),
});

/** The note that has them; no row is called so. */
const LOOKS = '-looks';

/** @param {number[]} looks @returns {import('../../lib/protocols/result.js').Asked} */
const askedWith = (looks) => ({
  rows,
  baseline,
  candidate,
  turns,
  extraTurns: extra,
  looks,
  targets,
  digests,
});

/** Sides whose programs were looked at: once is enough, as their files are large. @type {Set<string>} */
const looked = new Set();

/** @type {Measured[]} of this VU, the only one */
const measured = [];

function further() {
  const notes = Object.fromEntries(measured.map((one) => [one.row.row, one.notes]));
  goFurther({
    planned: turns,
    most: TURNS_MOST,
    until: Date.now() + minutes * 60_000,
    undecided: (looks) => undecidedRows(protocolsOf(notes, askedWith(looks)).rows),
    turn: (row, most) => measured[row].more(most),
    note: (looks) => say(LOOKS, looks),
  });
}

/** @param {Turn} turn @param {any} instance @param {number} number of the turn */
function tunnelled(turn, instance, number) {
  turn.moveTo([instance]);
  for (const count of tunnelsOf(number)) turn.tunnels(count);
  return turn.end();
}

/** The turns of one row. */
class Measured {
  /**
   * @param {import('../../lib/dataplane/scenario.js').Plane} plane
   * @param {number} index of the row
   */
  constructor(plane, index) {
    this.plane = plane;
    this.row = rows[index];
    /** @type {Record<string, Notes>} */
    this.notes = Object.fromEntries(
      sides.map(({ name }) => [name, { turns: [], outcomes: [], version: null }]),
    );
    this.able = sides.filter(({ engine }) => this.row.engines[engine] === true);
    this.lot = `${plane.data.runId} ${this.row.row}`;
    this.turns = 0;
    this.asked = false;
    /** @type {number | null} of a transfer, once it is known how fast the row is */
    this.bytes = null;
  }

  /** Once: whether the candidate speaks what the baseline speaks. */
  speaks() {
    this.asked = true;
    if (candidate === null) return;
    const { outcome, roundTrips } = crossed(this.row, baseline, candidate, this.plane);
    this.notes.baseline.roundTrips = roundTrips.baseline;
    this.notes.candidate.roundTrips = roundTrips.candidate;
    if (outcome) this.notes.candidate.outcomes.push(outcome);
  }

  /** Turns until there are so many; what was measured is kept, however it ends. @param {number} count */
  go(count) {
    try {
      if (!this.asked) this.speaks();
      for (; this.turns < count; this.turns += 1) {
        const name = `${this.row.row}, turn ${this.turns + 1}`;
        undisturbed(this.plane, name, Object.values(this.notes), () => this.pair(this.turns));
      }
    } finally {
      for (const side of this.able) showTurns(operationOf(this.row.row, side), this.notes[side.name]);
      say(this.row.row, this.notes);
    }
  }

  /** One turn more, where there are fewer than so many and both sides go on. @param {number} most */
  more(most) {
    if (this.turns >= most || !sides.every(({ name }) => goesOn(this.notes[name]))) return false;
    this.go(this.turns + 1);
    return true;
  }

  /** One turn of each side that still runs the row. @param {number} turn */
  pair(turn) {
    // One that others disturbed has not told how fast the row is.
    if (turn === 0) this.bytes = null;
    const running = this.able.filter(({ name }) => goesOn(this.notes[name]));
    const carrying = this.take(running, turn);
    if (turn < extra) this.openTunnels(carrying, turn);
  }

  /** @param {import('../../lib/protocols/sides.js').Side[]} running @param {number} turn @returns {Begun[]} those that carry */
  take(running, turn) {
    const { row, plane } = this;
    const up = startSides(
      running.map((side) => ({
        row,
        side,
        server: side.server,
        logName: `${row.row}/${side.name}-turn-${turn + 1}`,
      })),
      plane,
    );
    try {
      const begun = running.flatMap((side, index) => {
        const [own, started] = [this.notes[side.name], up[index]];
        if ('failed' in started) {
          own.outcomes.push(started.failed);
          return [];
        }
        own.ran ??= looked.has(side.name) ? [] : programsOf(started.started.id);
        looked.add(side.name);
        own.version = Object.values(started.started.versions)[0] ?? null;
        return [{ side, own, turn: new Turn(plane, [started.started], operationOf(row.row, side)) }];
      });
      return this.measure(begun, turn);
    } finally {
      stopSides(up);
    }
  }

  /**
   * Which side begins is by lot: what comes and goes then meets either side alike.
   * @param {Begun[]} begun
   * @param {number} number of the turn
   * @returns {Begun[]} those that still carry both ways
   */
  measure(begun, number) {
    if (number === 0) for (const { turn } of begun) turn.rest();
    const drawn = order(begun.length, number + 1, this.lot).map((place) => begun[place]);
    let reached = drawn.filter(({ turn }) => turn.reach(base));
    const slow = this.slowness(reached);
    // It has failed already, and would take most of the run.
    if (slow) reached = [];
    const bytes = Number(this.bytes);
    for (let pass = 0; pass < PASSES; pass += 1) {
      // What drifts meanwhile meets both alike.
      const now = pass % 2 === 0 ? reached : reached.toReversed();
      // The first round trips were those of `reach`.
      if (pass > 0) for (const { turn } of now) turn.trips(base.round_trips);
      for (const { turn } of now) turn.bulk(bytes);
      // What carries nothing costs seconds each time.
      reached = reached.filter(({ turn }) => turn.carries());
    }
    if (number < extra)
      for (const { turn } of this.inTurn(reached, number)) turn.extras(base, bytes, this.row.udp);
    this.finish(begun, slow);
    return slow ? [] : reached;
  }

  /** @param {Begun[]} begun @param {string | null} slow why the candidate is cut short */
  finish(begun, slow) {
    for (const { side, own, turn } of begun) {
      own.outcomes.push(turn.end());
      own.turns.push(turn.figures);
      if (slow && side.name === 'candidate')
        own.outcomes.push({ outcome: 'too slow', detail: [slow, ...turn.limits].join('; ') });
    }
  }

  /**
   * Why the candidate is cut short, or null; and, the first time, how long a transfer has to be.
   * @param {Begun[]} reached
   */
  slowness(reached) {
    const figures = Object.fromEntries(reached.map(({ side, turn }) => [side.name, { ...turn.figures }]));
    if (reached.length > 0 && this.bytes === null) {
      const rates = reached.map(({ turn }) => turn.rate());
      for (const [index, { side }] of reached.entries()) figures[side.name].bytes_per_s = rates[index];
      this.bytes = bytesFor(rates, base.transfer_s);
    }
    return tooSlow(figures.baseline, figures.candidate);
  }

  /** Of so few turns as many begin with the one side as with the other. @param {Begun[]} begun @param {number} number of the turn */
  inTurn(begun, number) {
    const own = this.able.flatMap(({ name }) => begun.filter(({ side }) => side.name === name));
    return number % 2 === 0 ? own : own.reverse();
  }

  /**
   * The turns' tunnels, through processes of their own: the others have grown by what they carried.
   * @param {Begun[]} reached
   * @param {number} number of the turn
   */
  openTunnels(reached, number) {
    const carrying = this.inTurn(reached, number);
    const up = startSides(
      carrying.map(({ side }) => ({
        row: this.row,
        side,
        server: side.server,
        logName: `${this.row.row}/${side.name}-tunnels-${number + 1}`,
      })),
      this.plane,
    );
    try {
      for (const [index, { own, turn }] of carrying.entries()) {
        const started = up[index];
        const before = own.outcomes.splice(-1);
        own.outcomes.push(
          worst(['failed' in started ? started.failed : tunnelled(turn, started.started, number), ...before]),
        );
      }
    } finally {
      stopSides(up);
    }
  }
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
