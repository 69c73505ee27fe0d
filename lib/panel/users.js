/**
 * Names of the users that a run makes. Marzban takes [a-z0-9_], 3 to 32 of them, so the run's
 * id is in there as a hash, and whole in the user's note: what has not both is not the run's.
 */
import crypto from 'k6/crypto';

const HASH_DIGITS = 12;
const INDEX_DIGITS = 7;

/** @param {string} runId */
const hashOf = (runId) => crypto.sha256(runId, 'hex').slice(0, HASH_DIGITS);

/** What the names of all users begin with that a run's requests make. @param {string} runId */
export const runPrefix = (runId) => `wt_${hashOf(runId)}_`;

/** What the names of users begin with that a run seeds by SQL, as if they had been there. @param {string} runId */
export const seedPrefix = (runId) => `ws_${hashOf(runId)}_`;

/**
 * @param {string} prefix of the run
 * @param {string} group such as the scenario's name, [a-z]{1,9}
 * @param {number} index below 10,000,000
 */
export const userName = (prefix, group, index) =>
  `${prefix}${group}${String(index).padStart(INDEX_DIGITS, '0')}`;

/** A user's note. @param {string} runId */
export const noteOf = (runId) => `windtunnel ${runId}`;
