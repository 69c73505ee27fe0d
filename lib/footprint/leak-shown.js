/** Results of the scenario `footprint/leak`: a table of slopes, the course of memory, and the facts that decide the verdict. */
import { currentProfile } from '../profiles.js';
import { sectionOf } from '../section.js';
import { wordsOf } from './held.js';

/** @typedef {import('./leak.js').Found} Found */

/** Digits after the point that tell small numbers apart. @param {number} value */
export const shown = (value) =>
  (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)).replace(/^-0(\.0*)?$/, '0');

/** @param {Found} found */
const verdictOf = ({ within, judged }) => {
  if (!judged) return 'not judged: LINGER_S=0';
  if (within === null) return 'cannot tell';
  return within ? 'no' : 'yes';
};

/** Growth in smallest leaks of the run; null: the run cannot tell, and so can no comparison. @param {Found} found */
const inLeaks = ({ growth, within, least }) => (growth && within !== null ? growth.slope / least : null);

/**
 * A column that only comparisons read: the slopes of resources with one unit.
 * @param {string} name @param {string} title @param {string} unit @param {(unit: string) => boolean} fits
 * @returns {import('../section.js').Column<Found>}
 */
const slopeColumn = (name, title, unit, fits) => ({
  name,
  title,
  unit,
  print: 'none',
  compare: 'lower',
  of: ({ growth, resource }) => (growth && fits(resource.unit) ? growth.slope : null),
});

/** @type {import('../section.js').Column<Found>[]} */
const COLUMNS = [
  {
    name: 'what',
    title: 'What',
    unit: 'text',
    print: 'none',
    of: ({ resource, work }) => `${resource.title} per ${work.unit}`,
  },
  { name: 'resource', title: 'What is held', unit: 'text', of: ({ resource }) => resource.title },
  { name: 'work', title: 'For each', unit: 'text', of: ({ work }) => work.unit },
  { name: 'leaks', title: 'Leaks', unit: 'text', of: verdictOf },
  {
    name: 'slope',
    title: 'Growth',
    unit: 'text',
    of: ({ growth, resource: { unit } }) => growth && `${shown(growth.slope)} ${unit}`.trim(),
  },
  slopeColumn('bytes', 'growth', 'bytes_each', (unit) => unit === 'B'),
  slopeColumn('number', 'growth', 'each', (unit) => unit === ''),
  {
    // A growth that is no leak harms nobody.
    name: 'judged',
    title: 'growth in smallest leaks',
    unit: 'times',
    print: 'none',
    compare: 'lower',
    judged: true,
    least: 1,
    of: (found) => (found.judged ? inLeaks(found) : verdictOf(found)),
  },
  {
    name: 'interval',
    title: '99 % interval',
    unit: 'text',
    of: ({ growth }) => growth && `${shown(growth.low)} to ${shown(growth.high)}`,
  },
  {
    name: 'bound',
    title: 'At most',
    unit: 'text',
    of: ({ bound, resource: { unit } }) => `${shown(bound)} ${unit}`.trim(),
  },
  {
    name: 'step',
    title: 'Largest step',
    unit: 'text',
    of: ({ growth, resource: { unit } }) => growth && `${shown(growth.step)} ${unit}`.trim(),
  },
  {
    name: 'first',
    title: 'After the first cycle',
    unit: 'text',
    of: ({ cycles, resource }) => (cycles.length > 0 ? shown(resource.of(cycles[0].held)) : null),
  },
  {
    name: 'last',
    title: 'After the last',
    unit: 'text',
    of: ({ cycles, resource }) =>
      cycles.length > 0 ? shown(resource.of(cycles[cycles.length - 1].held)) : null,
  },
];

/** @param {import('./leak.js').Times} times */
const aboutAssociations = ({ udpTimeoutMs }) =>
  udpTimeoutMs > 0
    ? `Associations are those of a new process, which ends idle ones after ${udpTimeoutMs} ms (udp_timeout_ms).`
    : 'A proxy may keep a UDP association for minutes after its control connection has ended. LINGER_S is a warm-up for that long.';

