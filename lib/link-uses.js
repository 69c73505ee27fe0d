/** Traffic of the run's links, by their purpose: evidence for the judge. */
import { said, say } from 'k6/x/windtunnel/record';
import { tryAsk } from './meter.js';

/**
 * @typedef {Record<string, number | null>} Counts of one direction; sidecar/README.md
 * @typedef {{ name: string, links: number, real_time: boolean, failed: string | null, up: Counts, down: Counts }} Use
 */

/** Prefix of the names of these notes. No row has it. */
const PREFIX = '-link ';

/** @type {Map<string, Use>} of this VU */
const uses = new Map();

/** Whether a note is about a link. @param {string} name of a note */
export const isUse = (name) => name.startsWith(PREFIX);

/** If one count is unknown, so is the total. @type {(most: boolean, one: number | null, other: number | null) => number | null} */
const sumOf = (most, one, other) => {
  if (one === null || other === null) return null;
  return most ? Math.max(one, other) : one + other;
};

/**
 * Adds two directions' counts. Counts named `_most` take the maximum.
 * @param {Counts} one
 * @param {Counts} other
 */
export const together = (one, other) =>
  Object.fromEntries(
    Object.entries(other).map(([name, count]) => [
      name,
      sumOf(/_most/.test(name), one[name] ?? (name in one ? null : 0), count),
    ]),
  );

/**
 * Reads the counts of an instance's link, and whether the link still works.
 * @param {string} name
 * @param {string} id of the instance
 * @returns {Use}
 */
export function useOf(name, id) {
  const state = tryAsk('GET', `/instances/${id}/link`);
  if (!state)
    return {
      name,
      links: 1,
      real_time: false,
      failed: 'the process that measured it no longer answers',
      up: {},
      down: {},
    };
  const { real_time: realTime, failed, up, down } = state;
  return { name, links: 1, real_time: realTime, failed, up, down };
}

/**
 * Records the counts of an instance's link. Call it before the instance is stopped.
 * @param {string} name of the row that used the link
 * @param {string} id of the instance
 */
export function keepUse(name, id) {
  const use = useOf(name, id);
  const before = uses.get(name);
  const all = before
    ? {
        ...use,
        links: before.links + 1,
        real_time: before.real_time && use.real_time,
        failed: before.failed ?? use.failed,
        up: together(before.up, use.up),
        down: together(before.down, use.down),
      }
    : use;
  uses.set(name, all);
  say(PREFIX + name, all);
}

/** In handleSummary: all recorded uses. @returns {Use[]} */
export const keptUses = () =>
  Object.entries(said())
    .filter(([name]) => isUse(name))
    .map(([, use]) => use);
