/** Outcomes: how a row ended on one side. */
import { isOfBusyMachine } from '../errors.js';
import { PROGRAMS } from './matrix.js';

/**
 * @typedef {{ name: string, exit: string | null, complaint?: { line: string, count: number } | null }} Process
 * @typedef {'measured' | 'errors' | 'missing binary' | 'refused configuration' | 'ended at start' | 'crashed at start' |
 *   'not ready' | 'killed for memory' | 'died in mid-run' | 'corrupted payload' | 'does not interoperate' | 'not encrypted' | 'wrong wire' | 'too slow' | 'impossible here' | 'not reached'} Name
 * @typedef {{ outcome: Name, detail: string | null, lacks?: 'left out' | 'unknown type', busy?: boolean, unchecked?: string | null, killed?: number }} Outcome `lacks`: a
 *   feature missing from the program's build or version, by its own message; `busy`: a busy machine may be the cause;
 *   `unchecked`: why the turn's hop could not be checked; `killed`: processes that the kernel killed for memory
 */

/** Kinds of errors that mean changed payload. */
export const CORRUPT = ['corrupted', 'truncated'];

/** Whether a missing file is the program under test. @param {string} path @param {string} binary */
const isProgram = (path, binary) =>
  binary ? path === binary : PROGRAMS.some((name) => path.endsWith(`/bin/${name}`));

/** Matches the last lines of a program that rejects its configuration. */
const OF_CONFIGURATION =
  /\b(config(uration|s)?|json|pars(e|er|ing)|decod(e|ing)|unmarshal\w*|(unknown|unsupported|unexpected|missing|invalid) (\w+ )?(field|type|key|value|variant|option|transport|cipher|method|inbound|outbound))\b/i;

/** sing-box's messages for a feature that its build tags leave out, and for a type that its version does not know. */
const LEFT_OUT = /is not included in this build/;
const UNKNOWN_TYPE = /unknown (inbound|outbound|endpoint) type|unknown variant/i;

/** The feature that a program says it lacks. @param {string} said @returns {Pick<Outcome, 'lacks'>} */
function lackOf(said) {
  if (LEFT_OUT.test(said)) return { lacks: 'left out' };
  return UNKNOWN_TYPE.test(said) ? { lacks: 'unknown type' } : {};
}

/** @typedef {import('../../types/sidecar.d.ts').Cause} Cause */

/** The process of the testbed that failed. @param {Cause} [cause] */
export const processOf = (cause) => (cause && 'process' in cause ? cause.process : null);

/** The outcome of a program that ended at its start. @param {Extract<Cause, { is: 'ended' }>} cause @returns {Name} */
function ofEnd({ status, signal, said }) {
  if (typeof signal === 'number') return 'crashed at start';
  const code = status ?? 0;
  // A shell's exit codes for a program that it cannot run.
  if (code === 126 || code === 127) return 'missing binary';
  // Go's panics exit with 2, Rust's with 101. Many programs also exit with 2 for unknown arguments.
  if (code > 127 || code === 101) return 'crashed at start';
  const text = said.join(' ');
  if (LEFT_OUT.test(text)) return 'impossible here';
  if (OF_CONFIGURATION.test(text)) return 'refused configuration';
  return code === 2 && !/\busage\b|--help/i.test(text) ? 'crashed at start' : 'ended at start';
}

/** The outcome of a program that did not start. @param {Cause} cause @returns {Name} */
function ofProgram(cause) {
  if (cause.is === 'missing_program') return 'missing binary';
  if (cause.is === 'not_ready') return 'not ready';
  return cause.is === 'ended' ? ofEnd(cause) : 'not reached';
}

/** The outcome of a failure outside the processes: files, rights. @param {Cause | undefined} cause @param {string} binary @param {boolean} cannot @returns {Name} */
function ofMachine(cause, binary, cannot) {
  const missing = cause?.is === 'missing_file' ? cause.path : '';
  if (isProgram(missing, binary)) return 'missing binary';
  // A package manager installs such a file. If one that `make` builds is missing, it is the user's mistake.
  const isOfTheMachine = missing.startsWith('/usr/');
  return cannot || cause?.is === 'no_hop' || isOfTheMachine ? 'impossible here' : 'not reached';
}

/**
 * The outcome of a failed start. It blames the program if the program's process failed.
 * @param {Pick<import('./matrix.js').Row, 'foreign'>} row
 * @param {string} binary path of the program under test; '': the one that `make testbeds` builds
 * @param {{ error: string, cause?: Cause }} failure from the sidecar
 * @param {boolean} [cannot] the sidecar reports that this machine or user cannot run it
 * @returns {Outcome}
 */
export function ofFailedStart({ foreign }, binary, { error, cause }, cannot = false) {
  if (cause?.is === 'killed_for_memory')
    return { outcome: 'killed for memory', detail: error, killed: cause.times };
  return ofStart({ foreign }, binary, { error, cause }, cannot);
}

/** ofFailedStart() without limits. @type {typeof ofFailedStart} */
function ofStart({ foreign }, binary, { error, cause }, cannot = false) {
  const end = processOf(cause);
  if (!cause || cannot || (end !== 'server' && end !== 'client'))
    return { outcome: ofMachine(cause, binary, cannot), detail: error };
  if (foreign?.[end]) return { outcome: 'impossible here', detail: error };
  const outcome = ofProgram(cause);
  const detail = outcome === 'missing binary' ? `cannot be executed: ${error}` : error;
  return { outcome, detail, ...lackOf(cause.is === 'ended' ? cause.said.join(' ') : '') };
}

