/** Looks at processes through /proc. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {{ pid: number, parent: number, command: string }} Process */

/** A process's parent, or none if there is no such process. @param {number} pid */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

/** A process's command line; none if it has ended. @param {number} pid */
function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** @returns {number[]} all on the machine */
const pids = () => readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

/** All that a process has started, directly or not. @param {number} pid */
export function descendants(pid) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const one of pids()) {
    const parent = parentOf(one);
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(one);
    else children.set(parent, [one]);
  }
  const found = /** @type {Process[]} */ ([]);
  const seek = (/** @type {number} */ parent) => {
    for (const child of children.get(parent) ?? []) {
      found.push({ pid: child, parent, command: commandOf(child) });
      seek(child);
    }
  };
  seek(pid);
  return found;
}

/** @param {number} pid */
export const isAlive = (pid) => parentOf(pid) !== undefined;

/** Kills a process and all that it has started, as far as they still are. @param {number} pid */
export function killTree(pid) {
  for (const one of [...descendants(pid).map((process) => process.pid), pid].filter(isAlive)) {
    process.kill(one, 'SIGKILL');
  }
}

/** Command lines of everything on the machine. */
export const commandLines = () => pids().map(commandOf);

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
