/** A row of the matrix over a link, or plain TCP, for one thing that is measured of it; how it ended each time. */
import { said, say } from 'k6/x/windtunnel/record';
import { startSides, stopSides } from '../protocols/instances.js';
import { older, withFault } from '../protocols/excuse.js';
import { shown, worst } from '../protocols/outcome.js';
import { operationOf } from '../protocols/row-operation.js';
import { controlOf, withDirect } from './controls.js';
import { toldRate } from './rows.js';
import { Way } from './way.js';

/** @typedef {import('../protocols/outcome.js').Outcome} Outcome */

/** What was said of a row's ends begins so; no row is called so. */
const PREFIX = '-ended ';

/** @type {Map<string, Outcome[]>} of this VU, by row, or by the operation of a control */
const ended = new Map();

/** @param {string} row @param {Outcome} outcome */
function keepEnd(row, outcome) {
  const all = [...(ended.get(row) ?? []), outcome];
  ended.set(row, all);
  say(PREFIX + row, all);
}

/** One that cannot be started is not tried again for each thing. @param {string} row */
export const goesOn = (row) =>
  (ended.get(row) ?? []).every(({ outcome }) => outcome === 'measured' || outcome === 'errors');

/**
 * @template T
 * @typedef {{ found: T, missing?: string }} Use `missing`: in words, what was to be measured and was not, though nothing failed
 */

/**
 * @template T
 * @typedef {import('./lockstep.js').Steps<T>} Steps
 */

/**
 * Starts a row's two ends over a link, uses the way through them, and stops them.
 * @template T
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('./batch.js').Entry} entry
 * @param {{ log: string, link: string }} about log: a folder of the row's
 * @param {(way: Way) => Steps<Use<T>>} use
 * @returns {Steps<T | null>} null where it did not start
 */
export function* withRow(plane, { row, side }, { log, link }, use) {
  const wanted = { row, side, more: toldRate(row, plane.data.link), logName: `${row.row}/${log}`, link };
  const [started] = startSides([wanted], plane);
  try {
    if ('failed' in started) {
      keepEnd(row.row, started.failed);
      return null;
    }
    const way = new Way(plane, started.started, operationOf(row.row, side));
    const { found, missing } = yield* use(way);
    keepEnd(row.row, endOf(way.ended(), missing));
    return found;
  } finally {
    stopSides([started]);
  }
}

/**
 * The same of plain TCP, past the proxy, over a link of its own.
 * @template T
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {{ side: import('../protocols/sides.js').Side, congestion: string, link: string }} about side: whose pair is started for its link
 * @param {(way: Way) => Steps<Use<T>>} use
 * @returns {Steps<T>}
 */
export function withControl(plane, { side, congestion, link }, use) {
  const operation = controlOf(congestion);
  const ofWay = function* (/** @type {Way} */ way) {
    const { found, missing } = yield* use(way);
    const end = endOf(way.ended(), missing);
    keepEnd(operation, { ...end, detail: way.why ?? end.detail });
    return found;
  };
  return withDirect(plane, side, ofWay, { link, operation });
}

/** What was not measured is no measurement, also where no error says so. @param {Outcome} outcome @param {string} [missing] @returns {Outcome} */
const endOf = (outcome, missing) =>
  outcome.outcome === 'measured' && missing ? { outcome: 'errors', detail: missing } : outcome;

/** @param {import('../protocols/matrix.js').Row} row @param {import('../protocols/sides.js').Side} side @returns {Outcome} */
function endOfRow(row, side) {
  const lack = row.engines[side.engine];
  if (lack !== true) return { outcome: 'impossible here', detail: lack };
  return withFault(row, side, older(row, worst(said()[PREFIX + row.row] ?? [])));
}

/**
 * How each row ended, for the judge.
 * @param {import('../protocols/matrix.js').Row[]} rows
 * @param {import('../protocols/sides.js').Side} side
 * @param {(operation: string) => Record<string, import('../dataplane/sweep.js').Spread | null>} figuresOf what was measured of it
 */
export const outcomesOf = (rows, side, figuresOf) =>
  rows.map((row) => ({
    row: row.row,
    multiplex: row.multiplex,
    told_mbit_per_s: null,
    baseline: {
      ...shown(endOfRow(row, side)),
      known: null,
      figures: figuresOf(operationOf(row.row, side)),
    },
    candidate: null,
    round_trips: null,
    turns: 1,
    comparison: [],
  }));

/**
 * A line for each row and each control that was not measured well.
 * @param {import('../protocols/matrix.js').Row[]} rows
 * @param {import('../protocols/sides.js').Side} side
 * @param {readonly string[]} controls
 */
export const endNotes = (rows, side, controls) => [
  ...rows.flatMap((row) => noteOf(row.row, endOfRow(row, side))),
  ...controls.flatMap((name) => noteOf(`TCP, ${name}`, worst(said()[PREFIX + controlOf(name)] ?? []))),
];

/** @param {string} name @param {Outcome} end */
const noteOf = (name, { outcome, detail }) => (detail === null ? [] : [`${name}: ${outcome}: ${detail}.`]);
