/**
 * Names of the users that a run creates. Marzban allows 3 to 32 characters of [a-z0-9_], so a name has only a hash of the
 * run's id; the user's note has the whole id. Users without both marks were not created by this run.
 */
import crypto from 'k6/crypto';

const HASH_DIGITS = 12;
const INDEX_DIGITS = 7;

/** @param {string} runId */
const hashOf = (runId) => crypto.sha256(runId, 'hex').slice(0, HASH_DIGITS);

/** Prefix of all users that a run creates by requests. @param {string} runId */
export const runPrefix = (runId) => `wt_${hashOf(runId)}_`;

/** Prefix of all users that a run seeds by SQL. @param {string} runId */
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
