/** Judges whether a panel's answers are about the requested user or page. */
/** @typedef {import('./panel.js').Response} Response */
/** @typedef {{ users: any[], names: string[], total: number }} Page */

const NO_CONTENT = 204;

/**
 * Judges an answer about one user. An answer without content names no user: the stored data must confirm the change
 * (lib/panel/integrity.js).
 * @param {string} field
 * @param {string} wanted expected value
 * @returns {(response: Response, user: any) => number | string} user: in the answer; undefined: none
 */
export const holds = (field, wanted) => (response, user) => {
  if (response.status === NO_CONTENT && response.request?.method !== 'GET') return 1;
  const found = user?.[field];
  if (found === undefined || found === null) return `no ${field} in it`;
  return found === wanted ? 1 : `another ${field} than requested`;
};

/** Judges the answer about the system, which must have numbers. @param {any} system @returns {number | string} */
export function systemFault(system) {
  const figures =
    system && !Array.isArray(system) && Object.values(system).some((value) => typeof value === 'number');
  return figures ? 1 : 'the answer has no system figures';
}

/**
 * The users of a list, or a text that says what is wrong with the list.
 * @param {any} users of the answer
 * @param {any} total of the answer
 * @param {number} [limit] of the request
 * @returns {Page | string}
 */
export function pageOf(users, total, limit = Infinity) {
  if (!Array.isArray(users)) return 'no list of users in it';
  if (typeof total !== 'number') return 'no total in it';
  const names = users.map((user) => user?.username);
  if (names.some((name) => typeof name !== 'string')) return 'an item without a username';
  if (names.length > limit) return 'more users than the limit that was asked for';
  if (new Set(names).size < names.length) return 'one user twice in a page';
  return { users, names, total };
}

/**
 * Makes the page that a panel would list, from the list of all its users.
 * @param {Page} all @param {{ offset: number, limit: number, search: string, status: string }} wanted @returns {Page}
 */
export function pageIn({ users: all }, { offset, limit, search, status }) {
  const found = all.filter((user) => isFoundBy(user, search) && (!status || user.status === status));
  const users = found.slice(offset, offset + limit);
  return { users, names: users.map(({ username }) => username), total: found.length };
}

/** Whether a search should find a user: by name or, as in Marzban, by note. @param {any} user @param {string} search */
export const isFoundBy = ({ username, note }, search) =>
  username.includes(search) || String(note ?? '').includes(search);
