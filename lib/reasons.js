/**
 * Why a verdict is not pass. One fault brings about many others: reasons of a kind are folded into one, with what may
 * have brought about the rest first. The terminal and the report show the first few.
 */
import { explain } from './errors.js';
import { count } from './numbers.js';
import { sentenceOf } from './threshold-words.js';

/** Kinds that may have brought about all else, the likeliest first. */
const CAUSES = /** @type {const} */ (['process', 'system', 'machine', 'meter', 'interrupt', 'probe']);

/** What one more of a kind is called, and several. */
const MORE = /** @type {const} */ ({
  process: ['process', 'processes'],
  system: ['operation', 'operations'],
  machine: ['check of the machine', 'checks of the machine'],
  meter: ['fault of the generator', 'faults of the generator'],
  interrupt: ['part', 'parts'],
  probe: ['probe', 'probes'],
  error: ['operation', 'operations'],
  threshold: ['threshold', 'thresholds'],
  integrity: ['check of the data', 'checks of the data'],
  generator: ['check of the generator', 'checks of the generator'],
  dropped: ['operation', 'operations'],
  samples: ['operation', 'operations'],
  rounds: ['operation', 'operations'],
  clock: ['operation', 'operations'],
  limit: ['step', 'steps'],
  row: ['row', 'rows'],
  target: ['row', 'rows'],
  noise: ['row', 'rows'],
  empty: ['part', 'parts'],
});

/**
 * k6/schemas/result.schema.json says what each kind is.
 * @typedef {keyof typeof MORE} Kind
 *
 * @typedef {object} Reason
 * @property {Kind} kind
 * @property {string} name what parts those of a kind: the kind of error, a target; empty where nothing does
 * @property {string} text a sentence of its own
 * @property {{ operation: string, count: number, mend: string }} [error] where it is of the kind error
 *
 * @typedef {object} Folded
 * @property {'cause' | 'consequence'} role a cause may have brought about all consequences
 * @property {Kind} kind
 * @property {string} text one sentence for all of them
 * @property {number} count how many they are
 * @property {string[]} [all] the sentence of each, where they are more than one
 */

/** @param {Kind} kind @param {string} text @param {string} [name] @returns {Reason} */
export const reasonOf = (kind, text, name = '') => ({ kind, name, text });

/**
 * @param {{ name: string, requests: number, errors: Record<string, number> }[]} operations
 * @param {{ operation: string, control: string }[]} controls which operation does the same without the proxy
 * @returns {Reason[]}
 */
export function errorReasons(operations, controls) {
  const errorsOf = (/** @type {string | undefined} */ name) =>
    operations.find((operation) => operation.name === name)?.errors;
  return operations.flatMap(({ name: operation, requests, errors }) => {
    const direct = errorsOf(controls.find((pair) => pair.operation === operation)?.control);
    return Object.entries(errors).map(([name, times]) => {
      const mend = explain(name, direct !== undefined && !direct[name]);
      return {
        ...reasonOf('error', `${operation}: ${times} × ${name} in ${requests} requests: ${mend}`, name),
        error: { operation, count: times, mend },
      };
    });
  });
}

/** @param {import('./thresholds.js').Judged[]} thresholds */
export const crossedReasons = (thresholds) =>
  thresholds
    .filter((line) => !line.ok)
    .map((line) => reasonOf('threshold', `${line.operation}: ${sentenceOf(line)}`));

/** @param {import('./validity.js').Check[]} validity */
export const invalidReasons = (validity) =>
  validity
    .filter((check) => check.ok === false)
    .map(({ check, detail, kind }) => reasonOf(kind, `${check}: ${detail}`));

/** @param {import('./verdict.js').Integrity[]} integrity @param {false | null} ok false: it does not hold; null: nobody could check it */
export const integrityReasons = (integrity, ok) =>
  integrity
    .filter((line) => line.ok === ok)
    .map((line) => reasonOf('integrity', `${line.check}: ${line.detail}`));

/** @param {Reason[]} reasons of one kind and name */
function sentence([first, ...rest]) {
  if (rest.length === 0) return first.text;
  const more = `${rest.length} more ${MORE[first.kind][rest.length === 1 ? 0 : 1]}`;
  if (!first.error) return `${first.text} (and ${more})`;
  const times = [first, ...rest].reduce((sum, { error }) => sum + (error?.count ?? 0), 0);
  return `${first.error.operation} and ${more}: ${count(times)} × ${first.name}: ${first.error.mend}`;
}

/** @param {Kind} kind */
function rank(kind) {
  const index = CAUSES.findIndex((cause) => cause === kind);
  return index < 0 ? CAUSES.length : index;
}

/** @param {Reason[]} reasons @returns {Folded[]} causes first, all else in the order in which it is */
export function fold(reasons) {
  const groups = /** @type {Map<string, Reason[]>} */ (new Map());
  for (const reason of reasons) {
    const key = `${reason.kind} ${reason.name}`;
    groups.set(key, [...(groups.get(key) ?? []), reason]);
  }
  return [...groups.values()]
    .sort(([a], [b]) => rank(a.kind) - rank(b.kind))
    .map((group) => ({
      role: rank(group[0].kind) < CAUSES.length ? 'cause' : 'consequence',
      kind: group[0].kind,
      text: sentence(group),
      count: group.length,
      ...(group.length > 1 ? { all: group.map(({ text }) => text) } : {}),
    }));
}
