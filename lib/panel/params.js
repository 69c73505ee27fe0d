/** The headers and the time limit of each request to a panel. */

/** The header that carries a token. @param {string} token @param {string} [cookie] its name, if it is a cookie @returns {Record<string, string>} */
const headerOf = (token, cookie) =>
  cookie ? { Cookie: `${cookie}=${token}` } : { Authorization: `Bearer ${token}` };

/** @param {string | null} token @param {number} timeout ms @param {string} [cookie] the token's name, if it is a cookie */
export const paramsOf = (token, timeout, cookie) => ({
  headers: { 'Content-Type': 'application/json', ...(token ? headerOf(token, cookie) : {}) },
  responseType: /** @type {const} */ ('text'),
  timeout,
});
