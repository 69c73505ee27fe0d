/**
 * Names of the users that a run makes. Marzban takes [a-z0-9_], 3 to 32 of them, so the run's
 * id is in there as a hash, and whole in the user's note: what has not both is not the run's.
 */
import crypto from 'k6/crypto';

const HASH_DIGITS = 12;
const INDEX_DIGITS = 7;

/** What the names of all users of a run begin with. @param {string} runId */
export const runPrefix = (runId) => `wt_${crypto.sha256(runId, 'hex').slice(0, HASH_DIGITS)}_`;

/**
 * @param {string} prefix of the run
 * @param {string} group such as the scenario's name, [a-z]{1,9}
 * @param {number} index below 10,000,000
 */
export const userName = (prefix, group, index) =>
  `${prefix}${group}${String(index).padStart(INDEX_DIGITS, '0')}`;

/** The users that are seeded by SQL, as if they had been there. */
export const SEEDED = 'seed';

/** A user's note. @param {string} runId */
export const noteOf = (runId) => `windtunnel ${runId}`;
