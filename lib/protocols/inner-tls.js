/** Measures rows with plain bytes inside the tunnel and with TLS 1.3 inside, and rows with Vision beside the same rows without Vision. */
import { order } from 'k6/x/windtunnel/difference';
import { quantile, say } from 'k6/x/windtunnel/record';
import { recordSeries, recordUse } from '../dataplane/probe-operation.js';
import { cpusOf } from '../dataplane/environment.js';
import { echoWait } from '../dataplane/far-end.js';
import { endsOf, patient } from '../link.js';
import { firstReply } from '../meter.js';
import { MATRIX } from './matrix.js';
import { withSides } from './instances.js';
import { operationOf } from './row-operation.js';
import { MIB, SHORT_BYTES, bytesFor } from './transfer.js';
import { Turn } from './turn.js';
import { reachThrough } from './way.js';

/**
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {import('./programs.js').Program} Program
 * @typedef {'plain' | 'tls'} Inside what the payload is in
 * @typedef {{ program: Program, rows: Row[] }} Group rows of a program that take turns, each with its own processes
 * @typedef {'down' | 'up'} Direction of a transfer
 * @typedef {{ row: Row, inside: Inside, turn: Turn, inner: Echo }} Way `inner`: the far end with TLS, as the proxy's server reaches it
 * @typedef {import('../meter.js').Echo} Echo
 *
 * @typedef {object} Moved transfers of one direction in one turn; null: not measured
 * @property {number | null} mib_per_s
 * @property {number | null} client_s CPU seconds of the client per GiB
 * @property {number | null} server_s CPU seconds of the server per GiB
 *
 * @typedef {object} Figures of one turn; null: not measured
 * @property {Moved} down
 * @property {Moved} up
 * @property {number | null} first_byte_ms median time from the dial to the first byte of the far end's answer
 * @property {string | null} session what the sessions inside negotiated; null without TLS inside
 *
 * @typedef {{ program: string, version: string | null, row: string, inside: Inside, turns: Figures[] }} Measured all turns of a row and its inside
 * @typedef {{ first_bytes: number, transfer_s: number, passes: number }} Sizes of a turn: tunnels whose first byte is timed, seconds
 *   of a transfer, and transfers of each way and direction
 */

/** @type {Inside[]} */
export const INSIDES = ['plain', 'tls'];
/** @type {Direction[]} */
export const DIRECTIONS = ['down', 'up'];
const GIB = 1024 * MIB;
/** In a shorter transfer, the beginning uses most of the CPU time. */
const LEAST_BYTES = 16 * MIB;
/** A link's rate bounds a transfer, which then lasts at least this long, s. */
const LEAST_OVER_LINK_S = 2;
/** Number and size of the transfers before a large one. */
const SMALL = 8;
const SMALL_BYTES = 1024;
/** Timeouts on loopback, ms. */
const PATIENCE = { timeout_ms: 2000, handshake_timeout_ms: 2000 };

/** The same row without Vision; undefined: the row has no Vision, or no other row is the same. @param {Row} row */
export function withoutVision({ variables }) {
  if (!variables.vision) return undefined;
  const wanted = JSON.stringify(Object.entries({ ...variables, vision: undefined }).sort());
  return MATRIX.find(
    (other) =>
      JSON.stringify(Object.entries({ ...other.variables, vision: undefined }).sort()) === wanted &&
      !other.variables.vision,
  );
}

/** @param {Program[]} programs @param {Row[]} rows @returns {Group[]} */
export function groupsOf(programs, rows) {
  const beside = rows.map(withoutVision);
  return programs.flatMap((program) => {
    const able = rows.filter(({ engines }) => engines[program.engine] === true);
    return able
      .filter((row) => !able.some((other) => beside[rows.indexOf(other)] === row))
      .map((row) => ({ program, rows: able.filter((one) => one === row || one === withoutVision(row)) }));
  });
}

/** @param {Program} program @param {Row} row @param {Inside} inside */
export const operationIn = ({ name }, { row }, inside) =>
  `${operationOf(row)}_${name.replace(/[^a-z0-9]/g, '_')}_${inside}`;

