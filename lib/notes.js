/** Notes of a run that grow while it measures: lists, and lists by key. Each is read again in handleSummary. */
import { said, say } from 'k6/x/windtunnel/record';

/** The list under a name; empty if nothing was noted. @param {string} name @returns {any[]} */
export const listOf = (name) => said()[name] ?? [];

/** The lists under a name by their keys; empty if nothing was noted. @param {string} name @returns {Record<string, any[]>} */
export const listsOf = (name) => said()[name] ?? {};

/** Adds to a list. @param {string} name @param {unknown} one */
export const note = (name, one) => say(name, [...listOf(name), one]);

/** Adds to the list of a key. @param {string} name @param {string} key @param {unknown} one */
export function noteBy(name, key, one) {
  const all = listsOf(name);
  say(name, { ...all, [key]: [...(all[key] ?? []), one] });
}
