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

/** Readings of what is held so far. */
let looks = 0;

/** @param {number} look */
const holding = (look) => ({
  role: 'system',
  anon_bytes: 2 ** 20,
  threads: 4,
  voluntary_switches: 100 * look,
  descriptors: { all: 20, tcp: { listen: 1 }, left: 3, udp: 0, pipes: 2, other: 17 },
});

sidecar.send = (method, path, body) => {
  calls.push(`${method} ${path}`);
  if (path === '/windows') {
    assert.equal(body.peaks, false, 'a window that is sampled costs CPU time beside what is measured');
    return body.instance in seen ? { answer: { id: body.instance }, error: null } : { error: 'no instance' };
  }
  if (path.endsWith('/close')) return { answer: {}, error: null };
  if (path.endsWith('/holding')) {
    const [, window] = /windows\/(\w+)/.exec(path) ?? [];
    looks += 1;
    return window in seen ? { answer: { processes: [holding(looks)] }, error: null } : { error: 'unknown' };
  }
  const cpu = seen[path.replace('/windows/', '')].shift();
  return { answer: { processes: [{ role: 'system' }], total: { cpu_s: cpu } }, error: null };
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
  looks = 0;
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
    after_wakeups_per_s: 800,
  });
  assert.deepEqual(slept, [0, 0.5]);
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
