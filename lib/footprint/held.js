/** Memory, descriptors and threads of the system's processes at one moment. */
import { tryAsk } from '../meter.js';

/**
 * @typedef {Pick<import('../../types/sidecar.d.ts').Held, 'anon_bytes' | 'threads' | 'cpu_s'> & { descriptors: import('../../types/sidecar.d.ts').Descriptors }} Held by
 *   all processes of the system; the sidecar says null for unknown descriptors
 */

/** @param {string | null} window @returns {Held | null} null: unknown */
export function heldNow(window) {
  /** @type {(Held & { role: string })[]} */
  const all = (window && tryAsk('GET', `/windows/${window}/holding`)?.processes) || [];
  const system = all.filter(({ role }) => role === 'system');
  if (system.length === 0 || system.some(({ descriptors }) => !descriptors)) return null;
  const sum = (/** @type {(held: Held) => number} */ of) =>
    system.reduce((total, held) => total + of(held), 0);
  const states = new Set(system.flatMap((held) => Object.keys(held.descriptors.tcp)));
  return {
    anon_bytes: sum((held) => held.anon_bytes),
    threads: sum((held) => held.threads),
    cpu_s: sum((held) => held.cpu_s),
    descriptors: {
      all: sum((held) => held.descriptors.all),
      tcp: Object.fromEntries(
        [...states].map((state) => [state, sum((held) => held.descriptors.tcp[state] ?? 0)]),
      ),
      left: sum((held) => held.descriptors.left),
      udp: sum((held) => held.descriptors.udp),
      pipes: sum((held) => held.descriptors.pipes),
      other: sum((held) => held.descriptors.other),
    },
  };
}

/**
 * The descriptors in words, such as "1,212: 1,200 TCP (close_wait), 12 other".
 * @param {Held['descriptors']} descriptors
 */
export function wordsOf({ all, tcp, udp, pipes, other }) {
  const kinds = Object.entries(tcp)
    .sort((a, b) => b[1] - a[1])
    .map(([state, count]) => `${count} TCP ${state}`);
  if (udp > 0) kinds.push(`${udp} UDP`);
  if (pipes > 0) kinds.push(`${pipes} pipes`);
  return `${all}: ${[...kinds, `${other} other`].join(', ')}`;
}
