/** The holdings of a scenario's instances before, during and after their load. */
import { requestAll, said, say } from 'k6/x/windtunnel/record';
import { SETTLE_S } from './rest.js';

const NOTE = 'left open';
const ANSWER_MOST_MS = (SETTLE_S + 10) * 1000;
/** Figures of a process's use that are peaks. */
const PEAKS = /** @type {const} */ (['peak_anon_bytes', 'peak_open_files', 'peak_threads']);

/** @typedef {{ name: string, id: string, versions: Record<string, string>, unjudged?: string }} Instance `unjudged`: why nothing that it leaves open counts. */

/** @typedef {import('../types/sidecar.d.ts').KeptBy} Process */
/** @typedef {Omit<import('../types/sidecar.d.ts').Kept, 'slack'>} Held */
/** @typedef {Partial<Record<typeof PEAKS[number], number | null>>} Peak null: unknown. */
/** @typedef {Record<string, Peak>} Peaks by process */

/** By name, of this VU, the only one. @type {Record<string, Omit<Instance, 'id'> & { held: Held, peaks: Peaks }>} */
const noted = {};
/** Peaks while probes measured, by instance. @type {Record<string, Peaks>} */
const peaks = {};
/** Holdings before the load, by instance, of programs that start later than their testbed. @type {Record<string, Process[]>} */
const begun = {};

/** The holding of an instance that did not answer. */
const UNREAD = { after_s: 0, processes: [] };

/** Time until all was closed, in tenths of a second. An unknown holding is worse than each time below the whole. @param {Held} held */
function slowness({ after_s: seconds, processes }) {
  const known = processes.every(({ before, after }) => before.descriptors && after?.descriptors !== null);
  return known && processes.length > 0 ? seconds : SETTLE_S - 0.05;
}

/** Why an instance is not judged, if it has a link: the end of a connection may be lost or late there. @param {unknown} link */
export const overLink = (link) => (link ? 'over a link' : undefined);

/** The larger of each figure. @param {Peak} one @param {Peak} other @returns {Peak} */
const larger = (one, other = {}) =>
  Object.fromEntries(PEAKS.map((name) => [name, Math.max(one[name] ?? 0, other[name] ?? 0) || null]));

/** @param {Peaks} all @param {Peaks} more */
function addPeaks(all, more) {
  for (const [name, peak] of Object.entries(more)) all[name] = larger(peak, all[name]);
}

/** Notes the peaks of an instance while something measured it. @param {string} id @param {import('./sidecar.js').Usage | null} usage */
export function notePeaks(id, usage) {
  const system = usage?.processes.filter(({ role }) => role === 'system') ?? [];
  addPeaks((peaks[id] ??= {}), Object.fromEntries(system.map((process) => [process.name, process])));
}

/** @param {Instance[]} instances @param {number} settle_s */
function heldBy(instances, settle_s) {
  const requests = instances.map(({ id }) => ({
    path: `/instances/${id}/held`,
    body: { settle_s, closes_all: true },
  }));
  return requestAll('POST', requests, ANSWER_MOST_MS);
}

/** Notes what an instance holds before its load, if its program starts later than its testbed. @param {string} id */
export function noteBegun(id) {
  const [{ answer, error }] = heldBy([{ id, name: '', versions: {} }], 0);
  if (error === null) begun[id] = answer.processes;
}

/** @param {Held} held @param {Process[]} [at] the begin of the load @returns {Held} */
function since(held, at = []) {
  const processes = held.processes.map((one) => {
    const then = at.find(({ name }) => name === one.name)?.after;
    return then ? { ...one, before: then } : one;
  });
  return { ...held, processes };
}

/**
 * Notes what instances hold before they end. They get time to close their descriptors. An instance that has needed all of it stands for the
 * later ones of its name: they are not asked.
 * @param {Instance[]} instances
 */
export function noteLeft(instances) {
  if (instances.length === 0) return;
  const asked = instances.filter(({ name }) => !(noted[name]?.held.after_s >= SETTLE_S));
  for (const [index, { answer, error }] of heldBy(asked, SETTLE_S).entries()) {
    const { id, ...about } = asked[index];
    const held = error === null ? since(answer, begun[id]) : UNREAD;
    const last = noted[about.name];
    // The slowest counts.
    if (!last || slowness(held) >= slowness(last.held))
      noted[about.name] = { ...about, held, peaks: last?.peaks ?? {} };
  }
  for (const { id, name } of instances) addPeaks(noted[name].peaks, peaks[id] ?? {});
  say(NOTE, noted);
}

/** The most of all readings. @param {Process} process @param {Peak} [peak] while probes measured @returns {Peak | undefined} */
function mostOf({ before, after }, peak) {
  if (!peak) return undefined;
  return [before, after ?? before].reduce(
    (most, { anon_bytes, threads, descriptors }) =>
      larger(most, {
        peak_anon_bytes: anon_bytes,
        peak_open_files: descriptors?.all ?? null,
        peak_threads: threads,
      }),
    peak,
  );
}

/** Holdings of all instances, for the judge. */
export const heldByRows = () =>
  Object.values(/** @type {typeof noted} */ (said()[NOTE] ?? {})).map(({ peaks: most, held, ...about }) => {
    const processes = held.processes.map((one) => ({ ...one, peak: mostOf(one, most[one.name]) }));
    return { ...about, held: { ...held, processes } };
  });
