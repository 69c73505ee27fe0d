/**
 * Plants each fault of the list, one at a time, and reports which test finds it, and in which tier. Given names of faults, it plants
 * only these; --list prints all names. Each listed test must first pass without a fault.
 *
 * It ends with 1 if a fault was not found, or the list is wrong.
 */
import { parseArgs } from 'node:util';
import { Copy } from './copy.js';
import { FAULTS } from './faults.js';
import { killRunning, started, tierOf, titleOf, tried } from './tries.js';

/** @typedef {import('./faults.js').Fault} Fault */
/** @typedef {import('./tries.js').Test} Test */
/** @typedef {{ fault: Fault, by?: Test, why?: string }} Found `why`: nothing found it */

function asked() {
  const { values, positionals } = parseArgs({
    options: { list: { type: 'boolean' } },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown) throw new Error(`${unknown} is no fault of the list: --list names them`);
  const faults = FAULTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { list: values.list ?? false, faults };
}

/** @param {number} seconds */
const inSeconds = (seconds) => `${seconds.toFixed(0)} s`.padStart(6);

/**
 * The tests that cannot judge a fault, and why: they do not pass here without a fault.
 * @param {Fault[]} faults
 * @param {Copy} copy
 */
async function useless(faults, copy) {
  const tests = new Map(faults.flatMap(({ tests: own }) => own.map((test) => [titleOf(test), test])));
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const [title, test] of tests) {
    const { end, why, seconds } = await tried(test, copy);
    copy.killLeft();
    console.log(`${inSeconds(seconds)}  without a fault: ${title}: ${end}`);
    if (end === 'passed') continue;
    found.set(title, `${title} does not pass without a fault: ${end}`);
    if (end !== 'busy') console.log(why);
  }
  return found;
}

/** Builds the program that has the fault, because tests under Node.js start it. @param {Fault} fault @param {Copy} copy */
async function build({ file }, copy) {
  const program = file.startsWith('k6/') ? 'bin/k6' : file.startsWith('sidecar/') ? 'bin/sidecar' : null;
  if (program === null) return null;
  const { code, output } = await started(['make', '--silent', program], copy.root, {});
  return code === 0 ? null : output;
}

/** @param {Fault} fault @param {Copy} copy @param {Map<string, string>} no tests that cannot judge a fault @returns {Promise<Found>} */
async function look(fault, copy, no) {
  const whys = [];
  let built = false;
  for (const test of fault.tests) {
    const title = titleOf(test);
    const unfit = no.get(title);
    if (unfit) {
      whys.push(unfit);
      continue;
    }
    if ('js' in test && !built) {
      const broken = await build(fault, copy);
      if (broken !== null) return { fault, why: `it does not compile: ${broken}` };
      built = true;
    }
    const { end, why } = await tried(test, copy);
    if (end === 'failed') return { fault, by: test };
    whys.push(end === 'broken' ? `${title} could not be run: ${why}` : `${title}: ${end}`);
  }
  return { fault, why: whys.join('; ') };
}

/** @param {Fault[]} faults @param {Copy} copy */
async function plantAll(faults, copy) {
  const no = await useless(faults, copy);
  /** @type {Found[]} */
  const all = [];
  for (const fault of faults) {
    const began = Date.now();
    const undo = copy.plant(fault);
    const found = await look(fault, copy, no);
    undo();
    copy.killLeft();
    all.push(found);
    const by = found.by ? `${tierOf(found.by).padEnd(13)}  ${fault.name}: ${titleOf(found.by)}` : '';
    console.log(
      `${inSeconds((Date.now() - began) / 1000)}  ${by || `NOT FOUND      ${fault.name}: ${found.why}`}`,
    );
  }
  return all;
}

/** @param {Found[]} all */
function tell(all) {
  const by = all.flatMap(({ by: test }) => (test ? [tierOf(test)] : []));
  const first = by.filter((tier) => tier === 'make test').length;
  const none = all.length - by.length;
  console.log(`${all.length} faults: make test finds ${first}, make test-all ${by.length}, none ${none}`);
  process.exitCode = none > 0 ? 1 : 0;
}

const { list, faults } = asked();
if (list) {
  for (const { name, file, what } of faults) console.log(`${name.padEnd(28)} ${file}: ${what}`);
} else {
  const copy = new Copy();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      console.error(`ended by ${signal}`);
      killRunning();
      copy.remove();
      process.exit(130);
    });
  }
  try {
    copy.make();
    tell(await plantAll(faults, copy));
  } finally {
    copy.remove();
  }
}
