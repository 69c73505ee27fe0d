/** The parts of a machine that a cluster could change: a test compares them before and after. */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** @param {string[]} command @returns {string[]} the lines that it prints */
const linesOf = (command) => spawnSync(command[0], command.slice(1), { encoding: 'utf8' }).stdout.split('\n');

/** Settings of the kernel that change without a cluster. */
const RESTLESS =
  /^(fs\.(dentry-state|file-nr|inode-(nr|state)|aio-nr|quota\.)|kernel\.(ns_last_pid|pty\.nr|random\.|sched_|tainted)|net\.netfilter\.nf_conntrack_count|vm\.stat)/;

/** @param {string} folder @returns {string[]} */
const foldersOf = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${folder}/${entry.name}`);

/** The current state of the machine, each part as lines. */
export const machine = () => ({
  devices: linesOf(['ip', '-oneline', 'link', 'show']).map((line) => line.replace(/^\d+: | state .*/g, '')),
  addresses: linesOf(['ip', '-oneline', 'address', 'show']).map((line) =>
    line.replace(/^\d+: | valid_lft.*/g, ''),
  ),
  routes: linesOf(['ip', 'route', 'show', 'table', 'all']),
  rules: linesOf(['ip', 'rule', 'show']),
  firewall: linesOf(['iptables-save']).filter((line) => !/^[#:]/.test(line)),
  settings: linesOf(['sysctl', '--all']).filter((line) => !RESTLESS.test(line)),
  mounts: readFileSync('/proc/self/mounts', 'utf8').split('\n'),
  cgroups: foldersOf('/sys/fs/cgroup').flatMap((hierarchy) => foldersOf(hierarchy)),
});
