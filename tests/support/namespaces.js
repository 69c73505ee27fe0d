/** Network namespaces, as the kernel shows them to whoever looks from outside. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';

/** @param {string} path */
function target(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** @param {string} path */
function entries(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The namespaces that a process is in or has open, by the kernel's names. @param {number | string} pid */
const heldBy = (pid) =>
  [`/proc/${pid}/ns/net`, ...entries(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`)]
    .map(target)
    .filter((name) => name.startsWith('net:['));

/** Those of some processes that are not this process's own. @param {number[]} pids @returns {string[]} */
export const namespacesOf = (pids) => [
  ...new Set(pids.flatMap(heldBy).filter((name) => name !== target('/proc/self/ns/net'))),
];

/** Processes that are in a namespace or have it open. @param {string} namespace @returns {string[]} */
export const holders = (namespace) =>
  entries('/proc').filter((pid) => /^\d+$/.test(pid) && heldBy(pid).includes(namespace));

/** What `ip` shows of this process's own network. */
export const ownNetwork = () =>
  ['netns', 'link', 'rule', 'route']
    .map((what) => spawnSync('ip', [what, 'show'], { encoding: 'utf8' }).stdout)
    .join('');

/** Whether this user may make network namespaces, and has the programs that the testbeds take. */
export const mayMakeNamespaces = () =>
  spawnSync('unshare', ['-n', 'iptables', '-V']).status === 0 && spawnSync('ip', ['-V']).status === 0;
