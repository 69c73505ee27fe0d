/**
 * The variables that a user may set, as scripts read them: k6/lists/variables.json is the one registry of them, with each
 * one's default and bounds. A script of one's own may read others.
 */
import { entry, misspelt, wrong } from 'k6/x/windtunnel/variables';

/**
 * @typedef {{ unit: string, of: string[], choices?: string[], most?: number, default?: Value | Record<string, Value> }} Variable
 * @typedef {string | number} Value
 */

/** Of `k6 run -e`: what is in the environment may be somebody else's. */
const line = misspelt();
if (line) throw line;

/** @param {string} name @returns {Variable | null} null where the registry has none */
function find(name) {
  const found = entry(name);
  return found ? JSON.parse(found) : null;
}

/** @param {string} name @returns {Variable} */
function variable(name) {
  const found = find(name);
  if (!found) throw `${name}: k6/lists/variables.json has no such variable`;
  return found;
}

/** Whether the registry says that a scenario, as SYSTEM/SCENARIO, reads a variable. @param {string} name @param {string} scenario */
export const readBy = (name, scenario) =>
  variable(name).of.some((of) => of === '*' || of === scenario || of === scenario.split('/')[0]);

/** The most that a number may be. @param {string} name */
export const mostOf = (name) => Number(variable(name).most);

/**
 * The default of a variable, where the registry has it.
 * @param {string} name
 * @param {string} [scenario] as SYSTEM/SCENARIO, or a system, where each has its own
 * @returns {Value}
 */
export function defaultOf(name, scenario = '') {
  const { default: all } = variable(name);
  const found = typeof all === 'object' ? all[scenario] : all;
  if (found === undefined) throw `${name}: k6/lists/variables.json has no default for ${scenario || 'all'}`;
  return found;
}

/** A default that is a number. @param {string} name @param {string} [scenario] */
export const defaultNumber = (name, scenario) => Number(defaultOf(name, scenario));

/**
 * What is set, within its bounds.
 * @param {string} name
 * @param {boolean} [whole] of a variable of one's own: whether it is a whole number
 * @returns {string | undefined} undefined where nothing is
 */
export function given(name, whole = false) {
  const text = __ENV[name];
  if (text === undefined || text === '') return undefined;
  const why = wrong(name, text, whole);
  if (why) throw why;
  return text;
}

/**
 * A text.
 * @param {string} name
 * @param {string} [scenario] whose default it has where it is not set, where each has its own
 */
export const envText = (name, scenario) => given(name) ?? String(defaultOf(name, scenario));

/**
 * The items of a list.
 * @param {string} name
 * @param {string} [fallback] where it is not set; the registry's unless given
 */
export const envList = (name, fallback) =>
  (given(name) ?? fallback ?? String(defaultOf(name))).split(',').map((item) => item.trim());

/**
 * One of some words.
 * @param {string} name
 * @param {string | string[]} [own] the default, where the registry has none; of a variable of one's own the words, the
 *   first of which is the default
 * @returns {string}
 */
export function envChoice(name, own) {
  if (!Array.isArray(own)) return given(name) ?? own ?? String(defaultOf(name));
  const word = __ENV[name] || own[0];
  if (!own.includes(word)) throw `${name}=${word}: choose one of ${own.join(', ')}`;
  return word;
}

/**
 * @param {string} name
 * @param {number | string | undefined} fallback
 * @param {boolean} whole
 */
function number(name, fallback, whole) {
  const text = given(name, whole);
  if (text !== undefined) return Number(text);
  return typeof fallback === 'number' ? fallback : defaultNumber(name, fallback);
}

/**
 * A number.
 * @param {string} name
 * @param {number | string} [fallback] where it is not set: a number, or the scenario whose default the registry has; the
 *   registry's default for all unless given
 */
export const envNumber = (name, fallback) => number(name, fallback, false);

/**
 * A whole number.
 * @param {string} name
 * @param {number | string} [fallback] as of envNumber()
 */
export const envCount = (name, fallback) => number(name, fallback, true);

/** How many times as much a load of a fixed number does as its profile or its variable says. */
export const envTimes = () => envCount('TIMES');

/** How long a request of the load may take, ms. @param {string} system */
export const requestTimeoutMs = (system) => envCount('REQUEST_TIMEOUT_S', system) * 1000;

/** Seconds from DURATION, written as 90, 90s, 5m or 1h. @param {number} fallback */
export function durationSeconds(fallback) {
  const text = given('DURATION');
  if (text === undefined) return fallback;
  const unit = { s: 1, m: 60, h: 3600 }[/** @type {'s'} */ (text.slice(-1))];
  return parseFloat(text) * (unit ?? 1);
}
