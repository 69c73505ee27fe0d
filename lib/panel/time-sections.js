/** Tables on where the time went: the parts of each operation, and the database's statements. */
import { sectionOf } from '../section.js';
import { OUTSIDE } from './components.js';

/**
 * @typedef {object} Part a component of an operation; `operation` '' means the whole run; shares are 0 to 1
 * @property {string} operation
 * @property {'server_timing' | 'prometheus'} source
 * @property {string} name
 * @property {number} calls
 * @property {number | null} avg_ms
 * @property {number | null} p95_ms
 * @property {number | null} p99_ms
 * @property {number | null} share of the route's time
 * @property {number | null} latency_share of the time that clients waited
 *
 * @typedef {import('./bottleneck.js').Bottleneck} Bottleneck
 * @typedef {import('../section.js').Section} Section
 */

/** @type {import('../section.js').Column<Part>[]} */
const PARTS = [
  ['component', 'Component', 'text', ({ name }) => name],
  ['calls', 'Calls', 'count'],
  ['avg_ms', 'Avg', 'ms', { compare: 'lower' }],
  ['p95_ms', 'P95', 'ms'],
  ['p99_ms', 'P99', 'ms'],
  ['share', '% of route', 'share'],
  ['latency_share', '% of latency', 'share'],
];

/** By the source of the times. */
const SOURCES = /** @type {const} */ ({
  server_timing: { name: 'component', suffix: '', notes: [] },
  prometheus: {
    name: 'prometheus',
    suffix: ' (Prometheus)',
    notes: [
      "From a histogram at the system's Prometheus address: percentiles are interpolated within its buckets.",
    ],
  },
});

const ABOUT_OUTSIDE =
  'The route is what the system itself timed; outside of it are its queues and the way to it and back: what the client waited for an answer less its route.';

/** A named bottleneck is a finding; any other statement on a bottleneck is a note. @param {Bottleneck | undefined} found */
const bottleneckFields = (found) => ({
  ...(found?.component ? { finding: found.reason } : {}),
  ...(found ? { answer: found.component ?? '' } : {}),
  notes: found && !found.component ? [found.reason] : [],
});

/**
 * A table for each operation and source.
 * @param {Part[]} parts
 * @param {Bottleneck[]} bottlenecks
 * @param {(operation: string) => string} titleOf
 * @returns {Section[]}
 */
export function partSections(parts, bottlenecks, titleOf) {
  const groups = [...new Set(parts.map(({ operation, source }) => `${operation} ${source}`))];
  return groups.map((group, index) => {
    const rows = parts.filter(({ operation, source }) => `${operation} ${source}` === group);
    const [{ operation, source }] = rows;
    const { name, suffix, notes } = SOURCES[source];
    // If an operation has two sources, only the first table names the bottleneck.
    const first = groups.findIndex((other) => other.startsWith(`${operation} `)) === index;
    const found = bottleneckFields(
      first ? bottlenecks.find((one) => one.operation === operation) : undefined,
    );
    return sectionOf({
      name,
      title: `Where the time goes: ${operation ? titleOf(operation) : 'the whole run'}${suffix}`,
      ...(operation ? { operation } : {}),
      columns: PARTS,
      rows,
      ...found,
      notes: [...found.notes, ...notes, rows.some((part) => part.name === OUTSIDE) && ABOUT_OUTSIDE],
    });
  });
}

/** @typedef {NonNullable<ReturnType<typeof import('./digests.js').databaseOf>>} Work */

/** @type {import('../section.js').Column<Work>[]} */
const WORK = [
  ['requests', 'Requests', 'count'],
  ['statements', 'Statements', 'count'],
  ['statements_per_request', 'Per request', 'count', { digits: 1 }],
  ['total_ms', 'Total', 'ms'],
  ['mean_ms', 'Mean', 'ms'],
  [
    'ms_per_request',
    'Time per request',
    'ms',
    ({ total_ms: total, requests }) => total / requests,
    { compare: 'lower' },
  ],
  ['rows_examined', 'Rows examined', 'count'],
  ['route_share', '% of route', 'share'],
  ['latency_share', '% of latency', 'share'],
];

/** @type {import('../section.js').Column<Work['digests'][number]>[]} */
const STATEMENTS = [
  ['text', 'Statement', 'text'],
  ['calls', 'Calls', 'count'],
  ['total_ms', 'Total', 'ms'],
  ['mean_ms', 'Mean', 'ms'],
  ['rows_examined', 'Rows examined', 'count'],
  ['share', '% of all', 'share'],
];

/**
 * A table of all statements together, and a table of the statements with the largest total time.
 * @param {Work} work
 * @param {Bottleneck | undefined} bottleneck of the whole run, if no part of the run has its own
 * @returns {Section[]}
 */
export function databaseSections(work, bottleneck) {
  const found = bottleneckFields(bottleneck);
  return [
    sectionOf({
      name: 'database',
      title: 'What the database did',
      columns: WORK,
      rows: [work],
      ...found,
      notes: [
        `By the database's own clock (${work.source}): time within the database, without the way to it and back.`,
        ...found.notes,
      ],
    }),
    sectionOf({
      name: 'statements',
      title: 'Statements that took the most',
      columns: STATEMENTS,
      rows: work.digests,
    }),
  ];
}
