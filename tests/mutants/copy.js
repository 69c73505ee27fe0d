/** A copy of the repository. Faults are planted in the copy, so that no checkout changes. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Older than every build, so that make rebuilds only the parts that have the fault. */
const OLD = new Date('2020-01-01');
/**
 * Cargo compares times, and paths within the workspace. It would take sources that look old for the sources of the existing target.
 * So the sources are new, and cargo compiles them once.
 */
const OF_CARGO = 'sidecar/';
/** Folders of programs that a fault may be compiled into. */
const PROGRAMS = ['k6', 'sidecar'];
/** Folders that are linked, not copied: no test writes into them. */
const LINKED = ['node_modules', '.venv', 'ci/node_modules'];

/** @param {string[]} args @param {{ cwd?: string, input?: Buffer }} [options] */
function git(args, { cwd = ROOT, input } = {}) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, input, maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout;
}

/**
 * Replaces the only `from` of a text.
 * @param {string} text
 * @param {{ name: string, file: string, from: string, to: string }} fault
 * @returns {string} the text with the fault
 */
export function planted(text, { name, file, from, to }) {
  const times = text.split(from).length - 1;
  if (times !== 1) throw new Error(`${name}: ${file} has the text that it replaces ${times} times`);
  return text.replace(from, () => to);
}

export class Copy {
  /** The copy has uncommitted changes, too. It has a new file after `git add`. */
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'mutants-'));
    this.root = join(this.folder, 'repository');
    this.temporary = join(this.folder, 'tmp');
  }

  make() {
    mkdirSync(this.temporary);
    git(['worktree', 'add', '--quiet', '--detach', this.root, 'HEAD']);
    const changes = git(['diff', '--binary', 'HEAD']);
    if (changes.length > 0) git(['apply', '--whitespace=nowarn'], { cwd: this.root, input: changes });
    const files = git(['ls-files', '-z', '--cached', '--others'], { cwd: this.root });
    for (const name of files.toString().split('\0').filter(Boolean)) {
      if (!name.startsWith(OF_CARGO) && existsSync(join(this.root, name)))
        lutimesSync(join(this.root, name), OLD, OLD);
    }
    for (const name of LINKED.filter((own) => existsSync(join(ROOT, own))))
      symlinkSync(join(ROOT, name), join(this.root, name));
    cpSync(join(ROOT, 'bin'), join(this.root, 'bin'), { recursive: true, preserveTimestamps: true });
    this.takePrograms();
    const target = 'sidecar/target/release';
    // cp needs no space if the file system can share the blocks.
    if (existsSync(join(ROOT, target))) {
      mkdirSync(join(this.root, target), { recursive: true });
      spawnSync('cp', ['-a', '--reflink=auto', `${join(ROOT, target)}/.`, join(this.root, target)]);
    }
  }

  /** @param {import('./faults.js').Fault} fault */
  plant(fault) {
    const path = join(this.root, fault.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, planted(text, fault));
    /** Undoes the fault. */
    return () => {
      writeFileSync(path, text);
      this.takePrograms();
    };
  }

  /** Copies the programs without a fault, newer than all sources. */
  takePrograms() {
    for (const name of PROGRAMS) {
      cpSync(join(ROOT, 'bin', name), join(this.root, 'bin', name));
      utimesSync(join(this.root, 'bin', name), new Date(), new Date());
    }
  }

  /** Processes that a test with a fault left: their program, arguments, working folder or environment names this folder. */
  left() {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid && this.isOurs(pid));
  }

  /** @param {number} pid */
  isOurs(pid) {
    const reads = [
      () => readFileSync(`/proc/${pid}/environ`, 'latin1'),
      () => readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
      () => readlinkSync(`/proc/${pid}/cwd`),
      () => readlinkSync(`/proc/${pid}/exe`),
    ];
    return reads.some((read) => {
      try {
        return read().includes(this.folder);
      } catch {
        return false; // the process has ended, or another user owns it
      }
    });
  }

  killLeft() {
    for (const pid of this.left()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended meanwhile.
      }
    }
  }

  remove() {
    this.killLeft();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    git(['worktree', 'prune']);
  }
}
