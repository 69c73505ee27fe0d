/** Results of the scenario `footprint/idle`: a table of the states, and the facts that decide the verdict. */
import { currentProfile } from '../profiles.js';
import { rangeOf, sectionOf } from '../section.js';
import { spreadOf } from '../spread.js';
import { sumOf, systemOf } from './idle.js';
import { percent } from '../units.js';

const KIB = 1024;
const MINUTE_S = 60;
/** A program that uses this share of a CPU spins. */
const SPINS = 0.5;
/** Packets that one keep-alive of a tunnel may cause: a probe and its answer at both sides of the proxy. */
const OF_ONE_KEEP_ALIVE = 4;
/** Packets of the end of a tunnel, at both sides of the proxy. */
const OF_AN_END = 8;

/**
 * @typedef {import('./idle.js').Found} Found
 * @typedef {import('./idle.js').IdleTime} IdleTime
 * @typedef {import('./idle.js').Process} Process
 * @typedef {{ cpuMs: number, wakeups: number, bytes: number }} Most
 */

/** @param {(process: Process) => number} of @param {number} [times] */
const perSecond =
  (of, times = 1) =>
  (/** @type {IdleTime} */ time) =>
    (sumOf(systemOf(time), of) * times) / time.seconds;

const cpuMs = perSecond(({ cpu_s: cpu }) => cpu, 1000 * MINUTE_S);
const wakeups = perSecond((process) => process.voluntary_switches);
const taken = perSecond((process) => process.involuntary_switches);
const faults = perSecond((process) => process.minor_faults + process.major_faults, MINUTE_S);

/** Those that share the packets: all packets of the state "nothing at all" are one sum. @param {Found['state']} state */
const sharedBy = ({ direct, count }) => (direct ? 1 : count);

/** Packets or bytes on the wire in a minute for each that is open; null: unknown. @param {Found} found @param {'packets' | 'bytes'} what */
const wireOf =
  ({ state }, what) =>
  (/** @type {IdleTime} */ { wire, seconds }) =>
    wire && (wire[what] * MINUTE_S) / seconds / sharedBy(state);

/**
 * The value over all rounds together.
 * @param {Found} found
 * @param {(time: IdleTime) => number | null} of
 * @returns {number | null} null: unknown
 */
function overall({ times, missed }, of) {
  const values = times.map((time) => ({ value: of(time), weight: time.seconds }));
  if (values.length === 0 || missed > 0 || values.some(({ value }) => value === null)) return null;
  return sumOf(values, ({ value, weight }) => Number(value) * weight) / sumOf(values, ({ weight }) => weight);
}

/** How long one lives without traffic. @param {Found} found */
function lifeOf({ times }) {
  if (times.length === 0) return null;
  const open = sumOf(times, (time) => time.open);
  const ended = times.flatMap((time) => time.ended_s);
  const there = times.flatMap((time) => time.ended_there_s ?? []);
  const longest = Math.max(...times.map(({ seconds }) => seconds));
  if (ended.length + there.length === 0) return `still open after ${longest.toFixed(longest < 10 ? 1 : 0)} s`;
  const client = `${ended.length} of ${open} ended${firstOf(ended)}`;
  const known = times.every((time) => time.ended_there_s);
  return known ? `${client}; at the far end ${there.length}${firstOf(there)}` : client;
}

/** @param {number[]} moments s */
const firstOf = (moments) =>
  moments.length > 0 ? `, the first after ${Math.min(...moments).toFixed(1)} s` : '';

/** Those that were open at the end and carried nothing. @param {IdleTime} time */
const deadOf = ({ open, ended_s: ended, unasked, answered }) =>
  Math.max(0, open - ended.length - unasked - answered);

/**
 * @param {string} name @param {string} title @param {(found: Found) => (time: IdleTime) => number | null} of @param {number} digits
 * @returns {import('../section.js').Column<Found>}
 */
const column = (name, title, of, digits) => [
  name,
  title,
  'count',
  (found) => rangeOf(spreadOf(found.times.map(of(found)))),
  { digits, compare: 'lower' },
];

/** This part of a bound harms nobody: a comparison takes less as this. */
const HARMLESS_PART = 10;
/** A page of memory, KiB: the kernel gives no less, so that less for each is chance. */
const PAGE_KIB = 4;
/** A cell of a figure that a state does not have, unlike one that is unknown. */
const NO_FIGURE = '—';

/**
 * A column that only comparisons read.
 * @param {string} name @param {string} title @param {number} most @param {(found: Found) => number | string | null} of
 * @returns {import('../section.js').Column<Found>}
 */
const judgedColumn = (name, title, most, of) => [
  `judged_${name}`,
  title,
  'count',
  of,
  { print: 'none', compare: 'lower', judged: true, least: Math.max(1, most) / HARMLESS_PART },
];

/** @param {Most} most @returns {import('../section.js').Column<Found>[]} */
const columnsOf = (most) => [
  ['state', 'Open', 'text', ({ state }) => state.title],
  ['count', 'Number', 'count', ({ state }) => (state.direct ? 0 : state.count)],
  column('cpu_ms', 'CPU ms/min', () => cpuMs, 1),
  column('wakeups', 'Wake-ups/s', () => wakeups, 1),
  column('taken', 'CPU taken/s', () => taken, 1),
  column('faults', 'Page faults/min', () => faults, 0),
  column('packets', 'Packets/min, each', (found) => wireOf(found, 'packets'), 1),
  column('bytes', 'Bytes/min, each', (found) => wireOf(found, 'bytes'), 0),
  [
    'kib_each',
    'Memory each',
    'KiB',
    ({ state, bytesEach }) => (state.direct ? NO_FIGURE : rangeOf(spreadOf(bytesEach), KIB)),
    { digits: 1, compare: 'lower', judged: true, least: PAGE_KIB },
  ],
  ['life', 'Without traffic', 'text', lifeOf],
  [
    'answered',
    'Carry data after it',
    'text',
    ({ times }) =>
      times.length > 0
        ? `${sumOf(times, ({ answered }) => answered)} of ${sumOf(times, (time) => time.open - time.ended_s.length)}`
        : null,
  ],
  judgedColumn('cpu', 'CPU ms/min', most.cpuMs, (found) => overall(found, cpuMs)),
  judgedColumn('wakeups', 'wake-ups/s', most.wakeups, (found) => overall(found, wakeups)),
  judgedColumn('bytes', 'bytes/min, each', most.bytes, (found) => overall(found, wireOf(found, 'bytes'))),
];

