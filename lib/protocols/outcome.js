/** How a row ended on one side, by name. */
import { OF_A_BUSY_MACHINE } from '../errors.js';

/**
 * @typedef {{ name: string, exit: string | null, complaint?: { line: string, count: number } | null }} Process
 * @typedef {'measured' | 'errors' | 'missing binary' | 'refused configuration' | 'ended at start' | 'crashed at start' |
 *   'not ready' | 'died in mid-run' | 'corrupted payload' | 'does not interoperate' | 'not encrypted' | 'wrong wire' | 'too slow' | 'impossible here' | 'not reached'} Name
 * @typedef {{ outcome: Name, detail: string | null, lacks?: 'left out' | 'unknown type', busy?: boolean, unchecked?: string | null }} Outcome `lacks`: what
 *   its program says that it has not, by its build or by its version; `busy`: a busy machine can have caused it; `unchecked`: why nobody knows
 *   what the turn's hop showed
 */

/** Kinds of errors that say that payload was changed on the way. */
export const CORRUPT = ['corrupted', 'truncated'];

/** Whether the file that a start lacks is the program under test. @param {string} path @param {string} binary */
const isProgram = (path, binary) => (binary ? path === binary : /\/bin\/(sing-box|xray)$/.test(path));
/** What a package manager installs; what `make` builds is missing by the user's own fault. @param {string} path */
const isOfTheMachine = (path) => path.startsWith('/usr/');

/** What a program says of a configuration that it does not take, in its last lines. */
const OF_CONFIGURATION =
  /\b(config(uration|s)?|json|pars(e|er|ing)|decod(e|ing)|unmarshal\w*|(unknown|unsupported|unexpected|missing|invalid) (\w+ )?(field|type|key|value|variant|option|transport|cipher|method|inbound|outbound))\b/i;

/** sing-box's words for what its build tags leave out, and for a type that its version does not know. */
const LEFT_OUT = /is not included in this build/;
const UNKNOWN_TYPE = /unknown (inbound|outbound|endpoint) type|unknown variant/i;

/** What a program lacks by its own words. @param {string} said @returns {Pick<Outcome, 'lacks'>} */
function lackOf(said) {
  if (LEFT_OUT.test(said)) return { lacks: 'left out' };
  return UNKNOWN_TYPE.test(said) ? { lacks: 'unknown type' } : {};
}

/** Why a start failed, as the sidecar tells it (sidecar/README.md, `cause`). @typedef {object} Cause
 * @property {'missing_file' | 'missing_program' | 'ended' | 'not_ready' | 'port_taken' | 'no_hop'} is
 * @property {string | null} [process] of the testbed
 * @property {string} [path]
 * @property {number | null} [status]
 * @property {number | null} [signal]
 * @property {string[]} [said] its last lines
 */

/** How a program under test ended at its start. @param {Cause} cause @returns {Name} */
function ofEnd({ status, signal, said = [] }) {
  if (typeof signal === 'number') return 'crashed at start';
  const code = status ?? 0;
  // A shell's, of what it cannot run.
  if (code === 126 || code === 127) return 'missing binary';
  // Go's panics end with 2, Rust's with 101; so does many a program that does not know its arguments.
  if (code > 127 || code === 101) return 'crashed at start';
  const text = said.join(' ');
  if (LEFT_OUT.test(text)) return 'impossible here';
  if (OF_CONFIGURATION.test(text)) return 'refused configuration';
  return code === 2 && !/\busage\b|--help/i.test(text) ? 'crashed at start' : 'ended at start';
}

/** How a program under test did not come up. @param {Cause} cause @returns {Name} */
function ofProgram(cause) {
  if (cause.is === 'missing_program') return 'missing binary';
  if (cause.is === 'not_ready') return 'not ready';
  return cause.is === 'ended' ? ofEnd(cause) : 'not reached';
}

/** Of what is no process: files, rights. @param {Cause | undefined} cause @param {string} binary @param {boolean} cannot @returns {Name} */
function ofMachine(cause, binary, cannot) {
  const missing = cause?.is === 'missing_file' ? String(cause.path) : '';
  if (isProgram(missing, binary)) return 'missing binary';
  return cannot || cause?.is === 'no_hop' || isOfTheMachine(missing) ? 'impossible here' : 'not reached';
}

/**
 * The program is to blame where it is of its process.
 * @param {Pick<import('./matrix.js').Row, 'foreign'>} row
 * @param {string} binary path of the program under test, '' for the one that `make testbeds` builds
 * @param {{ error: string, cause?: Cause }} failure the sidecar's, of a start
 * @param {boolean} [cannot] the sidecar says that this machine or user cannot run it
 * @returns {Outcome}
 */
