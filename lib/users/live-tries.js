/** Tries of users through the inbound until they carry data, or until they do not: when a change took effect. */
import { tryEnd } from '../meter.js';
import { request } from '../sidecar.js';

/** Shortest time between two tries at first, ms; the resolution. Later it is a tenth of the elapsed time (sidecar/README.md). */
export const EVERY_MS = 10;
/** A try without data for this long is a refusal, ms. */
export const SILENT_MS = 1000;
const BYTES = 64;
/** The sidecar's status while the most tries run. */
const CONFLICT = 409;

/**
 * @typedef {{ protocol: string, address: string, method?: string }} Inbound what a probe must know of it
 * @typedef {{ name: string, key: string | undefined }} User
 * @typedef {{ inbound: Inbound, target: string, everyMs: number }} Way to the far end, and the time between two tries at first
 * @typedef {object} Turn ms since 1970
 * @property {number} after The change had no effect yet on a connection that began then; -Infinity: no such connection.
 * @property {number} begun The change had effect on a connection that began then.
 * @property {number} seen when that connection showed it: its first byte, or its end without data
 * @typedef {{ user: User, carries: boolean }} Wanted
 */

/** @param {'GET' | 'POST' | 'DELETE'} method @param {string} path @param {object} [body] @returns {any} Throws if the sidecar refuses */
export function asked(method, path, body) {
  const { answer, error } = request(method, path, body);
  if (error !== null) throw new Error(`sidecar: ${error}`);
  return answer;
}

/** The outcome of a probe, at its end. @param {string} id @returns {any} */
function ended(id) {
  const probe = tryEnd(id);
  if (probe?.outcome) return probe.outcome;
  throw new Error(
    `the probe of users: ${probe?.error?.message ?? probe?.state ?? 'the sidecar does not answer'}`,
  );
}

/** Has users send bytes through an inbound. @param {object} spec @returns {any[]} what was seen of each. Throws if the sidecar refuses */
export const usersTried = (spec) =>
  ended(asked('POST', '/probes', { kind: 'users', payload_bytes: BYTES, ...spec }).id).users;

/** Starts the tries of one user. @param {object} spec @returns {string} its id. Throws if the sidecar refuses */
function tried(spec) {
  const { status, answer, error } = request('POST', '/probes', spec);
  if (status === CONFLICT)
    throw new Error('the sidecar tried as many users as it can at once: give a lower RATE');
  if (error !== null) throw new Error(`sidecar: ${error}`);
  return answer.id;
}

/**
 * Tries all users at once, each with one probe.
 * @param {Way} way
 * @param {Wanted[]} all
 * @param {number} limitS
 * @returns {(Turn | null)[]} null: the user did not turn in time. Throws if the sidecar cannot try
 */
export function turnsOf({ inbound, target, everyMs }, all, limitS) {
  const ids = all.map(({ user, carries }) =>
    tried({
      kind: 'users',
      target,
      payload_bytes: BYTES,
      connections: 1,
      timeout_ms: SILENT_MS,
      // A refusal by silence begins in time and shows later.
      limit_s: limitS + SILENT_MS / 1000,
      users: { ...inbound, list: [user], until: { carries, every_ms: everyMs } },
    }),
  );
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
