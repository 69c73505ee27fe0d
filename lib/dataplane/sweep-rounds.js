/**
 * The rounds of a sweep on k6's side: which value of a testbed's variable a round is about, a testbed
 * instance with that value, and the figures of each run, kept for sweep.js by gauges.
 */
import { Gauge } from 'k6/metrics';
import { order } from 'k6/x/windtunnel/difference';
import { envCount, sizesOf } from '../profiles.js';
import { findTestbed, tryFresh } from './fresh.js';
import { ask, stop, tryAsk } from './meter.js';
import { record } from './held.js';
import { RUNS_MOST, sweepOf } from './sweep.js';

/** A gauge without a sample reads 0: `done` tells the two apart. */
const FIGURES = /** @type {const} */ ([
  'mbit_per_s',
  'rtt_p95_ms',
  'rtt_p99_ms',
  'peak_rss_bytes',
  'lost_share',
  'done',
]);

/**
 * @typedef {import('./fresh.js').Found} Found
 * @typedef {{ value: string, run: number }} Turn one run of one value
 * @typedef {import('./fresh.js').Started} Started
 */

/** @template T @param {{ smoke: T, quick: T, full: T }} sizes */
export const sweepSizes = (sizes) =>
  sizesOf(sizes, 'a sweep compares values under one load, so that its shape does not apply');

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

/** The note of why values were refused. */
const REFUSED = 'refused';

/** @param {string} value */
const operationOf = (value) => `value_${value.replace(/[^A-Za-z0-9]/g, '_')}`;

/** @param {string} figure @param {Turn} turn */
const submetricOf = (figure, { value, run }) => `sweep_${figure}{operation:${operationOf(value)},run:${run}}`;

/** @param {number[]} sorted @param {number} share */
const at = (sorted, share) => sorted[Math.ceil(sorted.length * share) - 1];

/** The sweep that SWEEP, VALUES and RUNS ask for. */
export class SweepRounds {
  /** @param {number} runs of each value unless RUNS says otherwise */
  constructor(runs) {
    this.variable = __ENV.SWEEP;
    if (!this.variable)
      throw 'SWEEP is not set: name a variable of the testbed, and VALUES for it, such as SWEEP=gogc VALUES=50,100,200';
    this.values = readValues();
    this.runs = envCount('RUNS', runs);
    if (this.runs > RUNS_MOST) throw `RUNS=${this.runs}: at most ${RUNS_MOST}`;
    /** Why the system does not start with a value. @type {Record<string, string>} */
    this.refused = {};
    this.gauges = Object.fromEntries(FIGURES.map((figure) => [figure, new Gauge(`sweep_${figure}`)]));
  }

  /** Rounds in all, each a run of one value. */
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
      // Of a value that the system refuses there is nothing.
      { ...row, title: `${this.variable} = ${value}`, optional: true },
    ]);
    return Object.fromEntries(entries);
  }

  /** Submetrics that the summary needs. @returns {Record<string, 'gauge'>} */
  get keep() {
    const turns = this.values.flatMap((value) =>
      Array.from({ length: this.runs }, (_, run) => ({ value, run })),
    );
    const names = turns.flatMap((turn) => FIGURES.map((figure) => submetricOf(figure, turn)));
    return Object.fromEntries(names.map((name) => [name, /** @type {const} */ ('gauge')]));
  }

  /**
   * What a round is about: each run of all values is in an order by lot, so that what comes and goes meets all alike.
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

  /** In setup(): the testbed that the run was given is the one that is swept. @returns {{ found: Found }} */
  findTestbed() {
    if (!__ENV.INSTANCE)
      throw 'a sweep starts testbeds by itself and needs one to know which: run it by make, such as `make dataplane-queue-sweep`';
    ask('DELETE', '/notes');
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

  /** A value as the testbed's variable takes it. @param {string} text @param {Found} found */
  typed(text, { types }) {
    if (types[this.variable] === 'integer') return Number(text);
    return types[this.variable] === 'boolean' ? text === 'true' : text;
  }

  /**
   * One run of one value, with processes of its own; none once the system has refused the value.
   * @param {Turn} turn
   * @param {Found} found
   * @param {(instance: Started) => import('./meter.js').Measured | null} measure
   */
  run(turn, found, measure) {
    const { value } = turn;
    if (value in this.refused) return;
    const own = { [this.variable]: this.typed(value, found) };
    const { used: measured, refused } = tryFresh(found, own, measure);
    if (refused === null) {
      record(() => (measured ? this.note(turn, measured) : this.noteFailure(turn)));
      return;
    }
    if (value === String(found.variables[this.variable])) stop(`sidecar: ${refused}`);
    this.refused[value] = refused;
    tryAsk('POST', `/notes/${REFUSED}`, this.refused);
  }

  /** A run that could not be measured carried nothing. @param {Turn} turn */
  noteFailure({ value, run }) {
    const tags = { operation: operationOf(value), run: String(run) };
    this.gauges.done.add(1, tags);
    this.gauges.mbit_per_s.add(0, tags);
    this.gauges.lost_share.add(1, tags);
  }

  /** @param {Turn} turn @param {import('./meter.js').Measured} measured */
  note({ value, run }, { outcome, values: series }) {
    const tags = { operation: operationOf(value), run: String(run) };
    const times = [...series.round_trip].sort((a, b) => a - b);
    this.gauges.done.add(1, tags);
    this.gauges.mbit_per_s.add((outcome.bytes * 8) / outcome.duration_s / 1e6, tags);
    this.gauges.lost_share.add(1 - outcome.succeeded / outcome.attempted, tags);
    if (times.length > 0) {
      this.gauges.rtt_p95_ms.add(at(times, 0.95) / 1e6, tags);
      this.gauges.rtt_p99_ms.add(at(times, 0.99) / 1e6, tags);
    }
    if (outcome.usage) this.gauges.peak_rss_bytes.add(outcome.usage.total.peak_rss_bytes, tags);
  }

  /**
   * @param {import('../result.js').Metrics} metrics
   * @param {string} value
   * @returns {import('./sweep.js').SweepRun[]}
   */
  runsOf(metrics, value) {
    const figure = (/** @type {string} */ name, /** @type {number} */ run) =>
      metrics[submetricOf(name, { value, run })]?.values.value ?? 0;
    const all = Array.from({ length: this.runs }, (_, run) => run);
    const done = all.filter((run) => figure('done', run) === 1);
    return done.map((run) => ({
      round: run,
      mbit_per_s: figure('mbit_per_s', run),
      rtt_p95_ms: figure('rtt_p95_ms', run) || null,
      rtt_p99_ms: figure('rtt_p99_ms', run) || null,
      peak_rss_bytes: figure('peak_rss_bytes', run) || null,
      lost_share: figure('lost_share', run),
    }));
  }

  /** The sweep of the result, in handleSummary(). @param {import('../result.js').Metrics} metrics @param {Found} found */
  result(metrics, found) {
    const { [REFUSED]: refused = {} } = tryAsk('GET', '/notes') ?? {};
    const values = this.values.map((value) => ({
      value: this.typed(value, found),
      runs: this.runsOf(metrics, value),
      refused: refused[value] ?? null,
    }));
    return sweepOf(this.variable, values, found.variables[this.variable]);
  }
}
