/**
 * Measures some rows of the matrix over links, each row over its own link. Latencies are measured on all rows at once.
 * Throughput is measured on a few rows at once, so that together they need only a small part of the machine's capacity.
 */
import { say } from 'k6/x/windtunnel/record';
import { startSides, stopSides } from '../protocols/instances.js';
import { operationOf } from '../protocols/row-operation.js';
import { recordGoodput, recordRoundTrips } from './live.js';
import { atRest, call, firstBytes, goodputs, pages, video } from './parts.js';
import { toldRate } from './rows.js';
import { roundTripsOf, countOf } from './slope.js';
import { PROBES_AT_ONCE, Way } from './way.js';

/**
 * @typedef {import('../protocols/matrix.js').Row} Row
 * @typedef {import('../protocols/sides.js').Side} Side
 * @typedef {import('./parts.js').Figures} Figures
 * @typedef {import('./lockstep.js').Steps<void>} Steps
 * @typedef {{ first: number | null, further: number | null }} Took ms
 * @typedef {{ row: Row, side: Side }} Entry
 * @typedef {{ figures: Figures, outcome: import('../protocols/outcome.js').Outcome, version: string | null }} Noted results of one side of a row
 *
 * @typedef {object} Sizes
 * @property {number} first new tunnels for the time to the first reply, at each of two delays
 * @property {number} trips
 * @property {number} pages
 * @property {number} video_s
 * @property {number} call_s
 * @property {number} warmup_s of a saturated tunnel
 * @property {number} goodput_s
 */

/** Round trips of two links that have only this delay, ms. */
export const DELAYS = { short: 20, long: 120 };
/** Tries for a slope that is no whole number. */
const TRIES = 3;

/** Limit for the total rate of all lines that are full at once, Mbit/s. docs/benchmarks.md shows that it distorts nothing. */
export const FULL_MBIT = 200;

/** Prefix of the names of these notes. No row has it. */
const PREFIX = '-over ';

/** @param {Entry} entry */
export const nameOf = ({ row, side }) => `${PREFIX}${side.name} ${row.row}`;

export class Batch {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {Entry[]} entries
   * @param {Sizes} sizes
   */
  constructor(plane, entries, sizes) {
    this.plane = plane;
    this.entries = entries;
    this.sizes = sizes;
    /** @type {Map<Entry, Noted>} */
    this.noted = new Map(
      entries.map((entry) => [
        entry,
        { figures: {}, outcome: { outcome: 'measured', detail: null }, version: null },
      ]),
    );
    /** @type {Map<string, Took>} by operation */
    this.short = new Map();
  }

  /** @returns {Steps} */
  *go() {
    try {
      yield* this.withWays('short', (ways) =>
        this.openAt(ways, DELAYS.short, (way, took) => this.short.set(way.operation, took)),
      );
      yield* this.withWays('link', (ways) => this.all(ways));
    } finally {
      for (const [entry, noted] of this.noted) say(nameOf(entry), noted);
    }
  }

  /**
   * Starts the entries that have not failed yet, each over its own link.
   * @param {string} what purpose, for the name of the log
   * @param {(ways: Way[]) => Steps} use
   * @returns {Steps}
   */
  *withWays(what, use) {
    const able = this.entries.filter((entry) => this.noteOf(entry).outcome.outcome === 'measured');
    const started = startSides(
      able.map(({ row, side }) => ({
        row,
        side,
        server: side.server,
        more: toldRate(row, this.plane.data.link),
        logName: `${row.row}/${side.name}-${what}`,
      })),
      this.plane,
    );
    try {
      const ways = able.flatMap((entry, index) => {
        const begun = started[index];
        const noted = this.noteOf(entry);
        if ('failed' in begun) {
          noted.outcome = begun.failed;
          return [];
        }
        noted.version ??= Object.values(begun.started.versions)[0] ?? null;
        return [{ entry, way: new Way(this.plane, begun.started, operationOf(entry.row.row, entry.side)) }];
      });
      yield* use(ways.map(({ way }) => way));
      for (const { entry, way } of ways) this.noteOf(entry).outcome = way.ended();
    } finally {
      stopSides(started);
    }
  }

  /** @param {Entry} entry @returns {Noted} */
  noteOf(entry) {
    return /** @type {Noted} */ (this.noted.get(entry));
  }

  /** @param {Way} way */
  entryOf({ operation }) {
    return /** @type {Entry} */ (
      this.entries.find(({ row, side }) => operationOf(row.row, side) === operation)
    );
  }

