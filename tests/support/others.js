/**
 * CPU time that others took while a test ran, so that a test can say that the machine was busy. Each process that the test started
 * counts as its own, even after the death of its parent: a fault that burns CPU is no excuse for itself.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { LIMITS } from './limits.js';
import { processTimes } from './processes.js';

/** @typedef {import('./processes.js').Times} Times */

/** USER_HZ of Linux. */
const TICKS_PER_S = 100;
const KTHREADD = 2;

/** Ticks that processes and the hypervisor took of all CPUs. Interrupts are left out: a test's own traffic causes them. */
function takenTicks() {
  const [, user, nice, system, , , , , steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .split(/\s+/);
  return [user, nice, system, steal].reduce((sum, one) => sum + Number(one), 0);
}

/** @param {Times} one */
const keyOf = ({ pid, born }) => `${pid} ${born}`;

/** Counts the ticks of a process tree. A process stays in the tree when it loses its parent. */
class Own {
  /** The last times of each process, and whether its parent waits for it. @type {Map<string, Times & { waited: boolean }>} */
  #seen = new Map();
  /** Ticks of ended processes that no parent in the tree waited for. */
  #lost = 0;

  /** @param {number} root pid */
  constructor(root) {
    this.root = root;
  }

  /** All ticks until now. Ticks of kernel threads count too, because the threads work for any process. @param {Times[]} all */
  ticks(all) {
    const living = new Map(all.map((one) => [keyOf(one), one]));
    const pids = new Set([this.root]);
    for (const [key, { pid, waited }] of this.#seen) {
      if (living.has(key)) pids.add(pid);
      else if (!waited) this.#lose(key);
    }
    addDescendants(all, pids);
    for (const key of this.#seen.keys()) if (!living.has(key)) this.#seen.delete(key);
    const own = all.filter(({ pid }) => pids.has(pid));
    for (const one of own)
      this.#seen.set(keyOf(one), { ...one, waited: pids.has(one.parent) || one.pid === this.root });
    const kernel = all.filter(({ parent, pid }) => parent === KTHREADD || pid === KTHREADD);
    return (
      this.#lost + sum(own.map(({ ticks, reaped }) => ticks + reaped)) + sum(kernel.map((one) => one.ticks))
    );
  }

  /** @param {string} key */
  #lose(key) {
    const { ticks = 0, reaped = 0 } = this.#seen.get(key) ?? {};
    this.#lost += ticks + reaped;
  }
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, one) => total + one, 0);

/** @param {Times[]} all @param {Set<number>} pids the set that gets all descendants, too */
function addDescendants(all, pids) {
  for (let before = -1; before !== pids.size;) {
    before = pids.size;
    for (const { pid, parent } of all) if (pids.has(parent)) pids.add(pid);
  }
}

/**
 * @typedef {object} Busy
 * @property {number} percent of all CPUs that others took
 * @property {number} most percent in one second
 * @property {boolean} busy
 */

/**
 * Judges the CPU seconds of others. Exported for its test.
 * @param {{ seconds: number, others_s: number }[]} parts in order, each of burst_s or more, but for the last
 * @param {number} cpus
 * @returns {Busy}
 */
export function judged(parts, cpus) {
  const percentOf = (/** @type {typeof parts} */ some) =>
    (100 * sum(some.map((one) => Math.max(0, one.others_s)))) /
    (cpus * sum(some.map((one) => one.seconds)) || 1);
  const percent = percentOf(parts);
  const most = Math.max(
    percent,
    ...parts.filter((one) => one.seconds >= LIMITS.burst_s).map((one) => percentOf([one])),
  );
  return { percent, most, busy: percent >= LIMITS.busy_percent || most >= LIMITS.burst_percent };
}

/**
 * Watches others until it is ended.
 * @param {number} [root] pid of the watched process tree
 * @returns {() => Busy}
 */
export function watchOthers(root = process.pid) {
  const own = new Own(root);
  const look = () => ({ at: performance.now(), taken: takenTicks(), own: own.ticks(processTimes()) });
  /** @type {{ seconds: number, others_s: number }[]} */
  const parts = [];
  let last = look();
  const close = (/** @type {ReturnType<typeof look>} */ now) => {
    const others_s = (now.taken - last.taken - (now.own - last.own)) / TICKS_PER_S;
    parts.push({ seconds: (now.at - last.at) / 1000, others_s });
    last = now;
  };
  const timer = setInterval(() => {
    const now = look();
    if (now.at - last.at >= LIMITS.burst_s * 1000) close(now);
  }, LIMITS.sample_ms);
  timer.unref();
  return () => {
    clearInterval(timer);
    close(look());
    return judged(parts, availableParallelism());
  };
}

/** The start of the reason of every test without an answer on a busy machine; tests/run.js looks for it. */
export const BUSY = 'the machine was busy';

/** @param {Busy} busy */
export const whyBusy = ({ percent, most }) =>
  `${BUSY} (${percent.toFixed(0)} % used by others, at most ${most.toFixed(0)} %)`;
