/**
 * Whether the panel holds what the scenario reports: as many users created, disabled, enabled
 * and deleted, none lost, none left, none of others touched.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { takeCensus } from './census.js';
import { messageOf } from './database.js';
import { CHANGES } from './panel.js';

/** @typedef {import('./census.js').Census} Census */
/** @typedef {import('k6/x/windtunnel/judge').Integrity} Integrity */
/** @typedef {import('k6/x/windtunnel/record').Metrics} Metrics */

/** Before anything is removed, and after everything should be. @typedef {'loaded' | 'removed'} Moment */
const OUTCOMES = /** @type {const} */ (['sent', 'done', 'refused']);

/**
 * In setup() and teardown().
 * @param {import('./panel.js').Panel} panel
 * @param {import('./panel.js').Session} session
 * @returns {Census | null} null, and a line in the log, where it could not be taken
 */
export function census(panel, session) {
  try {
    return takeCensus(panel, session);
  } catch (error) {
    console.error(`panel: its rows could not be counted: ${messageOf(error)}`);
    return null;
  }
}

/** @param {Moment} moment */
const nameOf = (moment) => `census, ${moment}`;

/** @param {Moment} moment @param {Census | null} taken */
export const keepCensus = (moment, taken) => say(nameOf(moment), taken);

/** In handleSummary. @param {Moment} moment @returns {Census | null} */
export const censusOf = (moment) => said()[nameOf(moment)] ?? null;

/** @param {Metrics} metrics */
function changesOf(metrics) {
  const counts = CHANGES.map((change) => {
    const [sent, done, refused] = OUTCOMES.map(
      (outcome) => metrics[`user_changes{change:${change},outcome:${outcome}}`]?.values.count ?? 0,
    );
    return [change, { done, unknown: sent - done - refused }];
  });
  return /** @type {Record<import('./panel.js').Change, { done: number, unknown: number }>} */ (
    Object.fromEntries(counts)
  );
}

/**
 * @param {string} check
 * @param {number | null} reported
 * @param {number | null} found
 * @param {Integrity['source']} source
 * @param {number} [unknown] changes whose answer never came, or was 5xx: each may count or not
 * @returns {Integrity}
 */
function compare(check, reported, found, source, unknown = 0) {
  const line = { check, reported, found, source };
  if (reported === null || found === null) return { ...line, ok: null, detail: 'could not be counted' };
  const difference = found - reported;
  if (difference === 0) return { ...line, ok: true, detail: `${found}, as reported` };
  const detail = `${found} found, ${reported} reported`;
  if (Math.abs(difference) > unknown) return { ...line, ok: false, detail };
  return {
    ...line,
    ok: true,
    detail: `${detail}; ${unknown} changes got no clear answer and may have been made`,
  };
}

/**
 * On a panel that is up, others may work too: more users are not the run's doing, fewer might be.
 * @param {number | null} before
 * @param {number | null} after
 * @param {Integrity['source']} source
 * @returns {Integrity}
 */
function compareOthers(before, after, source) {
  const line = compare('users of others', before, after, source);
  if (before === null || after === null || after <= before) return line;
  return {
    ...line,
    ok: true,
    detail: `${after}, ${after - before} more than before the run: somebody else's`,
  };
}

/** One that could not be taken. @type {Census} */
const NONE = {
  users: null,
  active: null,
  disabled: null,
  incomplete: null,
  orphans: null,
  seeded: null,
  others: null,
};

/**
 * @param {Metrics} metrics
 * @param {Record<'before' | 'loaded' | 'removed', Census | null>} taken before anything was made, and at both moments
 * @param {boolean} sql whether there is a database to ask, else the panel's API
 * @returns {Integrity[]}
 */
export function integrityOf(metrics, taken, sql) {
  const { before, loaded, removed } = {
    before: taken.before ?? NONE,
    loaded: taken.loaded ?? NONE,
    removed: taken.removed ?? NONE,
  };
  const source = sql ? 'sql' : 'api';
  const { created, disabled, enabled, deleted_active: active, deleted_disabled: off } = changesOf(metrics);
  const kept = created.done - active.done - off.done;
  const keptOff = disabled.done - enabled.done - off.done;
  const unsure = created.unknown + active.unknown + off.unknown;
  const unsureOff = disabled.unknown + enabled.unknown + off.unknown;
  const lines = [
    compare('users: created less deleted', kept, loaded.users, source, unsure),
    compare('users: disabled', keptOff, loaded.disabled, source, unsureOff),
    compare('users: active', kept - keptOff, loaded.active, source, unsure + unsureOff),
    compare('users: left after removal', 0, removed.users, source),
    compareOthers(before.others, removed.others, source),
  ];
  if (!sql) return lines;
  return [
    ...lines,
    compare('users without a proxy of each protocol', 0, loaded.incomplete, source),
    compare('seeded users: left after removal', 0, removed.seeded, source),
    compare('proxies without a user', before.orphans, removed.orphans, source),
  ];
}
