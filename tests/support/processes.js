/** Looks at processes through /proc. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {{ pid: number, parent: number, command: string }} Process */

/** @returns {Process[]} */
function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return [];
      }
    });
}

/** All that a process has started, directly or not. @param {number} pid */
export function descendants(pid) {
  const all = processes();
  const found = /** @type {Process[]} */ ([]);
  const seek = (/** @type {number} */ parent) => {
    for (const child of all.filter((process) => process.parent === parent)) {
      found.push(child);
      seek(child.pid);
    }
  };
  seek(pid);
  return found;
}

/** @param {number} pid */
export function isAlive(pid) {
  return processes().some((process) => process.pid === pid);
}

/** Kills a process and all that it has started, as far as they still are. @param {number} pid */
export function killTree(pid) {
  for (const one of [...descendants(pid).map((process) => process.pid), pid].filter(isAlive)) {
    process.kill(one, 'SIGKILL');
  }
}

/** Command lines of everything on the machine. */
export const commandLines = () => processes().map(({ command }) => command);

/** Sees what a process starts, and what that shows to anybody on the machine; others there may show anything. @param {import('node:child_process').ChildProcess} child */
export function watch(child) {
  /** @type {Set<number>} */
  const started = new Set();
  let shown = '';
  const timer = setInterval(() => {
    for (const { pid, command } of descendants(Number(child.pid))) {
      started.add(pid);
      shown += `${command}\n`;
    }
  }, 200);
  return () => {
    clearInterval(timer);
    return { shown, left: [...started].filter(isAlive) };
  };
}

/**
 * @template T
 * @param {() => T | undefined | false | null | Promise<T | undefined | false | null>} condition
 * @param {string} what for the error after 60 s
 * @returns {Promise<T>}
 */
export async function until(condition, what) {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const value = await condition();
    if (value) return value;
    await sleep(50);
  }
  throw new Error(`gave up waiting for ${what}`);
}
