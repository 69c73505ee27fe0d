/** Idle times: all that is open carries nothing, and the processes of the proxy are measured. Also the memory that it takes. */
import { listsOf, noteBy } from '../notes.js';
import { instance } from '../sidecar.js';
import { proxyOf, withFresh } from '../dataplane/fresh.js';

const NOTE = 'idle times';
const MEMORY_NOTE = 'memory while idle';
const PAYLOAD_BYTES = 64;
/** Time for the opening of all and for the last answers, in addition to the idle time, s. */
const SPARE_S = 60;
const SETTLE_S = 0.5;
/** Idle time before memory is read, s. */
const MEMORY_S = 0.2;
const DATAGRAMS_PER_S = 200;

/**
 * @typedef {import('../../types/sidecar.d.ts').IdleProcess} Process
 * @typedef {import('../../types/sidecar.d.ts').IdleTime} IdleTime
 * @typedef {object} State what is open
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {number} count
 * @property {boolean} direct the proxy has nothing to do: what is open goes past it
 * @property {string} [operation]
 * @property {Record<string, unknown>} spec
 *
 * @typedef {{ state: State, times: IdleTime[], missed: number, bytesEach: number[] }} Found `missed`: idle times that could not be measured
 * @typedef {import('../dataplane/scenario.js').Plane<any>} Plane
 */

/** @param {{ tunnels: number, associations: number }} counts @returns {State[]} */
export function statesOf({ tunnels, associations }) {
  const ofTunnels = { count: tunnels, spec: { kind: 'concurrency' } };
  return [
    { name: 'nothing', title: 'nothing at all', unit: 'tunnel past the proxy', direct: true, ...ofTunnels },
    {
      name: 'tunnels',
      title: 'idle tunnels',
      unit: 'tunnel',
      direct: false,
      operation: 'tunnel',
      ...ofTunnels,
    },
    {
      name: 'associations',
      title: 'idle UDP associations',
      unit: 'association',
      count: associations,
      direct: false,
      operation: 'datagram',
      spec: { kind: 'associations', loop: { open: { rate_per_s: DATAGRAMS_PER_S } }, timeout_ms: 1000 },
    },
  ];
}

/** @param {State} state @param {number} count @param {number} seconds @param {number[]} [ports] further ones */
const specOf = ({ spec }, count, seconds, ports = []) => ({
  ...spec,
  connections: count,
  count,
  warmup: 0,
  payload_bytes: PAYLOAD_BYTES,
  limit_s: seconds + SPARE_S,
  idle: { seconds, settle_s: SETTLE_S, ports },
});

/**
 * Further ports whose packets count: of the hop between the two ends of a pair, and of a proxy that what is open goes past.
 * @param {Plane} plane @param {State} state
 */
function portsOf(plane, state) {
  const proxy = state.direct ? plane.proxied.proxy?.address.split(':').pop() : undefined;
  return [instance()?.variables.server_port, proxy].map(Number).filter((port) => port > 0);
}

/** @param {Plane} plane @param {State} state @param {number} seconds */
export function measureState(plane, state, seconds) {
  const via = state.direct ? { ...plane.direct, instance: __ENV.INSTANCE } : plane.proxied;
  const ended = plane.measure(via, specOf(state, state.count, seconds, portsOf(plane, state)));
  if (state.operation) plane.recorded([state.operation], ended);
  else if ('error' in ended) console.warn(`${state.title}: ${ended.error.message}`);
  const idle = 'error' in ended ? null : (ended.outcome.idle ?? null);
  noteBy(NOTE, state.name, idle);
}

/**
 * Memory for each, of new processes: with all of them open and idle, less the memory with one.
 * @param {Plane} plane @param {State} state @param {import('../dataplane/fresh.js').Found} found
 */
export function measureMemory(plane, state, found) {
  const bytes = withFresh(found, {}, (started) => {
    const via = { proxy: proxyOf(started), instance: started.id, usage_window: null };
    const own = (/** @type {number} */ count) => {
      const ended = plane.measure(via, specOf(state, count, MEMORY_S));
      const idle = 'error' in ended ? null : ended.outcome.idle;
      if (!idle || idle.open < count || idle.processes.length === 0) return null;
      return sumOf(systemOf(idle), (process) => process.anon_bytes);
    };
    const one = own(1);
    const all = one === null ? null : own(state.count);
    return one === null || all === null ? null : (all - one) / (state.count - 1);
  });
  if (bytes !== null && state.count > 1) noteBy(MEMORY_NOTE, state.name, bytes);
}

/** @param {IdleTime} time */
export const systemOf = ({ processes }) => processes.filter(({ role }) => role === 'system');

/** @template T @param {T[]} all @param {(one: T) => number} of */
export const sumOf = (all, of) => all.reduce((sum, one) => sum + of(one), 0);

/** @param {State[]} states @returns {Found[]} */
export const foundOf = (states) =>
  states.map((state) => {
    /** @type {(IdleTime | null)[]} */
    const all = listsOf(NOTE)[state.name] ?? [];
    const times = all.filter((time) => time !== null && systemOf(time).length > 0);
    return {
      state,
      times: /** @type {IdleTime[]} */ (times),
      missed: all.length - times.length,
      bytesEach: listsOf(MEMORY_NOTE)[state.name] ?? [],
    };
  });