/** The result of a probe's negotiations, such as `TLS 1.3, TLS13_AES_256_GCM_SHA384`. @param {{ version: string, cipher: string }[]} sessions */
const sessionText = (sessions) =>
  sessions
    .map(({ version, cipher }) => `${version.replace('TLSv', 'TLS ').replace('_', '.')}, ${cipher}`)
    .join(' and ') || 'unknown';

/** The turns of a group. */
export class MeasuredGroup {
  /** @param {import('../dataplane/scenario.js').Plane<{ inner: Echo }>} plane @param {Group} group @param {Sizes} sizes */
  constructor(plane, { program, rows }, sizes) {
    this.plane = plane;
    this.program = program;
    this.rows = rows;
    this.sizes = sizes;
    /** @type {number | null} bytes of a transfer; null until the speed is known */
    this.bytes = null;
    this.patience = patient(PATIENCE, plane.data.link);
    /** @type {Map<string, Measured>} by operation */
    this.measured = new Map(
      rows.flatMap((row) =>
        INSIDES.map((inside) => [
          operationIn(program, row, inside),
          { program: program.name, version: null, row: row.row, inside, turns: [] },
        ]),
      ),
    );
  }

  /** Measures a turn, with new processes. @param {number} number from 0 */
  go(number) {
    const name = this.rows.map(({ row }) => row).join(' and ');
    this.plane.part(`${name}, ${this.program.name}, turn ${number + 1}`, () => this.once(number));
    for (const [operation, measured] of this.measured) say(operation, measured);
  }

  /** @param {number} number */
  once(number) {
    const { program, rows, plane } = this;
    withSides(
      rows.map((row) => ({ row, side: program, logName: `${row.row}/${program.name}-${number + 1}` })),
      plane,
      (up) => this.through(this.waysOf(up), number),
    );
  }

  /** @param {import('./instances.js').Started[]} up @returns {Way[]} */
  waysOf(up) {
    return this.rows.flatMap((row, index) => {
      const started = up[index];
      if ('failed' in started)
        throw new Error(
          `${row.row}, ${this.program.name}: ${started.failed.outcome}: ${started.failed.detail}`,
        );
      const inner = this.innerOf(started.started);
      return INSIDES.map((inside) => {
        const operation = operationIn(this.program, row, inside);
        /** @type {Measured} */ (this.measured.get(operation)).version =
          Object.values(started.started.versions)[0] ?? null;
        return { row, inside, turn: new Turn(this.plane, [started.started], operation), inner };
      });
    });
  }

  /** The far end with TLS: the run's, or one at the end of the instance's link. @param {any} started @returns {Echo} */
  innerOf(started) {
    const { placement } = this.plane.environment;
    const spec = { tls: true, cpus: cpusOf(placement.echo_cpus), wait: echoWait(placement) };
    return endsOf(started, spec)?.home ?? this.plane.data.inner;
  }

  /** @param {Way[]} ways @param {number} number */
  through(ways, number) {
    if (number === 0) this.bytes = null;
    const plain = ways.filter(({ inside }) => inside === 'plain');
    this.bytes ??= this.bytesOf(plain.map((way) => this.rate(way)));
    const lot = `${this.plane.data.runId} ${this.rows[0].row}`;
    const drawn = order(ways.length, number + 1, lot).map((place) => ways[place]);
    const firsts = new Map(drawn.map((way) => [way, this.firstByte(way)]));
    /** @type {Map<Way, Record<Direction, import('../meter.js').Outcome[]>>} */
    const moved = new Map(ways.map((way) => [way, { down: [], up: [] }]));
    for (let pass = 0; pass < this.sizes.passes; pass += 1)
      for (const direction of DIRECTIONS)
        for (const way of pass % 2 === 0 ? drawn : drawn.toReversed()) {
          const outcome = this.move(way, Number(this.bytes), direction);
          if (outcome) moved.get(way)?.[direction].push(outcome);
        }
    for (const way of ways)
      this.note(
        way,
        number,
        /** @type {Record<Direction, import('../meter.js').Outcome[]>} */ (moved.get(way)),
        /** @type {ReturnType<MeasuredGroup['firstByte']>} */ (firsts.get(way)),
      );
  }

