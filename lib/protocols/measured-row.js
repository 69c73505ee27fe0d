/**
 * The turns of one row of the matrix. Both sides are up together, each turn with processes of its own, and what was measured
 * is kept, however it ends.
 */
import { say } from 'k6/x/windtunnel/record';
import { crossed } from './cross.js';
import { programsOf, startSides, stopSides } from './instances.js';
import { showTurns } from './live.js';
import { goesOn, worst } from './outcome.js';
import { operationOf } from './row-operation.js';
import { SideBySide } from './side-by-side.js';
import { Turn } from './turn.js';
import { TurnCpu, awaitQuiet } from './turn-cpu.js';
import { undisturbed } from './undisturbed.js';
import { lookAt } from './wire.js';

/**
 * @typedef {import('./side-by-side.js').Begun} Begun
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./result.js').Notes} Notes
 *
 * @typedef {object} Measures what a turn does; turns are numbered from 0
 * @property {(sides: SideBySide, number: number) => void} turn
 * @property {(turn: Turn, number: number) => void} tunnels through processes of their own: the others have grown by what
 *   they carried
 * @property {number} tunnelTurns the first turns so many, of which each opens tunnels
 * @property {number} quietS seconds of the quiet period at the end of each turn
 */

/** Sides whose programs were looked at: once is enough, as their files are large. @type {Set<string>} */
const looked = new Set();

export class MeasuredRow {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {import('./matrix.js').Row} row
   * @param {{ baseline: Side, candidate: Side | null }} compared
   * @param {Measures} measures
   */
  constructor(plane, row, { baseline, candidate }, measures) {
    this.plane = plane;
    this.row = row;
    this.baseline = baseline;
    this.candidate = candidate;
    this.measures = measures;
    this.sides = candidate ? [baseline, candidate] : [baseline];
    this.able = this.sides.filter(({ engine }) => row.engines[engine] === true);
    /** @type {Record<string, Notes>} */
    this.notes = Object.fromEntries(
      this.sides.map(({ name }) => [name, { turns: [], outcomes: [], version: null }]),
    );
    this.turns = 0;
    this.asked = false;
    /** @type {number | null} of a transfer, once it is known how fast the row is */
    this.bytes = null;
  }

  /** Turns until there are so many. @param {number} count */
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
    if (this.turns >= most || !this.sides.every(({ name }) => goesOn(this.notes[name]))) return false;
    this.go(this.turns + 1);
    return true;
  }

  /** Once: whether the candidate speaks what the baseline speaks. */
  speaks() {
    this.asked = true;
    if (this.candidate === null) return;
    const { outcome, roundTrips } = crossed(this.row, this.baseline, this.candidate, this.plane);
    this.notes.baseline.roundTrips = roundTrips.baseline;
    this.notes.candidate.roundTrips = roundTrips.candidate;
    if (outcome) this.notes.candidate.outcomes.push(outcome);
  }

  /** One turn of each side that still runs the row. @param {number} number */
  pair(number) {
    // One that others disturbed has not told how fast the row is.
    if (number === 0) this.bytes = null;
    const running = this.able.filter(({ name }) => goesOn(this.notes[name]));
    const both = this.withProcesses(running, `turn-${number + 1}`, (up) => {
      const measured = this.beside(this.begin(running, up), number);
      const cpus = measured.begun.map(({ turn }) => new TurnCpu(turn));
      this.look(measured, number, true);
      this.measures.turn(measured, number);
      this.look(measured, number, false);
      awaitQuiet(cpus, this.measures.quietS);
      this.bytes = measured.bytes;
      measured.end();
      return measured;
    });
    if (number < this.measures.tunnelTurns) this.openTunnels(both, number);
  }

  /** At each side's hop, before what is timed and after it. @param {SideBySide} both @param {number} number @param {boolean} fresh */
  look(both, number, fresh) {
    for (const begun of fresh ? both.begun : both.carrying)
      lookAt(begun, this.row, `turn ${number + 1}`, fresh);
  }

  /** @param {Begun[]} begun @param {number} number */
  beside(begun, number) {
    const { row, bytes, plane } = this;
    return new SideBySide(begun, { row, number, bytes, lot: `${plane.data.runId} ${row.row}` });
  }

  /**
   * @template T
   * @param {Side[]} sides
   * @param {string} what they are started for
   * @param {(up: import('./instances.js').Started[]) => T} use
   * @returns {T}
   */
  withProcesses(sides, what, use) {
    const { row, plane } = this;
    const up = startSides(
      sides.map((side) => ({ row, side, server: side.server, logName: `${row.row}/${side.name}-${what}` })),
      plane,
    );
    try {
      return use(up);
    } finally {
      stopSides(up);
    }
  }

  /** @param {Side[]} running @param {import('./instances.js').Started[]} up @returns {Begun[]} those that have started */
  begin(running, up) {
    return running.flatMap((side, index) => {
      const [own, started] = [this.notes[side.name], up[index]];
      if ('failed' in started) {
        own.outcomes.push(started.failed);
        return [];
      }
      own.ran ??= looked.has(side.name) ? [] : programsOf(started.started.id);
      looked.add(side.name);
      own.version = Object.values(started.started.versions)[0] ?? null;
      const turn = new Turn(this.plane, [started.started], operationOf(this.row.row, side));
      return [{ side, own, turn }];
    });
  }

  /** A turn's tunnels, of the sides that still carry. @param {SideBySide} both @param {number} number */
  openTunnels(both, number) {
    both.takeTurns();
    const sides = both.going.map(({ side }) => side);
    this.withProcesses(sides, `tunnels-${number + 1}`, (up) => {
      for (const [index, { own, turn }] of both.going.entries()) {
        const started = up[index];
        const before = own.outcomes.splice(-1);
        const ended =
          'failed' in started ? started.failed : this.tunnelled(own, turn, started.started, number);
        own.outcomes.push(worst([ended, ...before]));
      }
    });
  }

  /** @param {Notes} own @param {Turn} turn @param {any} instance @param {number} number */
  tunnelled(own, turn, instance, number) {
    turn.moveTo([instance]);
    lookAt({ own, turn }, this.row, `turn ${number + 1}, many tunnels`, true);
    this.measures.tunnels(turn, number);
    return turn.end();
  }
}
