/** Results of the scenario `loaded`: a table of all figures, and curves of round trips by load. */
import { sectionOf } from '../section.js';
import { perMinute, responsiveness } from './rpm.js';

/**
 * @typedef {import('./loads.js').Load} Load
 * @typedef {import('./loaded.js').Cells} Cells
 * @typedef {{ name: string, title: string, cells: Cells }} Shown a row, or a control
 */

/**
 * How many round trips a new tunnel's first reply takes on an idle link.
 * @param {Cells} cells
 * @returns {number | null}
 */
export function tripsAtRest({ rest }) {
  const [kept, fresh] = [rest?.kept.p50, rest?.fresh.p50];
  return kept && fresh ? fresh / kept : null;
}

/** @param {Cells} cells */
function roundedTrips(cells) {
  const trips = tripsAtRest(cells);
  return trips === null ? null : Math.round(trips);
}

/** @param {Shown} shown @param {Load} load */
function rowOf({ title, cells }, { name, title: beside, transfers }) {
  const { goodput, died, queue_ms, same, kept, fresh } = cells[name];
  const loaded = transfers > 0 ? (same?.ms ?? null) : kept.ms;
  return {
    of: `${title}, ${beside}`,
    goodput,
    queue_ms,
    same_ms: transfers > 0 ? loaded : null,
    kept_ms: kept.ms,
    kept_most: kept.most,
    fresh_ms: fresh.ms,
    same_rpm: transfers > 0 ? perMinute(loaded) : null,
    kept_rpm: perMinute(kept.ms),
    rpm: responsiveness(loaded, fresh.ms, roundedTrips(cells)),
    trips: name === 'rest' ? tripsAtRest(cells) : null,
    samples: (same?.samples ?? 0) + kept.samples + fresh.samples,
    failed: (same?.failed ?? 0) + kept.failed + fresh.failed,
    outlasted: kept.outlasted + fresh.outlasted,
    died,
  };
}

const LOWER = /** @type {const} */ ({ digits: 0, compare: 'lower' });
const HIGHER = /** @type {const} */ ({ digits: 0, compare: 'higher' });

const NOTES = [
  'Round trip: 1 KiB there and back. Each tunnel sends ten per second, whether or not earlier ones are back, and each counts from its planned start. A figure is the mean without the slowest 5 %. On a loaded tunnel, requests go between the payload of the transfer. "Another tunnel" is opened in addition to the transfers and carries nothing else; with a mux it may be another stream of the same connection.',
  'Responsiveness follows draft-ietf-ippm-responsiveness-08, 5.3.1.1: the mean of 60,000 by the round trip in ms on the loaded tunnels, and 60,000 by that of a new tunnel, whose first reply takes the number of round trips at rest. The draft requires an HTTP/2 server with TLS, which is not used here, so these figures are not comparable with those of other tools.',
  'Late or lost: requests without an answer within 20 s. They count among the slowest; if they are more than 5 %, there is no figure. Requests that were open at the end of the load met a queue that was emptying: if they are many, the figures of other and new tunnels are too small.',
  'Plain TCP goes straight from one end of the link to the other. Both ends of a measurement keep at most 32 KiB unsent per transfer, so all other waiting data is in the proxy or in the network. Queue: the most that waited at the link at once, and the time that the line takes for it.',
];

/** @param {Shown[]} all @param {Load[]} loads @param {string[]} notes */
const tableOf = (all, loads, notes) =>
  sectionOf({
    name: 'loaded',
    title: 'Latency under load',
    columns: [
      ['of', 'Row and load', 'text'],
      ['goodput', 'Goodput', 'Mbit/s', { digits: 2 }],
      ['queue_ms', 'Queue of the link, most', 'ms', { digits: 0 }],
      ['same_ms', 'Round trip, loaded tunnel', 'ms', LOWER],
      ['kept_ms', 'another tunnel', 'ms', LOWER],
      ['kept_most', 'the longest', 'ms', LOWER],
      ['fresh_ms', 'First reply, new tunnel', 'ms', LOWER],
      ['same_rpm', 'Round trips a minute, loaded tunnel', 'count', HIGHER],
      ['kept_rpm', 'another tunnel, a minute', 'count', HIGHER],
      ['rpm', 'Responsiveness', 'count', HIGHER],
      ['trips', 'Round trips of a first reply', 'x', { digits: 1 }],
      ['samples', 'Samples', 'count'],
      ['failed', 'Late or lost', 'count'],
      ['outlasted', 'Outlasted the load', 'count'],
      ['died', 'Died', 'count'],
    ],
    rows: all.flatMap((shown) =>
      loads.filter(({ name }) => shown.cells[name]).map((load) => rowOf(shown, load)),
    ),
    notes: [...notes, ...NOTES],
  });

/** @typedef {(cells: Cells, load: Load) => number | null} Figure ms */
/** @type {{ name: string, title: string, of: Figure, notes: string[] }[]} */
const CHARTS = [
  {
    name: 'loaded_same',
    title: 'A round trip on a loaded tunnel',
    of: (cells, { name, transfers }) => (transfers > 0 ? cells[name]?.same : cells[name]?.kept)?.ms ?? null,
    notes: ['At rest: on a tunnel that carries nothing else.'],
  },
  {
    name: 'loaded_fresh',
    title: 'The first reply of a new tunnel',
    of: (cells, { name }) => cells[name]?.fresh.ms ?? null,
    notes: [],
  },
];

/** @param {Shown[]} all @param {Load[]} loads */
const chartsOf = (all, loads) =>
  CHARTS.map(({ name, title, of, notes }) =>
    sectionOf({
      name,
      title,
      columns: [
        ['load', 'Beside', 'text', (/** @type {Load} */ load) => load.title],
        ...all.map(({ name: way, title: of_, cells }) => ({
          name: way,
          title: of_,
          unit: 'ms',
          ...LOWER,
          of: (/** @type {Load} */ load) => of(cells, load),
        })),
      ],
      rows: loads,
      notes,
      plot: { kind: 'curves', x: 'load', y: all.map(({ name: way }) => way) },
    }),
  );

/**
 * @param {Shown[]} all rows, then controls
 * @param {Load[]} loads
 * @param {string[]} notes on rows that were not measured
 */
export const loadedSections = (all, loads, notes) => [
  tableOf(all, loads, notes),
  ...(all.length > 0 ? chartsOf(all, loads) : []),
];