/** Names what the proxy does too much in a state. @param {Found} found @param {Most} most */
function sinsOf(found, most) {
  const { title, direct, unit } = found.state;
  const cpu = overall(found, cpuMs) ?? 0;
  const woken = overall(found, wakeups) ?? 0;
  const bytes = certain(found, overall(found, wireOf(found, 'bytes')) ?? 0);
  const share = cpu / 1000 / MINUTE_S;
  const sins = [];
  if (share >= SPINS) sins.push(`spins: ${percent(share)} of a CPU`);
  else if (cpu > most.cpuMs) sins.push(`uses ${cpu.toFixed(0)} ms of CPU a minute`);
  if (woken > most.wakeups) sins.push(`wakes ${woken.toFixed(0)} times a second`);
  if (bytes > most.bytes)
    sins.push(
      `sends ${(overall(found, wireOf(found, 'packets')) ?? 0).toFixed(1)} packets a minute${direct ? '' : ` for each ${unit}`}`,
    );
  return sins.length > 0 ? [`With ${title}, the proxy ${sins.join(', and ')}.`] : [];
}

/** @param {Found[]} all @param {Most} most */
export const idleSections = (all, most) => [
  sectionOf({
    name: 'idle',
    title: 'While nothing goes on',
    columns: columnsOf(most),
    rows: all,
    finding:
      [...all.flatMap((found) => sinsOf(found, most)), ...openOf(boundsOf(all, most))].join(' ') || undefined,
    notes: [
      'Median of the rounds, with their range. In the state "nothing at all" as many tunnels go past the proxy, and the packets of that row are all packets.',
      'CPU is by the CPU clocks of the processes, in ns. Wake-ups are voluntary context switches of all threads; "CPU taken" are involuntary ones.',
      'Packets are those of the proxy’s port, the hop’s and the far end’s (packet(7)), with headers from IP on. Between the client and the relay port of an association none are counted. Empty: packets could not be captured (CAP_NET_RAW), or an address is of IPv6.',
      'Memory each is from new processes: all of them open, less one, over their number.',
    ],
  }),
];

/** @param {Found} found @param {number} value bytes a minute for each */
function certain({ times, state }, value) {
  const packets = sumOf(times, ({ wire }) => wire?.packets ?? 0);
  const bytes = sumOf(times, ({ wire }) => wire?.bytes ?? 0);
  const seconds = sumOf(times, (time) => time.seconds);
  const ended = sumOf(times, (time) => time.ended_s.length);
  const each = sharedBy(state);
  const once = Math.min(packets, OF_ONE_KEEP_ALIVE * each * times.length + OF_AN_END * ended);
  return Math.max(0, value - (((once * bytes) / (packets || 1)) * MINUTE_S) / seconds / each);
}

/**
 * A short time may hold one event by chance: `least` leaves out one keep-alive of each, and the packets of ends.
 * @typedef {{ check: string, bound: number, value: number | null, least?: number }} Bound `value` null: unknown
 */

/** @param {Found[]} all @param {Most} most @returns {Bound[]} */
const boundsOf = (all, most) =>
  all.flatMap((found) => {
    const { title, direct, unit } = found.state;
    const bytes = overall(found, wireOf(found, 'bytes'));
    return [
      { check: `${title}: CPU, ms a minute`, bound: most.cpuMs, value: overall(found, cpuMs) },
      { check: `${title}: wake-ups a second`, bound: most.wakeups, value: overall(found, wakeups) },
      {
        check: `${title}: bytes a minute on the wire${direct ? '' : ` for each ${unit}`}`,
        bound: most.bytes,
        value: bytes,
        ...(bytes !== null && { least: certain(found, bytes) }),
      },
      ...(unit === 'tunnel'
        ? [{ check: 'idle tunnels that are open and carry nothing', bound: 0, value: overall(found, deadOf) }]
        : []),
    ];
  });

/** @param {Bound} one */
const isUnclear = ({ bound, value, least = value ?? 0 }) => value !== null && value > bound && least <= bound;

/** A smoke run is too short, so that it fails only by what is certain. @param {Bound} one */
const isTooShort = (one) => currentProfile() === 'smoke' && isUnclear(one);

/** Names what a smoke run leaves open: its verdict says nothing about it. @param {Bound[]} all */
const openOf = (all) =>
  all.filter(isTooShort).map(({ check }) => `The smoke run is too short to judge this: ${check}.`);

/** @param {Found[]} all @param {Most} most @returns {import('k6/x/windtunnel/judge').Fact[]} */
export const idleFacts = (all, most) =>
  boundsOf(all, most)
    .filter((one) => !isTooShort(one))
    .map((one) => {
      const { check, bound, value, least = value ?? 0 } = one;
      const unknown = value === null || isUnclear(one);
      const shown = unknown ? null : Math.ceil(value > bound ? least : value);
      return { check, source: 'processes', found: { said: shown }, reported: { said: bound }, slack: [] };
    });
