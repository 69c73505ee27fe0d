/** Many UDP associations at once, and a call through one, both through the proxy and direct. */
import { CALL, jitterMs } from '../dataplane/call.js';
import { controlName, partName } from '../dataplane/scenario.js';
import { measureAll } from '../meter.js';
import { listOf, note } from '../notes.js';

/** Datagrams a second of one association, at most. */
const EACH_PER_S = 5;
/** Time for opening all associations, s. */
const OPENING_S = 60;
const NOTE = 'flows of datagrams';

/**
 * @typedef {import('../../types/sidecar.d.ts').Associations} Associations
 * @typedef {object} Seen on one path
 * @property {Associations} associations
 * @property {number} sent
 * @property {number} lost datagrams without a right answer in time
 * @property {number | null} lostUp of these, datagrams that the far end did not get; null: unknown
 * @property {number | null} lostDown of these, datagrams whose answer left the far end and did not arrive; null: unknown
 * @property {number} reordered RFC 4737
 * @property {number} duplicated
 * @property {number | null} jitterMs RFC 3550
 * @property {number | null} peakBytes the system's own memory at its peak
 * @property {number | null} openFiles the system's open descriptors at their peak
 *
 * @typedef {{ level: number | null, proxied: Seen, direct: Seen }} Tried `level` null: the call
 * @typedef {{ each: number, rate: number, payloadBytes: number, timeoutMs: number }} Of `each`: datagrams of an association
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 */

/** In handleSummary: all that was tried, in order. @returns {Tried[]} */
export const triedFlows = () => listOf(NOTE);

/** @param {number} level */
export const levelNames = (level) => [`datagram_${level}`, `first_${level}`];

/**
 * Losses of each way, by the far end's counts, which say nothing over a link that may deliver a datagram twice.
 * @param {import('../meter.js').Outcome} outcome @returns {Pick<Seen, 'lostUp' | 'lostDown'>}
 */
function waysOf({ far_end: far }) {
  const up = far?.datagrams_up;
  const down = far?.datagrams_down;
  if (!up || !down || up.most === null) return { lostUp: null, lostDown: null };
  const short = (/** @type {number} */ more, /** @type {number} */ less) =>
    more < less ? null : more - less;
  return { lostUp: short(up.most, up.found), lostDown: short(down.found, down.least) };
}

/** @param {number} asked @param {import('../meter.js').Ended} ended @returns {Seen} */
function seenOf(asked, ended) {
  if ('error' in ended) {
    const { error, planned } = ended;
    const errors = { [error.kind]: asked };
    const none = {
      asked,
      opened: 0,
      carried: 0,
      open_all_s: 0,
      misdelivered: 0,
      stale: 0,
      loss_bursts: {},
      gaps: null,
    };
    const associations = { ...none, errors };
    const sent = planned.operations;
    const ways = { lostUp: null, lostDown: null };
    const unknown = { jitterMs: null, peakBytes: null, openFiles: null };
    return { associations, sent, lost: sent, ...ways, reordered: 0, duplicated: 0, ...unknown };
  }
  const { outcome, values } = ended;
  const { attempted, succeeded, anomalies, usage } = outcome;
  return {
    associations: /** @type {Associations} */ (outcome.associations),
    sent: attempted,
    lost: attempted - succeeded,
    ...waysOf(outcome),
    reordered: anomalies.out_of_order ?? 0,
    duplicated: anomalies.duplicated ?? 0,
    jitterMs: jitterMs(values.round_trip ?? []),
    peakBytes: usage && usage.total.peak_anon_bytes,
    openFiles: usage && usage.total.peak_open_files,
  };
}

/** How many addresses the far end has; one at the end of a link. @param {Plane} plane */
const destinationsOf = ({ environment, data }) =>
  environment.target.udp || data.linkEnds ? 1 : (data.echo?.destinations ?? 1);

/**
 * One number of associations, on both paths in turn.
 * @param {Plane} plane @param {number} level @param {number} index of the round @param {Of} of
 */
export function measureLevel(plane, level, index, { each, rate, payloadBytes, timeoutMs }) {
  const perSecond = Math.min(rate, EACH_PER_S * level);
  const spec = {
    kind: 'associations',
    connections: level,
    destinations: Math.min(level, destinationsOf(plane)),
    count: each * level,
    loop: { open: { rate_per_s: perSecond } },
    warmup: 0,
    payload_bytes: payloadBytes,
    timeout_ms: timeoutMs,
    limit_s: OPENING_S + (each * level) / perSecond,
  };
  const names = levelNames(level);
  const once = (
    /** @type {string[]} */ operations,
    /** @type {import('../dataplane/scenario.js').Via} */ via,
  ) => {
    const ended = plane.measure(via, spec);
    plane.recorded(operations, ended);
    return seenOf(level, ended);
  };
  const proxied = () => once(names, plane.proxied);
  const direct = () => once(names.map(controlName), plane.direct);
  const both = plane.part(partName(`${level} associations`, index), () => {
    if (index % 2 === 0) return { direct: direct(), proxied: proxied() };
    return { proxied: proxied(), direct: direct() };
  });
  note(NOTE, { level, ...both });
}

/**
 * A call on both paths at the same time, so that other work of the machine disturbs both.
 * @param {Plane} plane @param {number} seconds @param {Of} of
 */
export function measureCall(plane, seconds, { payloadBytes, timeoutMs }) {
  const spec = {
    kind: 'associations',
    count: Math.round(CALL.rate * seconds),
    loop: { open: { rate_per_s: CALL.rate } },
    warmup: 0,
    payload_bytes: payloadBytes,
    timeout_ms: timeoutMs,
    limit_s: OPENING_S + seconds,
  };
  const both = plane.part('call', () => {
    // One probe at a time may use the run's window.
    const vias = [plane.proxied, { ...plane.direct, watched_by: null }];
    const [proxied, direct] = measureAll(vias.map((via) => plane.specOf(via, spec)));
    plane.recorded(['call'], proxied);
    plane.recorded([controlName('call')], direct);
    return { proxied: seenOf(1, proxied), direct: seenOf(1, direct) };
  });
  note(NOTE, { level: null, ...both });
}
