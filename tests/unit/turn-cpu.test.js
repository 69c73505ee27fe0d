/** The CPU time of a turn ends after its quiet period. A turn with an unknown instance has no CPU time. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9', PROFILE: 'smoke' };
const { slept } = await import('../fakes/k6.js');
const { TurnCpu, awaitQuiet } = await import('../../lib/protocols/turn-cpu.js');

/** @type {string[]} */
const calls = [];
/** CPU seconds at each look, by instance. @type {Record<string, number[]>} */
const seen = {};
/** The looks of an instance whose process ended while it was idle: its counts are unknown. */
const ENDED = [0.5, 1];

const HELD = {
  role: 'system',
  anon_bytes: 2 ** 20,
  threads: 4,
  descriptors: { all: 20, tcp: { listen: 1 }, left: 3, udp: 0, pipes: 2, other: 17 },
};
/** Windows of quiet periods, which count switches. They last a little longer than the period. */
const QUIET = 'quiet-';
const QUIET_S = 0.625;
const system = { name: 'proxy', role: 'system' };

sidecar.send = (method, path, body) => {
  calls.push(`${method} ${path}`);
  if (path === '/windows') {
    const id = body.peaks === false ? body.instance : QUIET + body.instance;
    return body.instance in seen ? { answer: { id }, error: null } : { error: 'no instance' };
  }
  if (path.endsWith('/close')) return { answer: {}, error: null };
  const [, window = ''] = /windows\/([\w-]+)/.exec(path) ?? [];
  if (path.endsWith('/holding'))
    return window in seen ? { answer: { processes: [HELD] }, error: null } : { error: 'unknown' };
  if (window.startsWith(QUIET)) {
    assert.ok(calls.includes(`POST /windows/${window}/close`), 'an open window has no last reading');
    const ended = seen[window.slice(QUIET.length)] === ENDED;
    const counted = ended ? system : { ...system, voluntary_switches: 200 };
    const processes = [{ role: 'generator', voluntary_switches: 9 }, counted];
    return { answer: { processes, duration_s: QUIET_S }, error: null };
  }
  return { answer: { processes: [system], total: { cpu_s: seen[window].shift() } }, error: null };
};

/** @param {string[]} ids @param {any} [link] */
const turnOf = (ids, link = null) =>
  /** @type {any} */ ({
    instances: ids.map((id) => ({ id })),
    figures: {},
    partsCpu: 0.25,
    plane: { data: { link } },
    hasEnded: () => false,
  });

beforeEach(() => {
  calls.length = 0;
  slept.length = 0;
  for (const id of Object.keys(seen)) delete seen[id];
});

test('what is used in the quiet period is in the turn, and told apart', () => {
  Object.assign(seen, { first: [0.5, 1], second: [0.25, 0.25] });
  const turn = turnOf(['first', 'second']);
  awaitQuiet([new TurnCpu(turn)], 0.5);
  assert.deepEqual(turn.figures, {
    turn_cpu_s: 1.25,
    parts_cpu_s: 0.25,
    quiet_cpu_s: 0.5,
    after_anon_mib: 2,
    after_descriptors: 40,
    after_left: 6,
    after_wakeups_per_s: (2 * 200) / QUIET_S,
  });
  assert.deepEqual(slept, [0, 0.5]);
});

test('the quiet windows of all sides close before any is read', () => {
  Object.assign(seen, { first: [0.5, 1], second: [0.25, 0.25] });
  awaitQuiet([new TurnCpu(turnOf(['first'])), new TurnCpu(turnOf(['second']))], 0.5);
  const from = calls.findIndex((call) => call.endsWith('/close'));
  const closed = ['first', 'second'].map((id) => `POST /windows/${QUIET}${id}/close`);
  assert.deepEqual(calls.slice(from, from + 2), closed);
});

test('over a link the ends have some round trips to close before the quiet period', () => {
  seen.first = [0.5, 1];
  const oneWay = { delay_ns: 20e6 };
  awaitQuiet([new TurnCpu(turnOf(['first'], { about: { settings: { up: oneWay, down: oneWay } } }))], 0.5);
  assert.deepEqual(slept, [0.2, 0.5]);
});

test('a turn of which an end has died has no footprint', () => {
  seen.first = [0.5, 1];
  const turn = { ...turnOf(['first']), hasEnded: () => true };
  awaitQuiet([new TurnCpu(turn)], 0.5);
  const {
    turn_cpu_s: cpu,
    after_anon_mib: memory,
    after_descriptors: all,
    after_wakeups_per_s: woken,
  } = turn.figures;
  assert.deepEqual([cpu, memory, all, woken], [1, null, null, null]);
});

test('a turn of which a process has ended while it was idle has no wake-ups', () => {
  seen.first = ENDED;
  const turn = turnOf(['first']);
  awaitQuiet([new TurnCpu(turn)], 0.5);
  assert.equal(turn.figures.after_wakeups_per_s, null);
});

test('a turn of which one instance is unknown has no CPU time', () => {
  seen.first = [0.5, 1];
  const turn = turnOf(['first', 'unknown']);
  awaitQuiet([new TurnCpu(turn)], 0);
  assert.deepEqual(turn.figures, {
    turn_cpu_s: null,
    parts_cpu_s: 0.25,
    quiet_cpu_s: null,
    after_anon_mib: null,
    after_descriptors: null,
    after_left: null,
    after_wakeups_per_s: null,
  });
});
