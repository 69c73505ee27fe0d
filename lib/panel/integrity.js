/**
 * Compares the panel's users with what the scenario reports: the same numbers created, disabled, enabled and deleted, no
 * user lost or left, and no other user touched. The judge does the comparison.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { takeCensus } from './census.js';
import { messageOf } from './database.js';

/** @typedef {import('./census.js').Census} Census */
/** @typedef {import('./panel.js').Change} Change */
/** @typedef {import('k6/x/windtunnel/judge').Fact} Fact */
/** @typedef {import('k6/x/windtunnel/judge').Term} Term */
/** @typedef {import('k6/x/windtunnel/judge').Amount} Amount */

/** `loaded`: after the load, before any removal; `removed`: after the removal. @typedef {'loaded' | 'removed'} Moment */

/**
 * In setup() and teardown(): counts the panel's users.
 * @param {import('./panel.js').Panel} panel
 * @param {import('./panel.js').Session} session
 * @returns {Census | null} null, with an error in the log, if the count failed
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

/** @param {Change} change @param {'sent' | 'done' | 'refused'} outcome @param {1 | -1} times @returns {Term} */
const term = (change, outcome, times) => ({ metric: 'user_changes', tags: { change, outcome }, times });

/** @param {Term[]} terms */
const less = (terms) =>
  terms.map(({ times, ...rest }) => ({ ...rest, times: /** @type {1 | -1} */ (-times) }));

/** Changes that succeeded. @param {Change[]} changes */
const done = (...changes) => changes.map((change) => term(change, 'done', 1));

/** Changes without an answer, or with 5xx: the panel may have made them or not. @param {Change[]} changes */
const unclear = (...changes) =>
  changes.flatMap((change) => [
    term(change, 'sent', 1),
    term(change, 'done', -1),
    term(change, 'refused', -1),
  ]);

const KEPT = [...done('created'), ...less(done('deleted_active', 'deleted_disabled'))];
const KEPT_OFF = [...done('disabled'), ...less(done('enabled', 'deleted_disabled'))];

/**
 * @param {{ before: Census | null, loaded: Census | null, removed?: Census | null }} taken before the load, and at both moments;
 *   `removed` is absent if the run removes nothing
 * @param {boolean} sql true: counted by SQL; false: by the panel's API
 * @param {boolean} [alone] true: other programs do not use the panel, as in a testbed
 * @returns {Fact[]}
 */
export function factsOf(taken, sql, alone = false) {
  const stays = taken.removed === undefined;
  const [before, loaded, last] = [taken.before, taken.loaded, stays ? taken.loaded : taken.removed].map(
    (one) => /** @type {Partial<Census>} */ (one ?? {}),
  );
  /** @param {string} check @param {number | null | undefined} found undefined: the census failed @param {Amount} reported @returns {Fact} */
  const fact = (check, found, reported) => ({
    check,
    source: sql ? 'sql' : 'api',
    found: { said: found ?? null },
    reported,
  });
  const none = { said: 0 };
  const active = [...KEPT, ...less(KEPT_OFF)];
  const facts = [
    {
      ...fact('users: created less deleted', loaded.users, { counted: KEPT }),
      slack: unclear('created'),
      fewer: unclear('deleted_active', 'deleted_disabled'),
    },
    {
      ...fact('users: disabled', loaded.disabled, { counted: KEPT_OFF }),
      slack: unclear('disabled'),
      fewer: unclear('enabled', 'deleted_disabled'),
    },
    {
      ...fact('users: active', loaded.active, { counted: active }),
      slack: unclear('created', 'enabled'),
      fewer: unclear('deleted_active', 'disabled'),
    },
    ...(stays ? [] : [fact('users: left after removal', last.users, none)]),
    // Other people may create and remove users of a shared panel: only the run's own users are judged.
    {
      ...fact('users of others', last.others, { said: before.others ?? null }),
      may_grow: true,
      ...(alone ? {} : { may_shrink: true }),
    },
  ];
  if (!sql) return facts;
  return [
    ...facts,
    fact('users without a proxy of each protocol', loaded.incomplete, none),
    ...(stays ? [] : [fact('seeded users: left after removal', last.seeded, none)]),
    {
      ...fact('proxies without a user', last.orphans, { said: before.orphans ?? null }),
      ...(alone ? {} : { may_shrink: true }),
    },
  ];
}
