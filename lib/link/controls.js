/** Measurements of the link without a proxy: plain TCP with several congestion controls, and plain UDP. */
import { say, said } from 'k6/x/windtunnel/record';
import { startSides, stopSides } from '../protocols/instances.js';
import { MATRIX } from '../protocols/matrix.js';
import { atRest, call, firstBytes, goodput, pages, video } from './parts.js';
import { recordGoodput, recordRoundTrips } from './live.js';
import { DELAYS, carriedAtOnce } from './batch.js';
import { inStep, together } from './lockstep.js';
import { roundTripsOf } from './slope.js';
import { Way } from './way.js';

/** The pair that is started only to get a link: no traffic passes it. */
const PAIR = 'socks';
/** Congestion controls to measure, if the kernel has them. */
export const CONGESTION = ['cubic', 'bbr', 'reno'];
/** Name of the measurements with the host's default congestion control. */
export const DIRECT = 'direct';
const NOTE = '-over controls';

/** @param {string} congestion */
export const controlOf = (congestion) => `tcp_${congestion}`;

/** @typedef {Record<string, import('./parts.js').Figures>} Controls by name: DIRECT, and each congestion control */

/** @returns {Record<string, import('../scenario.js').Operations>} */
export const controlOperations = () => ({
  [DIRECT]: {
    title: 'the link alone, without a proxy',
    latencyIs: 'from a request of 64 bytes sent to its echo received',
    optional: true,
    bounds: {},
  },
});

/**
 * A way over a new link, past the proxy.
 * @template T
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('../protocols/sides.js').Side} side whose pair is started
 * @param {(way: Way) => import('./way.js').Steps<T>} use
 * @param {{ link?: string, operation?: string }} [about] default: the run's link, and DIRECT
 * @returns {import('./way.js').Steps<T>}
 */
export function* withDirect(plane, side, use, { link, operation = DIRECT } = {}) {
  const row = /** @type {import('../protocols/matrix.js').Row} */ (
    MATRIX.find(({ row: name }) => name === PAIR)
  );
  const [started] = startSides(
    [{ row, side, name: '', logName: 'direct', ...(link ? { link } : {}) }],
    plane,
  );
  try {
    if ('failed' in started)
      throw new Error(`the link alone: ${started.failed.outcome}: ${started.failed.detail}`);
    return yield* use(new Way(plane, started.started, operation, { direct: true }));
  } finally {
    stopSides([started]);
  }
}

/**
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('../protocols/sides.js').Side} side
 * @param {import('./batch.js').Sizes} sizes
 * @returns {import('./way.js').Steps<void>}
 */
export function* measureControls(plane, side, sizes) {
  /** @type {Controls} */
  const controls = { [DIRECT]: {} };
  yield* withDirect(plane, side, function* (way) {
    const direct = controls[DIRECT];
    const figuresOf = () => direct;
    direct.round_trips = yield* openings(way, sizes.first);
    recordRoundTrips(DIRECT, direct.round_trips);
    way.restart();
    yield* atRest([way], sizes.trips, figuresOf);
    yield* pages([way], sizes.pages, figuresOf);
    yield* video([way], sizes.video_s, figuresOf);
    yield* call([way], sizes.call_s, figuresOf);
    direct.failed = failedOn(way);
  });
  const fill = (/** @type {string} */ congestion) =>
    withDirect(plane, side, (way) =>
      way.withFlows(function* (far) {
        controls[congestion] = yield* filled(way, far, congestion, sizes);
        controls[DIRECT].failed = Number(controls[DIRECT].failed) + failedOn(way);
      }),
    );
  if (inStep() && CONGESTION.length <= carriedAtOnce(plane)) yield* together(CONGESTION.map(fill));
  else for (const congestion of CONGESTION) yield* fill(congestion);
  say(NOTE, controls);
}

/** @param {Way} way */
const failedOn = (way) => Object.values(way.errors).reduce((sum, count) => sum + count, 0);

/** @param {Way} way @param {number} count @returns {import('./way.js').Steps<number | null>} */
function* openings(way, count) {
  /** @type {number[]} */
  const took = [];
  for (const ms of [DELAYS.short, DELAYS.long]) {
    way.onlyDelay(ms);
    yield* firstBytes([way], count, (_, { further }) => took.push(further ?? NaN));
  }
  const [short, long] = took.map((ms) => (Number.isFinite(ms) ? ms : null));
  return roundTripsOf({ rtt_ms: DELAYS.short, took_ms: short }, { rtt_ms: DELAYS.long, took_ms: long });
}

/**
 * @param {Way} way
 * @param {import('../meter.js').Echo} far
 * @param {string} congestion
 * @param {import('./batch.js').Sizes} sizes
 * @returns {import('./way.js').Steps<import('./parts.js').Figures>}
 */
function* filled(way, far, congestion, { warmup_s, goodput_s: seconds }) {
  /** @type {import('./parts.js').Figures} */
  const figures = {};
  for (const direction of /** @type {const} */ (['down', 'up'])) {
    const mbit = yield* goodput(way, far, { direction, warmup_s, seconds, congestion });
    figures[`goodput_${direction}_mbit`] = mbit;
    recordGoodput(controlOf(congestion), direction, mbit);
  }
  return figures;
}

/** In handleSummary. @returns {Controls} */
export const controlsSaid = () => said()[NOTE] ?? {};
