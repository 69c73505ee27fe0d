/** Network namespaces, as the kernel shows them to other processes. */
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

/** Namespaces of some processes, except this process's own. @param {number[]} pids @returns {string[]} */
export const namespacesOf = (pids) => [
  ...new Set(pids.flatMap(heldBy).filter((name) => name !== target('/proc/self/ns/net'))),
];

/** Processes that are in a namespace or have it open. @param {string} namespace @returns {string[]} */
export const holders = (namespace) =>
  entries('/proc').filter((pid) => /^\d+$/.test(pid) && heldBy(pid).includes(namespace));

/** The output of `ip` for this process's own network. */
export const ownNetwork = () =>
  ['netns', 'link', 'rule', 'route']
    .flatMap((what) => spawnSync('ip', ['-oneline', what, 'show'], { encoding: 'utf8' }).stdout.split('\n'))
    .filter((line) => /near|far|client|proxy|server|tun0|fwmark|198\.1[89]\.|2001:2:/.test(line))
    .join('\n');

/** Commands that need the same features of a machine as the testbeds of transparent proxies. */
const TAKEN = [
  'ip link add near type veth peer name far',
  'ip rule add fwmark 1 lookup 100',
  'iptables -t mangle -A PREROUTING -p udp -j TPROXY --on-port 1 --tproxy-mark 1',
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
].join(' && ');

/**
 * Whether this user may make network namespaces, and the machine has the features for the testbeds.
 * @param {string[]} rights of unshare, such as -Ur
 */
export const mayMakeNamespaces = (...rights) =>
  spawnSync('unshare', [...rights, '-n', 'sh', '-c', TAKEN]).status === 0;
