/**
 * Runs the tests under Node.js: those of tests/alone one by one, as others beside them would be in what they measure; all
 * others side by side, the longest first, as they mostly wait. Ends with the files that took longest, and one line that counts
 * all tests, below each that failed and why. Given names of files, it runs these.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const TESTS = dirname(fileURLToPath(import.meta.url));
const ALONE = 'alone';
/** Minutes each, so that none of them is begun last. */
const LONGEST = [
  'real/smoke',
  'real/protocols-matrix',
  'real/panel',
  'real/runners-each',
  'real/protocols-judged',
  'real/protocols-cross',
  'real/tproxy',
  'known-answers/outage-dataplane',
  'known-answers/dataplane',
];
/** Files at once: a test uses about a third of a CPU. */
const AT_ONCE = 2 * availableParallelism() + 1;
/** Files whose time is told at the end. */
const TOLD = 12;
/** Characters of an error that are told at the end: the log above has it whole. */
const ERROR_TOLD = 400;

/** @param {string} folder @returns {string[]} its tests, such as real/smoke */
const testsOf = (folder) =>
  readdirSync(join(TESTS, folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${folder}/${name.replace('.test.js', '')}`);

/**
 * @param {string[]} names
 * @param {number} concurrency
 * @returns {Promise<{ passed: number, failed: string[], seconds: [string, number][] }>} seconds that each file took
 */
async function runAll(names, concurrency) {
  let passed = 0;
  /** @type {string[]} */
  const failed = [];
  /** @type {Map<string, number>} */
  const seconds = new Map();
  /** Why a test within a test failed, by file: the outer one says only that one did. @type {Map<string, string>} */
  const inner = new Map();
  const nameOf = (/** @type {string | undefined} */ file) => file?.replace(`${TESTS}/`, '') ?? '';
  /** Its first test has the file's own set-up. @param {string | undefined} file @param {number} ms */
  const took = (file, ms) => seconds.set(nameOf(file), (seconds.get(nameOf(file)) ?? 0) + ms / 1000);
  const stream = run({ files: names.map((name) => join(TESTS, `${name}.test.js`)), concurrency });
  stream.on('test:pass', ({ nesting, skip, file, details }) => {
    if (nesting > 0) return;
    if (skip === undefined) passed += 1;
    took(file, details.duration_ms);
  });
  stream.on('test:fail', ({ nesting, name, file, details }) => {
    const { cause, message } = details.error;
    const why = (cause instanceof Error ? cause.message : message).replace(/\s+/g, ' ').slice(0, ERROR_TOLD);
    if (nesting > 0) inner.set(nameOf(file), inner.get(nameOf(file)) ?? `${name}: ${why}`);
    if (nesting > 0) return;
    failed.push(`${nameOf(file)}: ${name}: ${inner.get(nameOf(file)) ?? why}`);
    inner.delete(nameOf(file));
    took(file, details.duration_ms);
  });
  for await (const text of stream.compose(tap)) process.stdout.write(text);
  return { passed, failed, seconds: [...seconds] };
}

/**
 * A version manager finds anew at each start which Python is meant, which takes longer than what the tests start it for: it is
 * asked once.
 */
function findPython() {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  process.env.PATH = `${dirname(stdout.trim())}${delimiter}${process.env.PATH}`;
}

findPython();
const given = process.argv
  .slice(2)
  .map((path) => path.replace(/^(.*\/)?tests\//, '').replace(/\.test\.js$/, ''));
const folders = readdirSync(TESTS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const all = given.length > 0 ? given : folders.flatMap(({ name }) => testsOf(name));
const isAlone = (/** @type {string} */ name) => name.startsWith(`${ALONE}/`);
const together = all.filter((name) => !isAlone(name));
const ordered = [
  ...LONGEST.filter((name) => together.includes(name)),
  ...together.filter((name) => !LONGEST.includes(name)),
];
const parts = [await runAll(ordered, AT_ONCE), await runAll(all.filter(isAlone), 1)];

const failed = parts.flatMap((part) => part.failed);
const longest = parts.flatMap(({ seconds }) => seconds).toSorted(([, a], [, b]) => b - a);
for (const [name, seconds] of longest.slice(0, TOLD))
  console.log(`${seconds.toFixed(0).padStart(6)} s  ${name}`);
for (const name of failed) console.log(`failed: ${name}`);
console.log(`${parts.reduce((sum, { passed }) => sum + passed, 0)} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
