/**
 * Runs the tests under Node.js: those of tests/alone one by one, as others beside them would be in what they measure; all
 * others side by side, the longest first, as they mostly wait. Ends with one line that counts all. Given names of files, it
 * runs these.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const TESTS = dirname(fileURLToPath(import.meta.url));
const ALONE = 'alone';
/** Minutes each, so that none of them is begun last. */
const LONGEST = ['real/protocols-matrix', 'real/boards', 'real/panel', 'real/tproxy', 'real/protocols-cross'];
/** Files at once: a test uses less than half of a CPU. */
const AT_ONCE = availableParallelism() + 1;

/** @param {string} folder @returns {string[]} its tests, such as real/boards */
const testsOf = (folder) =>
  readdirSync(join(TESTS, folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${folder}/${name.replace('.test.js', '')}`);

/**
 * @param {string[]} names
 * @param {number} concurrency
 * @returns {Promise<{ passed: number, failed: string[] }>}
 */
async function runAll(names, concurrency) {
  let passed = 0;
  /** @type {string[]} */
  const failed = [];
  const stream = run({ files: names.map((name) => join(TESTS, `${name}.test.js`)), concurrency });
  stream.on('test:pass', ({ nesting, skip }) => {
    if (nesting === 0 && skip === undefined) passed += 1;
  });
  stream.on('test:fail', ({ nesting, name, file }) => {
    if (nesting === 0) failed.push(`${file?.replace(`${TESTS}/`, '')}: ${name}`);
  });
  for await (const text of stream.compose(tap)) process.stdout.write(text);
  return { passed, failed };
}

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
for (const name of failed) console.log(`failed: ${name}`);
console.log(`${parts.reduce((sum, { passed }) => sum + passed, 0)} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