/** @param {Found[]} all @param {import('./leak.js').Times} times */
export const leakSections = (all, times) => [
  sectionOf({
    name: 'leak',
    title: 'What is left of work that has ended',
    columns: COLUMNS,
    rows: all,
    finding: undecidedIn(all),
    notes: [
      'Growth is the slope of the lowest reading of each block of cycles, without the largest step (docs/explanation/footprint.md).',
      ...(all.some(({ work }) => work.lingers) ? [aboutAssociations(times)] : []),
      ...last(all),
    ],
  }),
  sectionOf({
    name: 'memory',
    title: 'Own memory after each cycle',
    columns: [
      { name: 'cycle', title: 'Cycle', unit: 'count' },
      ...[...new Set(all.map(({ work }) => work.name))].map((name) => ({
        name,
        title: name,
        unit: /** @type {const} */ ('MiB'),
      })),
    ],
    rows: memoryRows(all),
    plot: { kind: 'line', x: 'cycle', y: [...new Set(all.map(({ work }) => work.name))] },
  }),
];

/** @param {Found[]} all */
function last(all) {
  const descriptors = all.filter(
    ({ resource, cycles }) => resource.name === 'descriptors' && cycles.length > 0,
  );
  return descriptors.map(
    ({ work, cycles }) =>
      `Descriptors after the last cycle of ${work.name}: ${wordsOf(cycles[cycles.length - 1].held.descriptors)}.`,
  );
}

/** @param {Found[]} all @returns {Record<string, number>[]} */
function memoryRows(all) {
  const memory = all.filter(({ resource }) => resource.name === 'memory');
  const count = Math.max(0, ...memory.map(({ cycles }) => cycles.length));
  return Array.from({ length: count }, (_, index) => ({
    cycle: index + 1,
    ...Object.fromEntries(
      memory.flatMap(({ work, cycles }) =>
        cycles[index] ? [[work.name, cycles[index].held.anon_bytes / 2 ** 20]] : [],
      ),
    ),
  }));
}

/** Whether a smoke run has too few cycles to decide. @param {Found} found */
const isTooShort = ({ within, judged }) => judged && within === null && currentProfile() === 'smoke';

/** Names what a smoke run leaves open: its verdict says nothing about it. @param {Found[]} all */
function undecidedIn(all) {
  const open = all.filter(isTooShort).map(({ resource, work }) => `${resource.title} per ${work.unit}`);
  return open.length > 0
    ? `The smoke run is too short to tell whether these grow: ${open.join(', ')}. PROFILE=quick can.`
    : undefined;
}

/**
 * A growth beyond its bound is a failure. One that is unclear leaves the run undecided, but in smoke, which has too few cycles.
 * @param {Found[]} all @returns {import('k6/x/windtunnel/judge').Fact[]}
 */
export const leakFacts = (all) =>
  all
    .filter((found) => found.judged && !isTooShort(found))
    .map(({ work, resource, bound, growth, within }) => {
      const scale = scaleOf(work, resource);
      // Rounded away from the bound: a proven leak stays beyond the bound, and a growth within the bound stays within.
      const said = within ? Math.floor : Math.ceil;
      return {
        check: `growth of ${resource.title} per ${unitsOf(work, resource)}`,
        source: 'processes',
        found: {
          said: within === null || !growth ? null : said((within ? growth.high : growth.low) * scale),
        },
        reported: { said: Math.floor(bound * scale) },
        slack: [],
      };
    });

/** Counts are whole numbers, so that they count for a thousand. @param {Found['work']} work @param {Found['resource']} resource */
const scaleOf = (work, resource) => (work.of === 1 && resource.unit === '' ? 1000 : 1);

/** @param {Found['work']} work @param {Found['resource']} resource */
const unitsOf = (work, resource) =>
  (scaleOf(work, resource) === 1000 ? `1,000 ${work.unit}s` : `${work.unit}`) +
  (resource.unit && `, ${resource.unit}`);
