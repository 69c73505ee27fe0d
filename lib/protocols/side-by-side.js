/** One turn of both sides of a row, in small steps that alternate between the sides. */
import { order } from 'k6/x/windtunnel/difference';
import { tooSlow } from './outcome.js';
import { bytesFor } from './transfer.js';

/**
 * @typedef {import('./turn.js').Turn} Turn
 * @typedef {{ side: import('./sides.js').Side, own: import('./result.js').Notes, turn: Turn }} Begun one side's turn and notes
 */

export class SideBySide {
  /**
   * @param {Begun[]} begun the baseline first
   * @param {{ row: import('./matrix.js').Row, number: number, lot: string, bytes: number | null }} of `number` of the turn;
   *   `lot` is the seed of the random order; `bytes` is the size of a transfer, null if the row's speed is unknown
   */
  constructor(begun, { row, number, lot, bytes }) {
    this.begun = begun;
    this.row = row;
    this.number = number;
    this.lot = lot;
    this.bytes = bytes;
    /** Sides that are still measured, in the order of the next step. */
    this.going = begun;
    /** @type {ReturnType<typeof tooSlow>} why the candidate was cut short */
    this.slow = null;
  }

  /** Sides with at least one answer. */
  get carrying() {
    return this.begun.filter(({ turn }) => turn.figures.rtt_ms || turn.figures.handshake_ms);
  }

  /** The link of both sides; null on loopback. */
  get link() {
    return this.begun[0]?.turn.plane.data.link ?? null;
  }

  /** Draws which side begins, so that temporary noise affects both sides alike. */
  drawLots() {
    this.going = order(this.begun.length, this.number + 1, this.lot).map((place) => this.begun[place]);
  }

  /** Alternates the sides: with few turns, each side then begins equally often. */
  takeTurns() {
    const going = this.begun.filter((one) => this.going.includes(one));
    this.going = this.number % 2 === 0 ? going : going.reverse();
  }

  /** @param {(turn: Turn) => void} step @param {{ backwards: boolean }} [how] backwards: in reverse order */
  each(step, { backwards } = { backwards: false }) {
    for (const { turn } of backwards ? this.going.toReversed() : this.going) step(turn);
  }

  /** Drops sides that carry no traffic. @param {(turn: Turn) => boolean} carries */
  keep(carries) {
    this.going = this.going.filter(({ turn }) => carries(turn));
  }

  /**
   * Size of a transfer, which is determined once per row. A candidate that is far too slow is cut short: it has failed already,
   * and would take most of the run's time.
   * @param {number} seconds planned duration of a transfer
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

  /** Adds the turn's figures and outcome to the notes. */
  end() {
    for (const { side, own, turn } of this.begun) {
      own.outcomes.push(turn.end());
      own.turns.push(turn.figures);
      if (this.slow && side.name === 'candidate')
        own.outcomes.push({
          outcome: 'too slow',
          detail: [this.slow.detail, ...turn.limits].join('; '),
          // A program that waits for a CPU is slow on a busy machine.
          busy: this.slow.busy,
        });
    }
  }
}
