/** Memory and descriptors of the programs of a row after its turns, and how often they wake while nothing is sent. */
import { heldNow } from '../footprint/held.js';
import { grouped, rangeOf } from '../section.js';
import { mostTunnels } from './figures.js';
import { sideTable } from './side-table.js';

const MIB = 2 ** 20;

/** @typedef {import('../footprint/held.js').Held} Held */

/** @param {(string | null)[]} windows of a turn's instances @returns {Held[] | null} null: one is unknown */
export function holdings(windows) {
  const all = windows.map(heldNow);
  return all.includes(null) ? null : /** @type {Held[]} */ (all);
}

/**
 * Notes a turn's figures.
 * @param {import('./turn.js').Turn} turn
 * @param {Held[] | null} held after the quiet period
 * @param {number | null} woken wake-ups in a second of it
 */
export function noteFootprint({ figures }, held, woken) {
  const sum = (/** @type {(held: Held) => number} */ of) =>
    held && held.reduce((total, one) => total + of(one), 0);
  const memory = sum((one) => one.anon_bytes);
  figures.after_anon_mib = memory && memory / MIB;
  figures.after_descriptors = sum(({ descriptors }) => descriptors.all);
  figures.after_left = sum(({ descriptors }) => descriptors.left);
  figures.after_wakeups_per_s = woken;
}

/** A comparison takes less than `least` as that: it harms nobody. Each of a row's two ends may leave 10 connections. Wake-ups have the bound of
 * footprint/idle, because the quiet period is short. */
export const JUDGED = /** @type {const} */ ({ compare: 'lower', secondary: true });
export const FIGURES = /** @type {const} */ ({
  after_anon_mib: { title: 'own memory', unit: 'MiB', digits: 1, ...JUDGED, least: 1 },
  after_descriptors: { title: 'descriptors', unit: 'count', ...JUDGED, least: 100 },
  after_left: { title: 'left connections', unit: 'count', ...JUDGED, least: 20 },
  after_wakeups_per_s: { title: 'wake-ups', unit: '/s', digits: 0, ...JUDGED, least: 100 },
});

/** Own memory with the largest number of tunnels, which the table of each side prints. @param {import('./result.js').Found} found */
function ofTunnels(found) {
  const most = mostTunnels(found);
  const title = `own memory with ${grouped(most)} tunnels`;
  return most > 0
    ? {
        [`tunnels_${most}_anon_mib`]: {
          title,
          unit: 'MiB',
          print: /** @type {const} */ ('none'),
          ...JUDGED,
          least: 1,
        },
      }
    : {};
}

/** A table for all sides: medians of the turns. @param {import('./result.js').Found} found */
export const footprintSection = (found) =>
  sideTable(found, {
    name: 'footprint',
    title: 'Footprint after a turn',
    figures: { ...FIGURES, ...ofTunnels(found) },
    of: (row, side, name) => rangeOf(row[side]?.figures[name]),
    notes: [
      'Both ends of the row, in the quiet period after the probes of a turn. A left connection is one whose other end is closed, or is the far end.',
    ],
  });
