/** k6/x/windtunnel/runner of a run with one runner; a test may set more runners. */
export const calls = /** @type {string[]} */ ([]);
/** The module's answer. */
export const told = {
  many: false,
  setsUp: true,
  tearsDown: true,
  data: /** @type {any} */ (undefined),
  whole: /** @type {any} */ (null),
};

export const many = () => told.many;
export const setsUp = (/** @type {string} */ definition) => (calls.push(`setsUp ${definition}`), told.setsUp);
export const made = (/** @type {any} */ data) => (calls.push('made'), data);
export const data = () => told.data;
export const start = () => void calls.push('start');
export const stopAll = (/** @type {string} */ why) => void calls.push(`stopAll ${why}`);
export const tearsDown = (/** @type {string} */ early) => (calls.push(`tearsDown ${early}`), told.tearsDown);
export const tornDown = (/** @type {string} */ failed) => void calls.push(`tornDown ${failed}`);
export const deliver = (/** @type {any} */ evidence, /** @type {number} */ zero) =>
  void calls.push(`deliver ${evidence.sections[0]} ${zero}`);
export const draft = (/** @type {any} */ evidence) => (
  calls.push(`draft ${evidence.sections[0]}`),
  told.whole
);
export const undelivered = (/** @type {string} */ why) => void calls.push(`undelivered ${why}`);
export const leave = (/** @type {string} */ why) => void calls.push(`leave ${why}`);
