/**
 * The variables that a user may set. k6/lists/variables.json is their registry, with defaults and bounds. A user's script
 * may read other variables too.
 */
import { entry, misspelt, wrong } from 'k6/x/windtunnel/variables';

/**
 * @typedef {{ unit: string, of: string[], choices?: string[], most?: number, default?: Value | Record<string, Value> }} Variable
 * @typedef {string | number} Value
 */

// Only variables of `k6 run -e` are checked: the environment may hold variables of other programs.
const line = misspelt();
if (line) throw line;

/** @param {string} name @returns {Variable | null} null if the registry lacks the variable */
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

/** The largest allowed value of a number. @param {string} name */
export const mostOf = (name) => Number(variable(name).most);

/**
 * The default of a variable in the registry.
 * @param {string} name
 * @param {string} [scenario] as SYSTEM/SCENARIO, or a system, if the default depends on it
 * @returns {Value}
 */
export function defaultOf(name, scenario = '') {
  const { default: all } = variable(name);
  const found = typeof all === 'object' ? all[scenario] : all;
  if (found === undefined) throw `${name}: k6/lists/variables.json has no default for ${scenario || 'all'}`;
  return found;
}

/** The default of a number. @param {string} name @param {string} [scenario] */
export const defaultNumber = (name, scenario) => Number(defaultOf(name, scenario));

/**
 * The value that is set, after a check of its bounds.
 * @param {string} name
 * @param {boolean} [whole] for a variable outside the registry: whether it is a whole number
 * @returns {string | undefined} undefined if the variable is not set
 */
export function given(name, whole = false) {
  const text = __ENV[name];
  if (text === undefined || text === '') return undefined;
  const why = wrong(name, text, whole);
  if (why) throw why;
  return text;
}

/**
 * The items of a list variable, separated by commas.
 * @param {string} name
 * @param {string} [fallback] default; the registry's default unless given
 */
export const envList = (name, fallback) =>
  (given(name) ?? fallback ?? String(defaultOf(name))).split(',').map((item) => item.trim());

/**
 * The value of a variable with fixed choices.
 * @param {string} name
 * @param {string | string[]} [fallback] the default, if the registry has none; for a variable outside the registry the
 *   choices, the first of which is the default
 * @returns {string}
 */
export function envChoice(name, fallback) {
  if (!Array.isArray(fallback)) return given(name) ?? fallback ?? String(defaultOf(name));
  const word = __ENV[name] || fallback[0];
  if (!fallback.includes(word)) throw `${name}=${word}: choose one of ${fallback.join(', ')}`;
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
 * The value of a variable that is a number.
 * @param {string} name
 * @param {number | string} [fallback] the default, or the scenario that selects the registry's default; the registry's
 *   common default unless given
 */
export const envNumber = (name, fallback) => number(name, fallback, false);

/**
 * The value of a variable that is a whole number.
 * @param {string} name
 * @param {number | string} [fallback] see envNumber()
 */
export const envCount = (name, fallback) => number(name, fallback, true);

/** Factor by which a load of a fixed number exceeds its profile or its variable. */
export const envTimes = () => envCount('TIMES');

/** Timeout of a request of the load, ms. @param {string} system */
export const requestTimeoutMs = (system) => envCount('REQUEST_TIMEOUT_S', system) * 1000;

/** Seconds from DURATION, written as 90, 90s, 5m or 1h. @param {number} fallback */
export function durationSeconds(fallback) {
  const text = given('DURATION');
  if (text === undefined) return fallback;
  const unit = { s: 1, m: 60, h: 3600 }[/** @type {'s'} */ (text.slice(-1))];
  return parseFloat(text) * (unit ?? 1);
}