  /** @param {Way} way @returns {Figures} */
  figuresOf = (way) => this.noteOf(this.entryOf(way)).figures;

  /** @param {Way[]} ways @param {number} ms @param {(way: Way, took: Took) => void} take @returns {Steps} */
  *openAt(ways, ms, take) {
    for (const way of ways) way.onlyDelay(ms);
    yield* firstBytes(ways, this.sizes.first, take);
  }

  /** @param {Way[]} ways @returns {Steps} */
  *all(ways) {
    yield* this.openAt(ways, DELAYS.long, (way, took) => this.slope(way, took));
    yield* this.againWhereUnclear(ways);
    for (const way of ways) recordRoundTrips(way.operation, this.figuresOf(way).round_trips);
    for (const way of ways) way.restart();
    const { trips, pages: pageCount, video_s: videoS, call_s: callS } = this.sizes;
    yield* atRest(ways, trips, this.figuresOf);
    yield* pages(ways, pageCount, this.figuresOf);
    yield* video(ways, videoS, this.figuresOf);
    yield* call(
      ways.filter((way) => this.entryOf(way).row.udp),
      callS,
      this.figuresOf,
    );
    yield* this.fill(ways);
  }

  /** @param {Way} way @param {Took} took times over the long link */
  slope(way, took) {
    const short = this.short.get(way.operation) ?? { first: null, further: null };
    const of = (/** @type {keyof Took} */ which) =>
      roundTripsOf(
        { rtt_ms: DELAYS.short, took_ms: short[which] },
        { rtt_ms: DELAYS.long, took_ms: took[which] },
      );
    const figures = this.figuresOf(way);
    figures.round_trips = of('further');
    figures.round_trips_first = of('first');
  }

  /** Repeats slopes that are no whole number, since they contain noise. The fastest tunnels at both delays count. @param {Way[]} ways @returns {Steps} */
  *againWhereUnclear(ways) {
    for (let again = 1; again < TRIES; again += 1) {
      const unclear = ways.filter((way) => countOf(this.figuresOf(way).round_trips ?? null) === null);
      if (unclear.length === 0) return;
      /** @type {Map<Way, number | null>} */
      const short = new Map();
      yield* this.openAt(unclear, DELAYS.short, (way, took) => short.set(way, fastest(took)));
      yield* this.openAt(unclear, DELAYS.long, (way, took) => {
        this.figuresOf(way).round_trips = roundTripsOf(
          { rtt_ms: DELAYS.short, took_ms: short.get(way) ?? null },
          { rtt_ms: DELAYS.long, took_ms: fastest(took) },
        );
      });
    }
  }

  /** Measures throughput, each direction separately, on as many ways at once as the machine carries at full speed. @param {Way[]} ways @returns {Steps} */
  *fill(ways) {
    const { warmup_s, goodput_s: seconds } = this.sizes;
    const many = fullAtOnce(ways.flatMap((way) => [way.rate('up'), way.rate('down')]));
    for (let begin = 0; begin < ways.length; begin += many)
      for (const direction of /** @type {const} */ (['down', 'up']))
        yield* goodputs(ways.slice(begin, begin + many), { direction, warmup_s, seconds }, (way, mbit) => {
          this.figuresOf(way)[`goodput_${direction}_mbit`] = mbit;
          recordGoodput(way.operation, direction, mbit);
        });
  }
}

/**
 * How many lines may be full at once. A line without a rate needs the whole machine.
 * @param {(number | null)[]} rates of the directions of one line, bits per second
 */
export function fullAtOnce(rates) {
  if (rates.includes(null)) return 1;
  const most = Math.max(...rates.map(Number)) / 1e6;
  return Math.max(1, Math.min(PROBES_AT_ONCE, Math.floor(FULL_MBIT / most)));
}

/** fullAtOnce() for the run's link. @param {import('../dataplane/scenario.js').Plane} plane */
export function carriedAtOnce({ data: { link } }) {
  const { up, down } = link?.about.settings ?? {};
  return fullAtOnce([up?.rate_bit_s ?? null, down?.rate_bit_s ?? null]);
}

/** The fastest time of all tunnels, for a client that has opened tunnels before. @param {Took} took @returns {number | null} */
function fastest({ first, further }) {
  const all = [first, further].filter((ms) => ms !== null);
  return all.length > 0 ? Math.min(...all) : null;
}
