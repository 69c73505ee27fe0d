/** Reads an HTTP answer: whether it was accepted, where it leads, and which part of its body may be shown. */

import { attempt } from './attempt.js';

/** @typedef {{ status: number, headers?: Record<string, string>, url?: string, error?: string, body?: unknown }} Answer */

const MAX_LENGTH = 120;
/** Fields of an error's JSON that are texts for people. All other fields may hold a user's keys. */
const TEXT_FIELDS = ['detail', 'message', 'error', 'errors', 'title'];

/**
 * Whether an answer means success.
 * @param {{ status: number }} response
 * @param {number | null} [wanted] the only status that means success; null: any 2xx
 */
export const isAccepted = ({ status }, wanted = null) =>
  wanted === null ? status >= 200 && status < 300 : status === wanted;

/** Removes the parts of a URL that may be secret: user, password and query. @param {string} url */
const shownUrl = (url) => url.replace(/[?#].*$/, '').replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1');

/** @param {string} url */
const pathOf = (url) => shownUrl(url).replace(/^[a-z]+:\/\/[^/]*/i, '') || '/';

/**
 * The target of a redirect; undefined if the answer is not a redirect. If the path stays the same, only the origin is
 * returned, since the path may hold a user's name.
 * @param {Answer} response
 */
export function redirectOf({ status, headers = {}, url = '' }) {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'location');
  if (status < 300 || status >= 400 || !name) return undefined;
  const target = shownUrl(headers[name]);
  const origin = /^[a-z]+:\/\/[^/]*/i.exec(target)?.[0];
  return origin && pathOf(target) === pathOf(url) ? origin : target;
}

/** An unsuccessful answer in a few words; undefined if no answer came. @param {Answer} response */
export function detailOf(response) {
  if (response.status === 0) return undefined;
  const target = redirectOf(response);
  return `HTTP ${response.status}${target === undefined ? '' : ` to ${target}`}`;
}

/** @param {string} text */
const shortened = (text) => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

/** @param {unknown} value of JSON @returns {string} */
function textOf(value) {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = /** @type {Record<string, any>} */ (value);
  const field = TEXT_FIELDS.find((name) => object[name] !== undefined);
  if (field === undefined) return `JSON with ${Object.keys(object).join(', ') || 'no fields'}`;
  const text = object[field];
  // FastAPI's list of errors repeats the input, which may hold a user's keys.
  if (Array.isArray(text)) return text.map((one) => one?.msg ?? typeof one).join('; ');
  return typeof text === 'string' ? text : JSON.stringify(text);
}

/** The readable text of a body, without fields that may hold a user's keys. @param {Answer} response @returns {string} */
export function saidIn({ body }) {
  const text = String(body ?? '').trim();
  if (text === '') return '';
  try {
    return shortened(textOf(JSON.parse(text)));
  } catch {
    const plain = /^[[{]/.test(text) ? 'JSON that cannot be read' : text.replace(/<[^>]*>/g, ' ');
    return shortened(plain.replace(/\s+/g, ' ').trim());
  }
}

/**
 * Why no answer came. The local port and a path with a user's name are removed: they differ from request to request.
 * @param {Answer} response
 */
export const errorIn = ({ error }) =>
  (error || 'no answer').replace(/\b[0-9a-f.:[\]]+:\d+->/gi, '').replace(/^[A-Z][a-z]+ "[^"]*": /, '');

/** An answer in one line: `HTTP 502: Bad Gateway`, or the error. @param {Answer} response */
export function shown(response) {
  if (response.status === 0) return errorIn(response);
  return [detailOf(response), saidIn(response)].filter(Boolean).join(': ');
}

/** A part of an answer's JSON; undefined if the JSON is malformed. @param {any} response @param {string} [part] @returns {any} */
export const partOf = (response, part) =>
  attempt(() => (part === undefined ? response.json() : response.json(part)), undefined);
