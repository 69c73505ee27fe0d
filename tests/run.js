/**
 * Runs the tests under Node.js. The files of tests/alone run one by one, because other files would disturb their measurements. All
 * other files run side by side, the longest first, because they mostly wait. More of them run while CPUs are idle. A test whose times
 * did not hold beside others runs once more alone. A test with real processes that failed for another reason runs again, too, if few
 * failed.
 *
 * With --tier only the files of one tier run (tests/tiers.js). Without it the runner leaves out the files that the rest covers. With
 * names of files only these files run. With --name only the tests run whose names contain these words.
 *
 * Files borrow the systems that they do not break (tests/support/lend.js).
 *
 * The output ends with the time side by side, the files that took longest, each test that was skipped or failed and why, and one line of counts.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LENDER } from './support/lend.js';
import { startLender } from './support/lender.js';
import { BUSY, watchOthers, whyBusy } from './support/others.js';
import { packed, watchIdle } from './support/packed.js';
import { SPOILT } from './support/timely.js';
import { IN_THE_REST, LONGEST, TIERS, isOf } from './tiers.js';

const TESTS = dirname(fileURLToPath(import.meta.url));
const ALONE = 'alone';
/** Files at once: a test uses about a third of a CPU. While CPUs are idle, more run. */
const AT_ONCE = { least: 2 * availableParallelism() + 1, most: 3 * availableParallelism() + 1 };
/** Files whose time is shown at the end. */
const TOLD = 12;
/**
 * More failed tests than this are no accident, such as a port that another process took. Then none runs again. Unit tests start no
 * systems, and never run again.
 */
const ACCIDENTS_MOST = 5;
/** s after its last test (--stays): a process that still runs never ends. Node.js 20 sometimes spins while it closes its handles. */
const STAYS = '120';
/** Characters of an error that are shown at the end: the log above has the whole error. */
const ERROR_TOLD = 400;

