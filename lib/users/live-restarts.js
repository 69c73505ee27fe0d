/** Restarts of the system's programs, by their process ids. */
import { request } from '../sidecar.js';

/** @typedef {{ pid: number, start: number, file: string }} Alive a process; `start`: clock ticks from boot */

/** The system's processes that live; null: unknown, since no testbed names them. @returns {Alive[] | null} */
export function aliveNow() {
  if (!__ENV.INSTANCE) return null;
  const { answer, error } = request('GET', `/instances/${__ENV.INSTANCE}`);
  return error === null
    ? answer.processes.flatMap((/** @type {any} */ { role, alive }) => (role === 'system' ? alive : []))
    : null;
}

/** @param {Alive} one */
const identity = ({ pid, start }) => `${pid}@${start}`;

/**
 * A sentence for each program that began again. A program that ran at first and appears with another process began again.
 * @param {(Alive[] | null)[]} readings in order of time
 * @returns {string[]}
 */
export function restartsOf(readings) {
  const [first, ...later] = readings.filter((one) => one !== null);
  if (!first) return [];
  const known = new Set(first.map(identity));
  /** @type {Map<string, number[]>} */
  const begun = new Map();
  for (const one of later.flat()) {
    if (known.has(identity(one)) || !first.some(({ file }) => file === one.file)) continue;
    known.add(identity(one));
    begun.set(one.file, [...(begun.get(one.file) ?? []), one.pid]);
  }
  return [...begun].map(([file, pids]) => {
    const before = first.filter((one) => one.file === file).map(({ pid }) => pid);
    const times = pids.length === 1 ? 'once' : `${pids.length} times`;
    return `${file} was restarted ${times}: pid ${before.join(' and ')}, then ${pids.join(', ')}`;
  });
}
