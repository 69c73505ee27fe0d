/** Looks at processes through /proc. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from './patience.js';

/**
 * @typedef {object} Process
 * @property {number} pid
 * @property {number} born clock ticks since boot; with the pid it names one process, for pids are used again within minutes
 * @property {number} parent its pid
 * @property {string} command line; empty if it has ended
 */

/** Fields 3 and later of /proc/PID/stat (proc(5)), or nothing for a missing process. @param {number} pid */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : { parent: Number(fields[1]), born: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

/**
 * @typedef {object} Times of a process
 * @property {number} pid
 * @property {number} born
 * @property {number} parent
 * @property {number} ticks of CPU that it took
 * @property {number} reaped ticks of all processes that it waited for
 */

/** Ticks of every process, zombies too, because no parent has waited for zombies. @returns {Times[]} */
export const processTimes = () =>
  pids().flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [parent, user, system, reapedUser, reapedSystem, born] = [1, 11, 12, 13, 14, 19].map(
        (at) => fields[at],
      );
      return [{ pid, born, parent, ticks: user + system, reaped: reapedUser + reapedSystem }];
    } catch {
      return [];
    }
  });

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

/** An existing process. @param {number} pid @returns {Process} */
export function processOf(pid) {
  const stat = statOf(pid);
  if (!stat) throw new Error(`there is no process ${pid}`);
  return { pid, ...stat, command: commandOf(pid) };
}

/** All descendants of a process. @param {number} pid */
export function descendants(pid) {
  /** @type {Map<number, Omit<Process, 'command'>[]>} */
  const children = new Map();
  for (const one of pids()) {
    const stat = statOf(one);
    if (!stat) continue;
    const siblings = children.get(stat.parent);
    if (siblings) siblings.push({ pid: one, ...stat });
    else children.set(stat.parent, [{ pid: one, ...stat }]);
  }
  const found = /** @type {Process[]} */ ([]);
  const seek = (/** @type {number} */ parent) => {
    for (const child of children.get(parent) ?? []) {
      found.push({ ...child, command: commandOf(child.pid) });
      seek(child.pid);
    }
  };
  seek(pid);
  return found;
}

/** Whether the same process still exists, not another process with its pid. @param {{ pid: number, born: number }} process */
export const isAlive = ({ pid, born }) => statOf(pid)?.born === born;

/** Kills a process and its descendants, if they still exist. @param {number} pid */
export function killTree(pid) {
  if (!statOf(pid)) return;
  for (const one of [...descendants(pid), processOf(pid)].filter(isAlive)) process.kill(one.pid, 'SIGKILL');
}

/** Command lines of all processes on the machine. */
export const commandLines = () => pids().map(commandOf);

/** Records the descendants of a process and their public command lines, and no other processes. @param {import('node:child_process').ChildProcess} child */
export function watch(child) {
  /** @type {Map<string, Process>} */
  const started = new Map();
  let shown = '';
  const timer = setInterval(() => {
    for (const one of descendants(Number(child.pid))) {
      started.set(`${one.pid} ${one.born}`, one);
      shown += `${one.command}\n`;
    }
  }, 200);
  return () => {
    clearInterval(timer);
    return { shown, left: [...started.values()].filter(isAlive) };
  };
}

/**
 * @template T
 * @param {() => T | undefined | false | null | Promise<T | undefined | false | null>} condition
 * @param {string} what for the error after 60 s, and more on a slow machine
 * @returns {Promise<T>}
 */
export async function until(condition, what) {
  const waits = patience(60_000);
  while (waits()) {
    const value = await condition();
    if (value) return value;
    await sleep(50);
  }
  throw new Error(`gave up waiting for ${what}`);
}
