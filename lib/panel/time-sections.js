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
  { name: 'component', title: 'Component', unit: 'text', of: ({ name }) => name },
  { name: 'calls', title: 'Calls', unit: 'count' },
  { name: 'avg_ms', title: 'Avg', unit: 'ms', compare: 'lower' },
  { name: 'p95_ms', title: 'P95', unit: 'ms' },
  { name: 'p99_ms', title: 'P99', unit: 'ms' },
  { name: 'share', title: '% of route', unit: 'share' },
  { name: 'latency_share', title: '% of latency', unit: 'share' },
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
      notes: [
        ...found.notes,
        ...notes,
        ...(rows.some((part) => part.name === OUTSIDE) ? [ABOUT_OUTSIDE] : []),
      ],
    });
  });
}

/** @typedef {NonNullable<ReturnType<typeof import('./digests.js').databaseOf>>} Work */

/** @type {import('../section.js').Column<Work>[]} */
const WORK = [
  { name: 'requests', title: 'Requests', unit: 'count' },
  { name: 'statements', title: 'Statements', unit: 'count' },
  { name: 'statements_per_request', title: 'Per request', unit: 'count', digits: 1 },
  { name: 'total_ms', title: 'Total', unit: 'ms' },
  { name: 'mean_ms', title: 'Mean', unit: 'ms' },
  {
    name: 'ms_per_request',
    title: 'Time per request',
    unit: 'ms',
    compare: 'lower',
    of: ({ total_ms: total, requests }) => total / requests,
  },
  { name: 'rows_examined', title: 'Rows examined', unit: 'count' },
  { name: 'route_share', title: '% of route', unit: 'share' },
  { name: 'latency_share', title: '% of latency', unit: 'share' },
];

/** @type {import('../section.js').Column<Work['digests'][number]>[]} */
const STATEMENTS = [
  { name: 'text', title: 'Statement', unit: 'text' },
  { name: 'calls', title: 'Calls', unit: 'count' },
  { name: 'total_ms', title: 'Total', unit: 'ms' },
  { name: 'mean_ms', title: 'Mean', unit: 'ms' },
  { name: 'rows_examined', title: 'Rows examined', unit: 'count' },
  { name: 'share', title: '% of all', unit: 'share' },
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