  /** Bytes of a transfer. @param {(number | null)[]} rates of ways, bytes per second */
  bytesOf(rates) {
    const { transfer_s: seconds } = this.sizes;
    if (this.plane.data.link) return bytesFor(rates, Math.max(LEAST_OVER_LINK_S, seconds));
    return Math.max(LEAST_BYTES, bytesFor(rates, seconds));
  }

  /** The part of a probe that TLS inside changes. @param {Way} way */
  inside({ inside, inner, turn }) {
    if (inside === 'plain') return {};
    // Both far ends have one host, and the proxy gets it in the same form.
    const target = reachThrough(turn.instance, this.plane, 'tcp').target.replace(
      /\d+$/,
      inner.tcp.replace(/.*:/, ''),
    );
    return { inner_tls: true, target, far_end: inner.id };
  }

  /** @param {Way} way */
  rate(way) {
    const moved = this.move(way, SHORT_BYTES, 'down');
    return moved && moved.bytes / moved.duration_s;
  }

  /** @param {Way} way */
  firstByte(way) {
    const spec = { ...firstReply(this.sizes.first_bytes), warmup: 1 };
    const measured = way.turn.probe({ ...spec, ...this.patience, ...this.inside(way) });
    if (measured) recordSeries(way.turn.operation, measured, 'total');
    return measured;
  }

  /**
   * Moves bytes from or to the far end. Small transfers come first on the same connection, as they do for a browser. xray 26.3.27 leaves
   * the session alone only from a read on that ends with a whole record (its IsCompleteRecord), and a large answer may have no such read.
   * @param {Way} way @param {number} bytes @param {Direction} direction @returns {import('../meter.js').Outcome | null} null if not all bytes came
   */
  move(way, bytes, direction) {
    const transfer = { bytes, warmup_bytes: SMALL_BYTES, direction, every_byte: true };
    const spec = { kind: 'throughput', warmup: SMALL, count: 1, transfer };
    const outcome = way.turn.probe({ ...spec, ...this.patience, ...this.inside(way) })?.outcome;
    if (!outcome || outcome.succeeded < outcome.attempted || !(outcome.duration_s > 0)) return null;
    recordUse(way.turn.operation, outcome);
    return outcome;
  }

  /** @param {Way} way @param {number} number @param {Record<Direction, import('../meter.js').Outcome[]>} all @param {import('../meter.js').Measured | null} first */
  note({ inside, turn }, number, all, first) {
    const sessions = [...all.down, ...all.up, ...(first ? [first.outcome] : [])].map((one) =>
      sessionText(one.inner_tls ?? []),
    );
    /** @type {Measured} */ (this.measured.get(turn.operation)).turns[number] = {
      down: movedBy(all.down),
      up: movedBy(all.up),
      first_byte_ms: quantile([first], 'total'),
      session: inside === 'tls' ? [...new Set(sessions)].join(' and ') || 'unknown' : null,
    };
  }
}

/** @param {import('../meter.js').Outcome[]} all transfers of one direction @returns {Moved} */
function movedBy(all) {
  const sum = (/** @type {(one: import('../meter.js').Outcome) => number} */ of) =>
    all.reduce((total, one) => total + of(one), 0);
  const bytes = sum((one) => one.bytes);
  const cpuOf = (/** @type {string} */ name) => {
    const used = sum(({ usage }) => usage?.processes.find((process) => process.name === name)?.cpu_s ?? NaN);
    return used > 0 ? (used * GIB) / bytes : null;
  };
  return {
    mib_per_s: all.length > 0 ? bytes / MIB / sum((one) => one.duration_s) : null,
    client_s: cpuOf('client'),
    server_s: cpuOf('server'),
  };
}
