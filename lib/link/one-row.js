/** Runs one measurement of a row of the matrix, or of plain TCP, over a link, and records how it ended. */
import { listOf, note } from '../notes.js';
import { startSides, stopSides } from '../protocols/instances.js';
import { older, withFault } from '../protocols/excuse.js';
import { runs } from '../protocols/matrix.js';
import { currentProfile } from '../profiles.js';
import { shown, worst } from '../protocols/outcome.js';
import { operationOf } from '../protocols/row-operation.js';
import { baselineOf, selectedRows } from '../protocols/sides.js';
import { controlOf, withDirect } from './controls.js';
import { overLink, toldRate } from './rows.js';
import { Way } from './way.js';

/** @typedef {import('../protocols/outcome.js').Outcome} Outcome */

/**
 * The rows of a scenario, and plain TCP beside them. A smoke run only checks that everything works, with a few rows.
 * @param {string} scenario of the system link
 * @param {string} smoke rows of a smoke run
 * @param {readonly string[]} congestion controls of plain TCP
 */
export function rowsOver(scenario, smoke, congestion) {
  const baseline = baselineOf();
  const chosen = selectedRows(`link/${scenario}`, currentProfile() === 'smoke' ? smoke : undefined);
  const rows = chosen.filter(overLink);
  const able = rows.filter((row) => runs(row, baseline) === true);
  const named = [
    ...able.map(({ row }) => ({ name: operationOf(row), title: row, control: false })),
    ...congestion.map((name) => ({ name: controlOf(name), title: `TCP, ${name}`, control: true })),
  ];
  const parameters = {
    rows: rows.map(({ row }) => row).join(','),
    engine: baseline.engine,
    ...baseline.settings,
  };
  return { baseline, rows, able, named, parameters };
}

/** Prefix of the names of these notes. No row has it. */
const PREFIX = '-ended ';

/** @param {string} row or the operation of a control @returns {Outcome[]} */
const endsOf = (row) => listOf(PREFIX + row);

/** @param {string} row or the operation of a control @param {Outcome} outcome */
const keepEnd = (row, outcome) => note(PREFIX + row, outcome);

/** Whether to continue with a row. A row that cannot be started is not tried again. @param {string} row */
export const goesOn = (row) =>
  endsOf(row).every(({ outcome }) => outcome === 'measured' || outcome === 'errors');

/**
 * @template T
 * @typedef {{ found: T, missing?: string }} Use `missing`: what could not be measured although nothing failed, in words
 */

/**
 * @template T
 * @typedef {import('./lockstep.js').Steps<T>} Steps
 */

/**
 * Starts both ends of a row over a link, uses the way through them, and stops them.
 * @template T
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('./batch.js').Entry} entry
 * @param {{ log: string, link: string }} about log: name of a folder for the row's logs
 * @param {(way: Way) => Steps<Use<T>>} use
 * @returns {Steps<T | null>} null if the row did not start
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
 * withRow() for plain TCP past the proxy, over a new link.
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

/** A measurement with a missing part counts as an error, even if nothing failed. @param {Outcome} outcome @param {string} [missing] @returns {Outcome} */
const endOf = (outcome, missing) =>
  outcome.outcome === 'measured' && missing ? { outcome: 'errors', detail: missing } : outcome;

/** @param {import('../protocols/matrix.js').Row} row @param {import('../protocols/sides.js').Side} side @returns {Outcome} */
function endOfRow(row, side) {
  const lack = runs(row, side);
  if (lack !== true) return { outcome: 'impossible here', detail: lack };
  return withFault(row, side, older(row, worst(endsOf(row.row))));
}

/**
 * Outcomes of all rows, for the judge.
 * @param {import('../protocols/matrix.js').Row[]} rows
 * @param {import('../protocols/sides.js').Side} side
 * @param {(operation: string) => Record<string, import('../spread.js').Spread | null>} figuresOf figures of an operation
 */
export const outcomesOf = (rows, side, figuresOf) =>
  rows.map((row) =>
    uncompared(row, {
      ...shown(endOfRow(row, side)),
      known: null,
      figures: figuresOf(operationOf(row.row, side)),
    }),
  );

/** A row without a comparison, for the judge. @param {import('../protocols/matrix.js').Row} row @param {object} baseline @param {object} [candidate] */
export const uncompared = ({ row, multiplex }, baseline, candidate) => ({
  row,
  multiplex,
  told_mbit_per_s: null,
  baseline,
  candidate: candidate ?? null,
  round_trips: null,
  turns: 1,
  comparison: [],
});

/**
 * A note for each row and each control that was not measured successfully.
 * @param {import('../protocols/matrix.js').Row[]} rows
 * @param {import('../protocols/sides.js').Side} side
 * @param {readonly string[]} controls
 */
export const endNotes = (rows, side, controls) => [
  ...rows.flatMap((row) => noteOf(row.row, endOfRow(row, side))),
  ...controls.flatMap((name) => noteOf(`TCP, ${name}`, worst(endsOf(controlOf(name))))),
];

/** @param {string} name @param {Outcome} end */
const noteOf = (name, { outcome, detail }) => (detail === null ? [] : [`${name}: ${outcome}: ${detail}.`]);
