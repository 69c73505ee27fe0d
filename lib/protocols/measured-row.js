/**
 * Measures the turns of one row of the matrix. Both sides run at the same time, with new processes in each turn. The results
 * are kept even if the row fails.
 */
import { say } from 'k6/x/windtunnel/record';
import { noteCosts } from './costs.js';
import { crossed } from './cross.js';
import { programsOf, withSides } from './instances.js';
import { showTurns } from './live.js';
import { runs } from './matrix.js';
import { goesOn, worst } from './outcome.js';
import { operationOf } from './row-operation.js';
import { SideBySide } from './side-by-side.js';
import { deviceOf } from './tun.js';
import { Turn } from './turn.js';
import { TurnCpu, awaitQuiet } from './turn-cpu.js';
import { undisturbed } from './undisturbed.js';
import { lookAt } from './wire.js';

/**
 * @typedef {import('./side-by-side.js').Begun} Begun
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./result.js').Notes} Notes
 *
 * @typedef {object} Measures the measurements of a turn; turns are numbered from 0
 * @property {(sides: SideBySide, number: number) => void} turn
 * @property {(turn: Turn, number: number) => void} tunnels opens many tunnels, through new processes: the memory of the other
 *   processes has grown already
 * @property {(sides: SideBySide, number: number) => void} [after] called after a turn's figures, before its processes end
 * @property {number} tunnelTurns number of first turns that open tunnels
 * @property {number} quietS quiet period at the end of each turn, s
 */

/** Sides whose executable files were hashed. Once is enough, since the files are large. @type {Set<string>} */
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
    this.able = this.sides.filter((side) => runs(row, side) === true);
    /** @type {Record<string, Notes>} */
    this.notes = Object.fromEntries(
      this.sides.map(({ name }) => [name, { turns: [], outcomes: [], version: null }]),
    );
    this.turns = 0;
    this.asked = false;
    /** @type {number | null} size of a transfer; null until the row's speed is known */
    this.bytes = null;
  }

  /** Measures turns until there are `count`. @param {number} count */
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

  /** Measures what the row costs to keep running. Call it after the planned turns. */
  async keep() {
    await noteCosts(this.plane, this.row, this.able, this.notes);
    say(this.row.row, this.notes);
  }

  /** Measures one more turn, unless there are `most` or a side has stopped. @param {number} most */
  more(most) {
    if (this.turns >= most || !this.sides.every(({ name }) => goesOn(this.notes[name]))) return false;
    this.go(this.turns + 1);
    return true;
  }

  /** Tests once whether the candidate is compatible with the baseline. */
  speaks() {
    this.asked = true;
    if (this.candidate === null) return;
    const { outcome, roundTrips } = crossed(this.row, this.baseline, this.candidate, this.plane);
    this.notes.baseline.roundTrips = roundTrips.baseline;
    this.notes.candidate.roundTrips = roundTrips.candidate;
    if (outcome) this.notes.candidate.outcomes.push(outcome);
  }

  /** Measures one turn of each side that still runs the row. @param {number} number */
  pair(number) {
    // A disturbed first turn gives no valid speed.
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
      this.measures.after?.(measured, number);
      return measured;
    });
    if (number < this.measures.tunnelTurns) this.openTunnels(both, number);
  }

  /** Captures each side's hop, before and after the timed probes. @param {SideBySide} both @param {number} number @param {boolean} fresh */
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
   * @param {string} what purpose, for the name of the log
   * @param {(up: import('./instances.js').Started[]) => T} use
   * @returns {T}
   */
  withProcesses(sides, what, use) {
    const { row, plane } = this;
    return withSides(
      sides.map((side) => ({ row, side, server: side.server, logName: `${row.row}/${side.name}-${what}` })),
      plane,
      use,
    );
  }

  /** @param {Side[]} running @param {import('./instances.js').Started[]} up @returns {Begun[]} sides that started */
  begin(running, up) {
    return running.flatMap((side, index) => {
      const [own, started] = [this.notes[side.name], up[index]];
      if ('failed' in started) {
        own.outcomes.push(started.failed);
        return [];
      }
      own.ran ??= looked.has(side.name) ? [] : programsOf(started.started.id);
      looked.add(side.name);
      own.tun ??= deviceOf(this.row, started.started.id);
      own.version = Object.values(started.started.versions)[0] ?? null;
      const turn = new Turn(this.plane, [started.started], operationOf(this.row.row, side));
      return [{ side, own, turn }];
    });
  }

  /** Opens a turn's tunnels, for the sides that still carry traffic. @param {SideBySide} both @param {number} number */
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
