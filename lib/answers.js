/** Reads an HTTP answer: whether it was accepted, where it leads, and which part of its body may be shown. */

/** @typedef {{ status: number, headers?: Record<string, string>, url?: string, error?: string, body?: unknown }} Answer */

const LONGEST_SAID = 120;
/** Fields of an error's JSON that are texts for people. All other fields may hold a user's keys. */
const TOLD_IN = ['detail', 'message', 'error', 'errors', 'title'];

/**
 * Whether an answer means success.
 * @param {{ status: number }} response
 * @param {number | null} [wanted] the one status that does; any 2xx unless given
 */
export const isAccepted = ({ status }, wanted = null) =>
  wanted === null ? status >= 200 && status < 300 : status === wanted;

/** @param {string} url without what may be a secret: user, password and query */
const shownUrl = (url) => url.replace(/[?#].*$/, '').replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1');

/** @param {string} url */
const pathOf = (url) => shownUrl(url).replace(/^[a-z]+:\/\/[^/]*/i, '') || '/';

/**
 * Where an answer sends its request; undefined where it names no other place. A path that stays the same is left out,
 * since it may hold a user's name.
 * @param {Answer} response
 */
export function redirectOf({ status, headers = {}, url = '' }) {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'location');
  if (status < 300 || status >= 400 || !name) return undefined;
  const target = shownUrl(headers[name]);
  const origin = /^[a-z]+:\/\/[^/]*/i.exec(target)?.[0];
  return origin && pathOf(target) === pathOf(url) ? origin : target;
}

/** The answer that came in place of a success, in a few words; undefined where nobody answered. @param {Answer} response */
export function detailOf(response) {
  if (response.status === 0) return undefined;
  const target = redirectOf(response);
  return `HTTP ${response.status}${target === undefined ? '' : ` to ${target}`}`;
}

/** @param {string} text */
const shortened = (text) => (text.length > LONGEST_SAID ? `${text.slice(0, LONGEST_SAID)}…` : text);

/** @param {unknown} value of JSON @returns {string} */
function toldBy(value) {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = /** @type {Record<string, any>} */ (value);
  const field = TOLD_IN.find((name) => object[name] !== undefined);
  if (field === undefined) return `JSON with ${Object.keys(object).join(', ') || 'no fields'}`;
  const told = object[field];
  // FastAPI's list of faults repeats the input, in which a user's keys may stand.
  if (Array.isArray(told)) return told.map((one) => one?.msg ?? typeof one).join('; ');
  return typeof told === 'string' ? told : JSON.stringify(told);
}

/** The text of a body for people, without fields that may hold a user's keys. @param {Answer} response @returns {string} */
export function saidIn({ body }) {
  const text = String(body ?? '').trim();
  if (text === '') return '';
  try {
    return shortened(toldBy(JSON.parse(text)));
  } catch {
    const plain = /^[[{]/.test(text) ? 'JSON that cannot be read' : text.replace(/<[^>]*>/g, ' ');
    return shortened(plain.replace(/\s+/g, ' ').trim());
  }
}

/** Why nobody answered, without what differs from request to request: the local port, and a path with a user's name. @param {Answer} response */
export const errorIn = ({ error }) =>
  (error || 'no answer').replace(/\b[0-9a-f.:[\]]+:\d+->/gi, '').replace(/^[A-Z][a-z]+ "[^"]*": /, '');

/** An answer as a line shows it: `HTTP 502: Bad Gateway`, or the error. @param {Answer} response */
export function shown(response) {
  if (response.status === 0) return errorIn(response);
  return [detailOf(response), saidIn(response)].filter(Boolean).join(': ');
}

/** A part of an answer's JSON; undefined where it cannot be read. @param {any} response @param {string} [part] @returns {any} */
export function partOf(response, part) {
  try {
    return part === undefined ? response.json() : response.json(part);
  } catch {
    return undefined;
  }
}
