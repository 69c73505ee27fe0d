/** Runs jobs side by side: always a number of them, and more while CPUs are idle. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Idle share of all CPUs above which one more job starts: a test uses about a third of a CPU. */
const ROOM = 0.2;
/** Time in which the idle share is measured, ms. The job that started last uses its CPU by then. */
const LOOK_MS = 3000;

/** Ticks of all CPUs: all, and idle ones, which include waits for a disk. */
function ticks() {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/);
  // Guests' time, which follows, is part of the others.
  const all = fields.slice(0, 8).map(Number);
  return { idle: all[3] + all[4], all: all.reduce((sum, one) => sum + one, 0) };
}

/** Begins to watch all CPUs. @returns {() => number} the share of them that has been idle since */
export function watchIdle() {
  const before = ticks();
  return () => {
    const now = ticks();
    return (now.idle - before.idle) / Math.max(1, now.all - before.all);
  };
}

async function isIdle() {
  const idle = watchIdle();
  await sleep(LOOK_MS);
  return idle() > ROOM;
}

/**
 * @param {(() => Promise<void>)[]} jobs in the order in which they start
 * @param {{ least: number, most: number, hasRoom?: () => Promise<boolean> }} how many at once; `hasRoom` allows one more than `least`
 */
export async function packed(jobs, { least, most, hasRoom = isIdle }) {
  /** @type {Set<Promise<void>>} */
  const running = new Set();
  for (const job of jobs) {
    while (running.size >= least) {
      const ends = [...running].map((one) => one.then(() => false));
      if ((await Promise.race([...ends, hasRoom()])) && running.size < most) break;
    }
    const one = job().finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
}