export function ofFailedStart({ foreign }, binary, { error, cause }, cannot = false) {
  const end = cause?.process;
  if (!cause || cannot || (end !== 'server' && end !== 'client'))
    return { outcome: ofMachine(cause, binary, cannot), detail: error };
  if (foreign?.[end]) return { outcome: 'impossible here', detail: error };
  const outcome = ofProgram(cause);
  const detail = outcome === 'missing binary' ? `cannot be executed: ${error}` : error;
  return { outcome, detail, ...lackOf((cause.said ?? []).join(' ')) };
}

/** An outcome as results have it. @template {Outcome} Ended @param {Ended} ended @returns {Omit<Ended, 'lacks'>} */
export function shown(ended) {
  const rest = { ...ended };
  delete rest.lacks;
  return rest;
}

/** Longer lines of a program are cut. */
const LINE_MOST = 160;

/**
 * What an instance's processes complained of most often, and where the rest is.
 * @param {{ processes: Process[], log_dir: string } | null} instance
 * @returns {string | null} null where none did
 */
export function complained(instance) {
  const told = (instance?.processes ?? []).flatMap(({ name, complaint }) =>
    complaint ? [`${name} says ${complaint.count} × "${complaint.line.slice(0, LINE_MOST)}"`] : [],
  );
  return told.length > 0 ? `${told.join(', ')} (${logsOf(instance)})` : null;
}

/** As the run's folder has it: logs/ROW/SIDE-TURN. @param {{ log_dir: string } | null} instance */
const logsOf = (instance) => (instance?.log_dir ?? '').replace(/^.*\/(?=logs\/)/, '');

/**
 * @param {Record<string, number>} errors by kind, of all probes of the row
 * @param {Process[]} processes of the instance, after them
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
  const busy = kinds.every((kind) => /** @type {string[]} */ (OF_A_BUSY_MACHINE).includes(kind));
  return { outcome: 'errors', detail, ...(busy ? { busy } : {}) };
}

/** A candidate that is so many times slower than the baseline is measured no further. */
const SLOW = 20;
/** Slow-down, in times, that other programs on the CPUs can cause: a program was seen 21 times slower than itself. */
const BUSY_SLOW = 40;
/** @type {{ figure: string, what: string, unit: string, wait: boolean, digits: (value: number) => string }[]} */
const SPEEDS = [
  {
    figure: 'handshake_ms',
    what: 'a first reply takes',
    unit: 'ms',
    wait: true,
    digits: (ms) => ms.toPrecision(3),
  },
  { figure: 'rtt_ms', what: 'a round trip takes', unit: 'ms', wait: true, digits: (ms) => ms.toPrecision(3) },
  {
    figure: 'bytes_per_s',
    what: 'a download reaches',
    unit: 'Mbit/s',
    wait: false,
    digits: (rate) => ((rate * 8) / 1e6).toPrecision(3),
  },
];

/**
 * Why a candidate is cut short, from what one turn of each side has measured; null where it is not. `busy`: a busy machine can have
 * made it so slow.
 * @param {import('./compare.js').Turn} [baseline]
 * @param {import('./compare.js').Turn} [candidate]
 * @returns {{ detail: string, busy: boolean } | null}
 */
export function tooSlow(baseline, candidate) {
  let most = 0;
  const told = SPEEDS.flatMap(({ figure, what, unit, wait, digits }) => {
    const [own, other] = [baseline?.[figure], candidate?.[figure]];
    if (!own || !other) return [];
    const times = wait ? other / own : own / other;
    if (times <= SLOW) return [];
    most = Math.max(most, times);
    return [
      `${what} ${digits(other)} ${unit}, the baseline's ${digits(own)}: ${Math.round(times)} times slower`,
    ];
  });
  return told.length > 0 ? { detail: `${told.join('; ')}; cut short`, busy: most <= BUSY_SLOW } : null;
}

/** Worst first: what a row is called whose turns ended differently. */
const ORDER = /** @type {Name[]} */ ([
  'missing binary',
  'impossible here',
  'refused configuration',
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

/** The worst by name; of one name what has a detail. @param {Outcome[]} outcomes */
function worstNamed(outcomes) {
  const told = [...outcomes].sort((a, b) => Number(b.detail !== null) - Number(a.detail !== null));
  return ORDER.map((name) => told.find(({ outcome }) => outcome === name)).find(Boolean);
}

/**
 * An outcome that a busy machine cannot cause comes before all others.
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
 * Whether a side has another turn: what answers nothing, or carries no transfer, costs time and tells no more.
 * @param {Pick<import('./result.js').Notes, 'outcomes' | 'turns'>} notes
 */
export const goesOn = ({ outcomes, turns }) =>
  outcomes.every(({ outcome }) => outcome === 'measured' || outcome === 'errors') &&
  turns.every(({ rtt_ms: rtt, mbit_64k: rate }) => rtt && rate);
