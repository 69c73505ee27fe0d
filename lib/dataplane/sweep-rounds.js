/**
 * The rounds of a sweep in k6: the value of the testbed's variable in each round, an instance with that value, and the
 * figures of each run.
 */
import { quantile, said, say } from 'k6/x/windtunnel/record';
import { order } from 'k6/x/windtunnel/difference';
import { envCount, sizesOf } from '../profiles.js';
import { findTestbed, tryFresh } from './fresh.js';
import { stop } from '../meter.js';
import { sweepSection } from './sweep.js';

/**
 * @typedef {import('./fresh.js').Found} Found
 * @typedef {{ value: string, run: number }} Turn one run of one value
 * @typedef {import('./fresh.js').Started} Started
 */

/** @template T @param {{ smoke: T, quick: T, full: T }} sizes */
export const sweepSizes = (sizes) =>
  sizesOf(sizes, "a sweep compares values under one constant load, so a profile's load shape does not apply");

/** @returns {string[]} */
function readValues() {
  const values = (__ENV.VALUES || '').split(',').map((text) => text.trim());
  const unfit = values.find((value) => !/^[A-Za-z0-9._-]+$/.test(value));
  if (
    unfit !== undefined ||
    new Set(values).size !== values.length ||
    values.length < 2 ||
    values.length > 12
  )
    throw `VALUES=${__ENV.VALUES ?? ''}: 2 to 12 different values of letters, digits, dots and dashes are wanted, such as 64,128`;
  return values;
}

/** Name of the note on the rounds. @typedef {{ runs: Record<string, import('./sweep.js').SweepRun[]>, refused: Record<string, string> }} Rounds */
const ROUNDS = 'sweep';

/** @param {string} value */
const operationOf = (value) => `value_${value.replace(/[^A-Za-z0-9]/g, '_')}`;

/** The sweep of the variables SWEEP, VALUES and RUNS. */
export class SweepRounds {
  /** @param {number} runs default number of runs of each value */
  constructor(runs) {
    this.variable = __ENV.SWEEP;
    if (!this.variable)
      throw 'SWEEP is not set: name a variable of the testbed, and VALUES for it, such as SWEEP=gogc VALUES=50,100,200';
    this.values = readValues();
    this.runs = envCount('RUNS', runs);
    /** Runs by value, and the reasons of values with which the system does not start. @type {Rounds} */
    this.rounded = { runs: {}, refused: {} };
  }

  /** Number of rounds. Each round is one run of one value. */
  get rounds() {
    return this.runs * this.values.length;
  }

  get parameters() {
    return { sweep: this.variable, values: this.values.join(','), runs: this.runs };
  }

  /**
   * A row for each value.
   * @param {import('./scenario.js').PlaneOperation} row
   * @returns {Record<string, import('./scenario.js').PlaneOperation>}
   */
  operations(row) {
    const entries = this.values.map((value) => [
      operationOf(value),
      // A value that the system refuses has no measurements.
      { ...row, title: `${this.variable} = ${value}`, optional: true },
    ]);
    return Object.fromEntries(entries);
  }

  /**
   * The value of a round. Each run of all values has a random order, so that temporary noise affects all values alike.
   * @param {number} index
   * @param {string} runId
   * @returns {Turn & { operation: string }}
   */
  turn(index, runId) {
    const count = this.values.length;
    const run = Math.floor(index / count);
    const value = this.values[order(count, run + 1, runId)[index % count]];
    return { value, run, operation: operationOf(value) };
  }

  /** In setup(): the testbed of the variable INSTANCE is swept. @returns {{ found: Found }} */
  findTestbed() {
    if (!__ENV.INSTANCE)
      throw 'a sweep starts its own testbeds and must know which: run it with make, such as `make dataplane-queue-sweep`';
    const found = findTestbed();
    const { testbed, variables, types } = found;
    if (!(this.variable in types)) {
      throw `SWEEP=${this.variable}: testbed ${testbed} has no such variable; it has ${Object.keys(types).join(', ')}`;
    }
    if (!this.values.includes(String(variables[this.variable]))) {
      throw `VALUES=${this.values.join(',')}: ${variables[this.variable]}, which testbed ${testbed} has without the sweep, must be among them`;
    }
    return { found };
  }

  /** A value with the type of the testbed's variable. @param {string} text @param {Found} found */
  typed(text, { types }) {
    if (types[this.variable] === 'integer') return Number(text);
    return types[this.variable] === 'boolean' ? text === 'true' : text;
  }

  /**
   * Runs one value with new processes, unless the system has already refused the value.
   * @param {Turn} turn
   * @param {Found} found
   * @param {(instance: Started) => import('../meter.js').Measured | null} measure
   */
  run(turn, found, measure) {
    const { value } = turn;
    if (value in this.rounded.refused) return;
    const overrides = { [this.variable]: this.typed(value, found) };
    const { used: measured, refused } = tryFresh(found, overrides, measure);
    if (refused === null) {
      this.note(turn, measured ? figuresOf(measured) : CARRIED_NOTHING);
      return;
    }
    if (value === String(found.variables[this.variable])) stop(`sidecar: ${refused}`);
    this.rounded.refused[value] = refused;
    say(ROUNDS, this.rounded);
  }

  /** @param {Turn} turn @param {Omit<import('./sweep.js').SweepRun, 'round'>} figures */
  note({ value, run }, figures) {
    // A repeat replaces the discarded run.
    const others = (this.rounded.runs[value] ?? []).filter(({ round }) => round !== run);
    this.rounded.runs[value] = [...others, { round: run, ...figures }];
    say(ROUNDS, this.rounded);
  }

  /** The sweep as a table, in handleSummary(). @param {Found} found */
  section(found) {
    /** @type {Rounds} */
    const { runs, refused } = said()[ROUNDS] ?? this.rounded;
    const values = this.values.map((value) => ({
      value: this.typed(value, found),
      runs: runs[value] ?? [],
      refused: refused[value] ?? null,
    }));
    return sweepSection(this.variable, values, found.variables[this.variable], this.runs);
  }
}

/** Figures of a run that could not be measured. */
const CARRIED_NOTHING = {
  mbit_per_s: 0,
  rtt_p95_ms: null,
  rtt_p99_ms: null,
  peak_rss_bytes: null,
  lost_share: 1,
};

/** @param {import('../meter.js').Measured} measured */
function figuresOf(measured) {
  const { outcome } = measured;
  return {
    mbit_per_s: (outcome.bytes * 8) / outcome.duration_s / 1e6,
    rtt_p95_ms: quantile([measured], 'round_trip', 0.95),
    rtt_p99_ms: quantile([measured], 'round_trip', 0.99),
    peak_rss_bytes: outcome.usage?.total.peak_rss_bytes || null,
    lost_share: 1 - outcome.succeeded / outcome.attempted,
  };
}