/** @param {string} folder @returns {string[]} its tests, such as real/smoke */
const testsOf = (folder) =>
  readdirSync(join(TESTS, folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${folder}/${name.replace('.test.js', '')}`);

/**
 * A test that did not pass.
 * @typedef {object} Told
 * @property {string} file such as real/relay
 * @property {string} name
 * @property {string} [pattern] the name that a second run selects, if it differs from `name`
 * @property {string} why
 * @property {boolean} [whole] the file failed, and none of its tests did
 *
 * @typedef {object} Found
 * @property {number} passed
 * @property {string[]} names of passed tests and suites
 * @property {Told[]} failed
 * @property {Told[]} skipped
 * @property {Told[]} spoilt by other processes on the machine
 * @property {[string, number][]} seconds that each file took
 */

/** @param {any} error */
const messageOf = ({ cause, message }) =>
  (cause instanceof Error ? cause.message : message).replace(/\s+/g, ' ').slice(0, ERROR_TOLD);

/**
 * Runs one file, whose tests may be in files that it imports.
 * @param {string} file
 * @param {RegExp[]} [patterns] of tests' names: only these
 * @returns {Promise<Found>}
 */
async function runFile(file, patterns) {
  const found = /** @type {Found} */ ({
    passed: 0,
    names: [],
    failed: [],
    skipped: [],
    spoilt: [],
    seconds: [],
  });
  const path = resolve(TESTS, `${file}.test.js`);
  /** Outer tests that began, and did not end. Node.js reports no failure of a file that breaks off after a failed test. */
  let open = 0;
  /** Failed inner tests: the outer test says only that inner tests failed. @type {Told[]} */
  let inner = [];
  const began = performance.now();
  const stays = new AbortController();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const count = (/** @type {number} */ more) => {
    open += more;
    clearTimeout(timer);
    if (open === 0 && more < 0) timer = setTimeout(() => stays.abort(), 1000 * staysS);
  };
  const stream = run({
    files: [path],
    signal: stays.signal,
    ...(patterns && { testNamePatterns: patterns }),
  });
  stream.on('test:enqueue', ({ nesting, name }) => count(Number(nesting === 0 && name !== path)));
  stream.on('test:pass', ({ nesting, skip, name, details }) => {
    // The file itself is reported if none of its tests was.
    count(name === path ? 1 : -Number(nesting === 0));
    if (typeof skip === 'string' && !/does not match pattern/.test(skip))
      (skip.startsWith(BUSY) ? found.spoilt : found.skipped).push({ file, name, why: skip });
    if (skip !== undefined || name === path) return;
    found.names.push(name);
    if (details.type !== 'suite') found.passed += 1;
  });
  stream.on('test:fail', ({ nesting, name, details }) => {
    const why = messageOf(details.error);
    if (nesting > 0) {
      inner.push({ file, name, why });
      return;
    }
    if (stays.signal.aborted && name === path) {
      const stayed = `it still ran ${staysS} s after its tests`;
      found.failed.push({ file, name: 'to its end', why: stayed, whole: true });
      return;
    }
    count(-Number(name !== path));
    const [first] = inner;
    const deeper = first?.why ?? why;
    // One failed test of a suite runs again without the others.
    const pattern = details.type === 'suite' && inner.length === 1 ? first.name : name;
    const told = { file, name: first ? `${name}: ${first.name}` : name, pattern, why: deeper };
    (deeper.startsWith(SPOILT) ? found.spoilt : found.failed).push(told);
    inner = [];
  });
  let log = '';
  for await (const text of stream.compose(tap)) log += text;
  clearTimeout(timer);
  process.stdout.write(log);
  if (open > 0 && !patterns)
    found.failed.push({ file, name: 'to its end', why: 'it ended before its tests' });
  return { ...found, seconds: [[file, (performance.now() - began) / 1000]] };
}

/** @param {string} name */
const escaped = (name) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** @param {string} name */
const exactly = (name) => new RegExp(`${escaped(name)}$`);

/**
 * Runs one file alone. A test that a busy machine spoilt is skipped, and says how busy the machine was. On a quiet machine it fails.
 * @param {string} name
 * @param {RegExp[]} [patterns]
 * @returns {Promise<Found>}
 */
async function runAlone(name, patterns) {
  const end = watchOthers();
  const found = await runFile(name, patterns);
  const others = end();
  for (const told of found.spoilt.splice(0)) {
    // Such a test itself measured how busy the machine was.
    if (told.why.startsWith(BUSY)) found.skipped.push(told);
    else if (others.busy) found.skipped.push({ ...told, why: `${whyBusy(others)}: ${told.why}` });
    else found.failed.push(told);
  }
  return found;
}

/**
 * Runs failed tests once more, each alone. A test that passes now counts as passed.
 * @param {Found[]} parts of the run: tests move in them
 * @returns {Promise<Told[]>} tests that passed only now
 */
async function runAccidentsAgain(parts) {
  const failed = parts.flatMap((part) => part.failed);
  if (failed.length > ACCIDENTS_MOST) return [];
  const passed = [];
  for (const told of failed.filter(({ file }) => !file.startsWith('unit/'))) {
    const { pattern = told.name, whole } = told;
    const found = await runAlone(told.file, whole ? patterns : [exactly(pattern)]);
    // Other tests may have the same end of their names.
    if (found.failed.length > 0 || found.passed === 0 || !(whole || found.names.includes(pattern))) continue;
    for (const part of parts) part.failed = part.failed.filter((one) => one !== told);
    // The tests of a whole file were counted at its first try.
    parts.push(whole ? { ...found, passed: 0, skipped: [] } : found);
    passed.push(told);
  }
  return passed;
}

/**
 * A version manager looks up the wanted Python at each start. The look-up takes longer than the programs that tests run with Python,
 * so the runner asks once.
 */
function findPython() {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  process.env.PATH = `${dirname(stdout.trim())}${delimiter}${process.env.PATH}`;
}

/** The files that are asked for, and the names of their tests. */
function asked() {
  const { values, positionals } = parseArgs({
    options: {
      tier: { type: 'string' },
      name: { type: 'string' },
      stays: { type: 'string', default: STAYS },
    },
    allowPositionals: true,
  });
  const { tier, name: words, stays } = values;
  const patterns = words === undefined ? undefined : [new RegExp(escaped(words))];
  if (tier !== undefined && tier !== 'first' && tier !== 'rest')
    throw new Error(`--tier=${tier}: there are ${Object.keys(TIERS).join(' and ')}`);
  if (positionals.length > 0) {
    const named = positionals.map((path) => path.replace(/^(.*\/)?tests\//, '').replace(/\.test\.js$/, ''));
    return { files: named, patterns, staysS: Number(stays) };
  }
  const folders = readdirSync(TESTS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const all = folders.flatMap(({ name }) => testsOf(name));
  const runs = (/** @type {string} */ name) =>
    tier === undefined ? !(name in IN_THE_REST) : isOf(tier, name);
  return { files: all.filter(runs), patterns, staysS: Number(stays) };
}

/** @param {string} name */
const isAlone = (name) => name.startsWith(`${ALONE}/`);

findPython();
const { files: all, patterns, staysS } = asked();
const lender = await startLender();
process.env[LENDER] = lender.address;
for (const [signal, code] of /** @type {const} */ ([
  ['SIGINT', 130],
  ['SIGTERM', 143],
]))
  process.once(signal, () => process.exit(code));
const together = all.filter((name) => !isAlone(name));
const ordered = [
  ...LONGEST.filter((name) => together.includes(name)),
  ...together.filter((name) => !LONGEST.includes(name)),
];
/** @type {Found[]} */
const parts = [];
const [began, idle] = [performance.now(), watchIdle()];
await packed(
  ordered.map((name) => async () => void parts.push(await runFile(name, patterns))),
  AT_ONCE,
);
const [beside, share] = [(performance.now() - began) / 1000, idle()];
// Lent systems would run beside the files that run alone.
await lender.clear();
for (const name of all.filter(isAlone)) parts.push(await runAlone(name, patterns));
for (const { spoilt } of parts.filter((part) => part.spoilt.length > 0))
  parts.push(
    await runAlone(
      spoilt[0].file,
      spoilt.map(({ name, pattern }) => exactly(pattern ?? name)),
    ),
  );
const accidents = await runAccidentsAgain(parts);
await lender.stop();

const failed = parts.flatMap((part) => part.failed);
const longest = parts.flatMap(({ seconds }) => seconds).toSorted(([, a], [, b]) => b - a);
if (together.length > 0)
  console.log(
    `${beside.toFixed(0).padStart(6)} s  side by side; CPUs were idle for ${(100 * share).toFixed(0)} %`,
  );
for (const [name, seconds] of longest.slice(0, TOLD))
  console.log(`${seconds.toFixed(0).padStart(6)} s  ${name}`);
for (const { file, name, why } of parts.flatMap((part) => part.skipped))
  console.log(`skipped: ${file}: ${name}: ${why}`);
for (const { file, name, why } of accidents)
  console.log(`passed at the second try: ${file}: ${name}: ${why}`);
for (const { file, name, why } of failed) console.log(`failed: ${file}: ${name}: ${why}`);
console.log(`${parts.reduce((sum, { passed }) => sum + passed, 0)} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
