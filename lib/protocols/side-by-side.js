/** One turn of each side of a row, one beside the other: a step is of the one, then of the other. */
import { order } from 'k6/x/windtunnel/difference';
import { tooSlow } from './outcome.js';
import { bytesFor } from './transfer.js';

/**
 * @typedef {import('./turn.js').Turn} Turn
 * @typedef {{ side: import('./sides.js').Side, own: import('./result.js').Notes, turn: Turn }} Begun one side's turn
 */

export class SideBySide {
  /**
   * @param {Begun[]} begun the baseline's first
   * @param {{ row: import('./matrix.js').Row, number: number, lot: string, bytes: number | null }} of `number` of the turn;
   *   `lot` names what is drawn; `bytes` of a transfer, null where it is not known how fast the row is
   */
  constructor(begun, { row, number, lot, bytes }) {
    this.begun = begun;
    this.row = row;
    this.number = number;
    this.lot = lot;
    this.bytes = bytes;
    /** Those that are still measured, in the order of the next step. */
    this.going = begun;
    /** @type {ReturnType<typeof tooSlow>} why the candidate is cut short */
    this.slow = null;
  }

  /** Those through which something has come. */
  get carrying() {
    return this.begun.filter(({ turn }) => turn.figures.rtt_ms || turn.figures.handshake_ms);
  }

  /** That both go over; null on loopback. */
  get link() {
    return this.begun[0]?.turn.plane.data.link ?? null;
  }

  /** Which side begins is by lot: what comes and goes then meets either side alike. */
  drawLots() {
    this.going = order(this.begun.length, this.number + 1, this.lot).map((place) => this.begun[place]);
  }

  /** Of so few turns as many begin with the one side as with the other. */
  takeTurns() {
    const own = this.begun.filter((one) => this.going.includes(one));
    this.going = this.number % 2 === 0 ? own : own.reverse();
  }

  /** @param {(turn: Turn) => void} step @param {{ backwards: boolean }} [how] backwards: the last side first */
  each(step, { backwards } = { backwards: false }) {
    for (const { turn } of backwards ? this.going.toReversed() : this.going) step(turn);
  }

  /** The others are measured no further. @param {(turn: Turn) => boolean} carries */
  keep(carries) {
    this.going = this.going.filter(({ turn }) => carries(turn));
  }

  /**
   * How long a transfer has to be, which is found out once for a row. A candidate that is far too slow is cut short: it has
   * failed already, and would take most of the run.
   * @param {number} seconds that it is to take
   * @returns {number} bytes
   */
  transferBytes(seconds) {
    const { going } = this;
    const figures = Object.fromEntries(going.map(({ side, turn }) => [side.name, { ...turn.figures }]));
    if (going.length > 0 && this.bytes === null) {
      const rates = going.map(({ turn }) => turn.rate());
      for (const [index, { side }] of going.entries()) figures[side.name].bytes_per_s = rates[index];
      this.bytes = bytesFor(rates, seconds);
    }
    this.slow = tooSlow(figures.baseline, figures.candidate);
    if (this.slow) this.going = [];
    return Number(this.bytes);
  }

  /** What the turn has measured, and how it ended, goes into the notes. */
  end() {
    for (const { side, own, turn } of this.begun) {
      own.outcomes.push(turn.end());
      own.turns.push(turn.figures);
      if (this.slow && side.name === 'candidate')
        own.outcomes.push({
          outcome: 'too slow',
          detail: [this.slow.detail, ...turn.limits].join('; '),
          // A program that waits for a CPU is slow, whatever it is.
          busy: this.slow.busy,
        });
    }
  }
}
