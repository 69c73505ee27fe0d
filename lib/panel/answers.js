/** Judges answers of a panel: whether they are about the user, and the page, that was asked for. */
import { partOf } from '../answers.js';

/** @typedef {import('./panel.js').Response} Response */
/** @typedef {{ users: any[], names: string[], total: number }} Page */

const NO_CONTENT = 204;

/**
 * Judges an answer about one user. One without content claims a change, and names nothing: what is stored tells
 * (lib/panel/integrity.js).
 * @param {string} field
 * @param {string} wanted its value
 * @returns {(response: Response) => number | string}
 */
export const holds = (field, wanted) => (response) => {
  if (response.status === NO_CONTENT && response.request?.method !== 'GET') return 1;
  const found = partOf(response, field);
  if (found === undefined || found === null) return `no ${field} in it`;
  return found === wanted ? 1 : `another ${field} than the one that was asked for`;
};

/** Judges the answer about the system: figures of it, not an error. @param {Response} response @returns {number | string} */
export function systemFault(response) {
  const system = partOf(response);
  const figures =
    system && !Array.isArray(system) && Object.values(system).some((value) => typeof value === 'number');
  return figures ? 1 : 'no figures of the system in it';
}

/**
 * The users of a list; in words what is wrong with it.
 * @param {Response} response
 * @param {number} [limit] that was asked for
 * @returns {Page | string}
 */
export function pageOf(response, limit = Infinity) {
  const users = partOf(response, 'users');
  const total = partOf(response, 'total');
  if (!Array.isArray(users)) return 'no list of users in it';
  if (typeof total !== 'number') return 'no total in it';
  const names = users.map((user) => user?.username);
  if (names.some((name) => typeof name !== 'string')) return 'an item without a username';
  if (names.length > limit) return 'more users than the limit that was asked for';
  if (new Set(names).size < names.length) return 'one user twice in a page';
  return { users, names, total };
}

/** Whether a user is one that a search finds: by name or, as Marzban does, by note. @param {any} user @param {string} search */
export const isFoundBy = ({ username, note }, search) =>
  username.includes(search) || String(note ?? '').includes(search);
