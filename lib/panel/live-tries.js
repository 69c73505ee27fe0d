/** Tries of users through the inbound until they carry data, or until they do not: when a change took effect. */
import { request } from '../sidecar.js';
import { ended, usersSpec } from './data-plane.js';

/** First time between two tries, ms; the resolution. Later it is a tenth of the elapsed time (sidecar/README.md). */
export const EVERY_MS = 10;
/** A try without data for this long is a refusal, ms. */
export const SILENT_MS = 1000;
const BYTES = 64;

/**
 * @typedef {object} Turn ms since 1970
 * @property {number} after The change had no effect yet on a connection that began then; -Infinity: no such connection.
 * @property {number} begun The change had effect on a connection that began then.
 * @property {number} seen when that connection showed it: its first byte, or its end without data
 * @typedef {{ user: any, carries: boolean }} Wanted
 */

/**
 * Tries all users at once, each with one probe.
 * @param {{ address: string, target: string }} at inbound and far end
 * @param {Wanted[]} all
 * @param {number} limitS
 * @returns {(Turn | null)[]} null: the user did not turn in time. Throws if the sidecar cannot try
 */
export function turnsOf({ address, target }, all, limitS) {
  const ids = all.map(({ user, carries }) => {
    const { answer, error } = request('POST', '/probes', {
      kind: 'users',
      target,
      payload_bytes: BYTES,
      connections: 1,
      timeout_ms: SILENT_MS,
      // A refusal by silence begins in time and shows later.
      limit_s: limitS + SILENT_MS / 1000,
      users: { ...usersSpec(address, [user]), until: { carries, every_ms: EVERY_MS } },
    });
    if (error !== null) throw new Error(`sidecar: ${error}`);
    return answer.id;
  });
  return ids.map((id) => {
    const { turn } = ended(id).users[0];
    if (!turn || turn.turned_ms === null) return null;
    const began = turn.began_unix_us / 1000;
    return {
      after: turn.last_other_ms === null ? -Infinity : began + turn.last_other_ms,
      begun: began + turn.turned_ms,
      seen: began + turn.seen_ms,
    };
  });
}
