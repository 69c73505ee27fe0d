/** Results of the scenario `change`: a table of all transfers, and each transfer's course around a change, above the queue's. */
import { rangeOf, sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { metSaid } from './change.js';
import { ENOUGH } from './recovery.js';

/**
 * @typedef {import('./changes.js').Change} Change
 * @typedef {import('./change.js').Met} Met
 * @typedef {{ name: string, title: string }} Named a row, or a control
 * @typedef {{ of: string, met: Met[] }} Row one row of the table, over all rounds
 */

/** @param {string} name @param {Change} change @returns {Met[]} */
const metOf = (name, change) => (metSaid(name)[change.name] ?? []).filter((met) => met !== null);

/** The range of a figure over all rounds. @param {(met: Met) => number | null} of */
const ranged =
  (of) =>
  (/** @type {Row} */ { met }) =>
    rangeOf(spreadOf(met.map(of)));

/** The sum of a figure over all rounds. @param {(met: Met) => number} of */
const summed =
  (of) =>
  (/** @type {Row} */ { met }) =>
    met.reduce((all, one) => all + of(one), 0);

const NOTES = [
  `Recovered: time from the end of the change to the first second in which the transfer carries at least ${ENOUGH * 100} % of its target, both on average and in its first tenth. This second comes after the last silence of a whole second. The target is the rate in the two seconds before the change, at most the rate of the line, times the change of that rate. A transfer that did not reach this, or carried less in the last two observed seconds, counts as "Not recovered" and has no time. Times are in tenths of a second, and each start gives one sample.`,
  'Silent: the longest time without a byte. Died: tunnels that ended, or received nothing in the last 3 s. Each transfer has four more tunnels with very little traffic; the last column is their slowest answer. Lost: bytes of the transfer that its sender had sent, and that never arrived because the tunnel died.',
  'Each figure comes from newly started processes; plain TCP goes straight from one end of the link to the other. The payload goes downwards through one saturated tunnel.',
];

/** @param {Named[]} all @param {Change[]} changes @param {string[]} notes */
const tableOf = (all, changes, notes) =>
  sectionOf({
    name: 'change',
    title: 'A transfer while the link changes',
    columns: [
      ['of', 'Row and change', 'text'],
      ['before', 'Before', 'Mbit/s', ranged(({ recovery }) => recovery.before), { digits: 2 }],
      ['silent', 'Silent', 's', ranged(({ recovery }) => recovery.silentS), { digits: 1 }],
      [
        'recovered',
        'Recovered after',
        's',
        ranged(({ recovery }) => recovery.recoveredS),
        { digits: 1, compare: 'lower' },
      ],
      [
        'not_recovered',
        'Not recovered',
        'count',
        summed(({ recovery }) => (recovery.recoveredS === null ? 1 : 0)),
      ],
      ['looked', 'Looked for', 's', ranged(({ recovery }) => recovery.lookedS), { digits: 1 }],
      ['after', 'At the end', 'Mbit/s', ranged(({ recovery }) => recovery.after), { digits: 2 }],
      ['tunnels', 'Tunnels', 'count', summed(({ tunnels }) => tunnels)],
      ['died', 'Died', 'count', summed(({ died }) => died)],
      ['lost', 'Lost', 'KiB', summed(({ lost_bytes: lost }) => lost / 1024)],
      ['quiet', 'Slowest answer', 'ms', ranged(({ quiet_most_ms: most }) => most), { digits: 0 }],
    ],
    rows: all.flatMap(({ name, title }) =>
      changes
        .map((change) => ({ of: `${title}: ${change.title.toLowerCase()}`, met: metOf(name, change) }))
        .filter(({ met }) => met.length > 0),
    ),
    notes: [...notes, ...NOTES],
  });

/**
 * The courses of the first round.
 * @param {Named[]} all
 * @param {Change} change
 */
function courseOf(all, change) {
  const courses = all.flatMap((one) => {
    const [met] = metOf(one.name, change);
    return met ? [{ ...one, course: met.course }] : [];
  });
  if (courses.length === 0) return null;
  const times = [...new Set(courses.flatMap(({ course }) => course.map(({ from_s: from }) => from)))];
  const at = (/** @type {Met['course']} */ course, /** @type {number} */ time) =>
    course.find(({ from_s: from }) => from === time);
  return sectionOf({
    name: `course_${change.name}`,
    title: change.title,
    columns: [
      ['at', 'After the change', 's', (/** @type {number} */ time) => time, { digits: 1 }],
      ['mark', 'The link', 'text', (time) => markOf(change, time)],
      ...courses.map(({ name, title, course }) => ({
        name,
        title,
        unit: 'Mbit/s',
        digits: 2,
        of: (/** @type {number} */ time) => at(course, time)?.mbit ?? null,
      })),
      ...courses.map(({ name, title, course }) => ({
        name: `${name}_queue`,
        title: `queue, ${title}`,
        unit: 'KiB',
        digits: 0,
        of: (/** @type {number} */ time) => at(course, time)?.queue_kib ?? null,
      })),
    ],
    rows: times.sort((a, b) => a - b),
    notes: [
      'Payload in each half second, by when it began, and the most that waited in the queue of the link downwards meanwhile; of the first round.',
    ],
    plot: {
      kind: 'course',
      x: 'at',
      y: courses.map(({ name }) => name),
      below: { title: 'Queue of the link, most', y: courses.map(({ name }) => `${name}_queue`) },
      marks: 'mark',
    },
  });
}

/** @param {Change} change @param {number} time s after the change */
function markOf({ mark, back, lasts }, time) {
  if (time === 0) return mark;
  return back && time === lasts ? 'back' : '';
}

/**
 * @param {Named[]} all rows, then controls
 * @param {Change[]} changes
 * @param {string[]} notes on what was not measured
 */
export const changeSections = (all, changes, notes) => [
  tableOf(all, changes, notes),
  ...changes.map((change) => courseOf(all, change)),
];
