/** Descriptors that the instances of a scenario leave open after their load. */
import { said, say } from 'k6/x/windtunnel/record';
import { SETTLE_S } from './rest.js';
import { requestAll } from './sidecar.js';

const NOTE = 'left open';
const ANSWER_MOST_MS = (SETTLE_S + 10) * 1000;

/** @typedef {{ name: string, id: string, versions: Record<string, string> }} Instance */

/** @typedef {{ descriptors: object | null }} Holding */
/** @typedef {{ after_s: number, processes: { before: Holding, after: Holding | null }[] }} Held `after`: null if the process has ended */

/** By name, of this VU, the only one. @type {Record<string, Pick<Instance, 'name' | 'versions'> & { held: Held }>} */
const noted = {};

/** The holding of an instance that did not answer. */
const UNREAD = { after_s: 0, processes: [] };

/** Time until all was closed, in tenths of a second. An unknown holding is worse than each time below the whole. @param {Held} held */
function slowness({ after_s: seconds, processes }) {
  const known = processes.every(({ before, after }) => before.descriptors && after?.descriptors !== null);
  return known && processes.length > 0 ? seconds : SETTLE_S - 0.05;
}

/**
 * Notes what instances hold before they end. They get time to close their descriptors. An instance that has needed all of it stands for the
 * later ones of its name: they are not asked.
 * @param {Instance[]} instances
 */
export function noteLeft(instances) {
  if (instances.length === 0) return;
  const asked = instances.filter(({ name }) => !(noted[name]?.held.after_s >= SETTLE_S));
  const body = { settle_s: SETTLE_S, closes_all: true };
  const answers = requestAll(
    'POST',
    asked.map(({ id }) => ({ path: `/instances/${id}/held`, body })),
    ANSWER_MOST_MS,
  );
  for (const [index, { answer, error }] of answers.entries()) {
    const { name, versions } = asked[index];
    const held = error === null ? answer : UNREAD;
    // The slowest counts.
    if (!noted[name] || slowness(held) >= slowness(noted[name].held)) noted[name] = { name, versions, held };
  }
  say(NOTE, noted);
}

/** Holdings of all instances, for the judge. */
export const heldByRows = () => Object.values(said()[NOTE] ?? {});
