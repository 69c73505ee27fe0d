/**
 * Checks the hop of a turn as a passive observer sees it. Packets are captured without being redirected, during a short exchange
 * before and after the timed probes. The captured processes are the judged ones, and cannot detect the capture.
 */
import { askOrError, measure, tryAsk } from '../meter.js';
import { cpusOf } from '../dataplane/environment.js';
import { limitOver } from '../link.js';
import { readable } from './hop.js';
import { hasHop } from './matrix.js';

/**
 * @typedef {import('./turn.js').Turn} Turn
 * @typedef {import('./outcome.js').Outcome} Outcome
 * @typedef {import('../../types/sidecar.d.ts').Capture} Found
 */

/** Round trips of an exchange, and bytes of each. */
const ROUND_TRIPS = 3;
const PAYLOAD_BYTES = 1024;
/** Tries. A known fault breaks one new tunnel of many, which says nothing about the wire. */
const TRIES = 3;
/** Time limit of an exchange on loopback, s. A slower exchange hangs. */
const LIMIT_S = 6;

/**
 * Turns a capture into an outcome of its turn; null if the hop is as the row requires.
 * @param {import('./matrix.js').Row} row
 * @param {string} turn its name
 * @param {Found | null} found null: nothing was captured
 * @param {{ fresh: boolean, broken: string | null }} exchange `fresh`: its connections began during the capture; `broken`: why it failed
 * @returns {Outcome | null}
 */
export function shownBy(row, turn, found, { fresh, broken }) {
  if (found !== null) {
    const faults = [found.fault && `the hop shows ${found.fault}`, row.encrypts && readable(found)];
    const detail = faults.filter(Boolean).join('; ');
    if (detail) return { outcome: 'wrong wire', detail: `${turn}: ${detail}` };
  }
  const unchecked = uncheckedBy(row, found, { fresh, broken });
  if (unchecked === null) return null;
  return { outcome: 'measured', detail: null, unchecked: `${turn}: ${unchecked}` };
}

/**
 * @param {import('./matrix.js').Row} row
 * @param {Found | null} found
 * @param {{ fresh: boolean, broken: string | null }} exchange
 */
function uncheckedBy({ dialsAtStart = false }, found, { fresh, broken }) {
  if (broken !== null) return broken;
  if (found === null) return 'nothing was captured';
  if (found.bytes < 2 * ROUND_TRIPS * PAYLOAD_BYTES) return 'the payload did not pass through the hop';
  if (!found.carried) return 'the capture has no complete connection';
  if (found.gaps) return 'not all of it was captured';
  return fresh && !dialsAtStart && !found.greeted ? 'the greeting was not seen' : null;
}

/**
 * Captures the hop of a turn, and adds to the outcomes what is wrong, or why it could not be checked.
 * @param {{ own: Pick<import('./result.js').Notes, 'outcomes'>, turn: Turn }} begun
 * @param {import('./matrix.js').Row} row
 * @param {string} name of the turn
 * @param {boolean} fresh whether the processes have carried no traffic yet
 */
export function lookAt({ own, turn }, row, name, fresh) {
  if (!hasHop(row)) return;
  const outcome = captured(turn, row, name, fresh);
  if (outcome) own.outcomes.push(outcome);
}

/** @param {Turn} turn @param {import('./matrix.js').Row} row @param {string} name @param {boolean} fresh */
function captured(turn, row, name, fresh) {
  const { instance } = turn;
  const kinds = /** @type {('tcp' | 'udp')[]} */ (row.udp ? ['tcp', 'udp'] : ['tcp']);
  const { namespace } = instance.ends?.near ?? {};
  const { answer, error } = askOrError('POST', '/captures', {
    port: Number(instance.variables.server_port),
    shows: row.wire,
    far: kinds.map((kind) => String(turn.wayTo(kind).target)),
    ...(namespace ? { namespace } : {}),
  });
  if (error !== null) return shownBy(row, name, null, { fresh, broken: error });
  const broken = exchanged(turn, 'tcp');
  // A datagram may be lost, so its failure is ignored.
  if (row.udp) exchanged(turn, 'udp');
  const found = tryAsk('DELETE', `/captures/${answer.id}`);
  return shownBy(row, name, found, { fresh, broken });
}

/** @param {Turn} turn @param {'tcp' | 'udp'} kind @returns {string | null} why it failed */
function exchanged(turn, kind) {
  const { plane } = turn;
  const { link } = plane.data;
  let why = 'nothing came through it';
  for (let time = 0; time < (kind === 'tcp' ? TRIES : 1); time += 1) {
    const measured = measure({
      kind,
      warmup: 0,
      count: ROUND_TRIPS,
      payload_bytes: PAYLOAD_BYTES,
      cpus: cpusOf(plane.environment.placement.probe_cpus),
      limit_s: link ? limitOver(link, ROUND_TRIPS) : LIMIT_S,
      ...turn.wayTo(kind),
      ...(kind === 'tcp' ? turn.patience : turn.patienceOfDatagrams),
    });
    if ('error' in measured) why = `${measured.error.kind}: ${measured.error.message}`;
    else if (measured.outcome.succeeded === ROUND_TRIPS) return null;
  }
  return `no test traffic passed the hop: ${why}`;
}