/** An outcome in the form of the result. @template {Outcome} Ended @param {Ended} ended @returns {Omit<Ended, 'lacks'>} */
export function shown(ended) {
  const rest = { ...ended };
  delete rest.lacks;
  return rest;
}

/** Longest quoted line of a program, characters. */
const LINE_MOST = 160;

/**
 * The most frequent complaint of each of an instance's processes, and the folder of the logs.
 * @param {{ processes: Process[], log_dir: string } | null} instance
 * @returns {string | null} null without complaints
 */
export function complained(instance) {
  const texts = (instance?.processes ?? []).flatMap(({ name, complaint }) =>
    complaint ? [`${name} says ${complaint.count} × "${complaint.line.slice(0, LINE_MOST)}"`] : [],
  );
  // Relative to the run's folder: logs/ROW/SIDE-TURN.
  const logs = (instance?.log_dir ?? '').replace(/^.*\/(?=logs\/)/, '');
  return texts.length > 0 ? `${texts.join(', ')} (${logs})` : null;
}

/**
 * @param {Record<string, number>} errors of all probes of the row, by kind
 * @param {Process[]} processes of the instance, after the probes
 * @returns {Outcome}
 */
export function ofProbes(errors, processes) {
  const dead = processes.filter(({ exit }) => exit !== null);
  if (dead.length > 0) {
    const detail = dead.map(({ name, exit }) => `${name} ended: ${exit}`).join(', ');
    return { outcome: 'died in mid-run', detail };
  }
  const kinds = Object.keys(errors).filter((kind) => errors[kind] > 0);
  if (kinds.length === 0) return { outcome: 'measured', detail: null };
  const detail = kinds.map((kind) => `${errors[kind]} × ${kind}`).join(', ');
  if (kinds.some((kind) => CORRUPT.includes(kind))) return { outcome: 'corrupted payload', detail };
  const busy = kinds.every(isOfBusyMachine);
  return { outcome: 'errors', detail, ...(busy ? { busy } : {}) };
}

/** A candidate that is slower than the baseline by more than this factor is cut short. */
const SLOW = 20;
/** Largest slow-down factor that other programs on the CPUs can cause: 21 was observed for a program against itself. */
const BUSY_SLOW = 40;
/** @type {[figure: string, what: string, unit: string, wait: boolean, scaled?: (value: number) => number][]} */
const SPEEDS = [
  ['handshake_ms', 'a first reply takes', 'ms', true],
  ['rtt_ms', 'a round trip takes', 'ms', true],
  ['bytes_per_s', 'a download reaches', 'Mbit/s', false, (rate) => (rate * 8) / 1e6],
];

/**
 * Why a candidate is cut short, from one turn of each side; null: it is not. `busy`: a busy machine may be the cause of the
 * slowness.
 * @param {import('./compare.js').Turn} [baseline]
 * @param {import('./compare.js').Turn} [candidate]
 * @returns {{ detail: string, busy: boolean } | null}
 */
export function tooSlow(baseline, candidate) {
  let most = 0;
  const texts = SPEEDS.flatMap(([figure, what, unit, wait, scaled = (value) => value]) => {
    const [base, other] = [baseline?.[figure], candidate?.[figure]];
    if (!base || !other) return [];
    const times = wait ? other / base : base / other;
    if (times <= SLOW) return [];
    most = Math.max(most, times);
    const [slow, fast] = [other, base].map((value) => scaled(value).toPrecision(3));
    return [`${what} ${slow} ${unit}, the baseline's ${fast}: ${Math.round(times)} times slower`];
  });
  return texts.length > 0 ? { detail: `${texts.join('; ')}; cut short`, busy: most <= BUSY_SLOW } : null;
}

/** Outcomes from worst to best: a row is named by the worst outcome of its turns. */
const ORDER = /** @type {Name[]} */ ([
  'missing binary',
  'impossible here',
  'refused configuration',
  'killed for memory',
  'ended at start',
  'crashed at start',
  'not ready',
  'does not interoperate',
  'not encrypted',
  'wrong wire',
  'corrupted payload',
  'died in mid-run',
  'too slow',
  'errors',
  'not reached',
  'measured',
]);

/** The worst outcome by name, preferably with a detail. @param {Outcome[]} outcomes */
function worstNamed(outcomes) {
  const sorted = [...outcomes].sort((a, b) => Number(b.detail !== null) - Number(a.detail !== null));
  return ORDER.map((name) => sorted.find(({ outcome }) => outcome === name)).find(Boolean);
}

/**
 * The worst outcome. An outcome that a busy machine cannot cause comes before all others.
 * @param {Outcome[]} outcomes of the turns of one side
 * @returns {Outcome}
 */
export function worst(outcomes) {
  const failed = outcomes.filter(({ outcome }) => outcome !== 'measured');
  return (
    worstNamed(failed.filter(({ busy = false }) => !busy)) ??
    worstNamed(failed) ??
    worstNamed(outcomes) ?? { outcome: 'not reached', detail: null }
  );
}

/**
 * Whether a side has another turn. A side without answers or transfers would take time without a new result.
 * @param {Pick<import('./result.js').Notes, 'outcomes' | 'turns'>} notes
 */
export const goesOn = ({ outcomes, turns }) =>
  outcomes.every(({ outcome }) => outcome === 'measured' || outcome === 'errors') &&
  turns.every(({ rtt_ms: rtt, mbit_64k: rate }) => rtt && rate);
