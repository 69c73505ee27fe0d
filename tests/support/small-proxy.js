/**
 * Gates of a small proxy, as its tests run them. One head costs SLOWER percent more for each byte: by default 60, which a gate finds
 * within a minute. benchmarks/gate counts how often gates find 15 percent. One head differs in a comment of the code, one in files
 * that are not built, and one is broken. KEEP=FOLDER keeps the comments.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { BUILD, gate, proxyRepository, publish } from './gate.js';
import { temporaryFolder } from './k6.js';

const SLOWER = Number(process.env.SLOWER ?? 60);
const PROXY = {
  name: 'proxy',
  build: BUILD,
  binary: 'out/proxy',
  testbed: 'own-proxy',
  scenario: 'dataplane/socks-tcp',
  profile: 'smoke',
  minutes: '3',
  'worse-by': String(SLOWER / 3),
};
/** Reasons without a verdict on a machine that others use. */
const MACHINE = /can be used|is unclear|too few|neighbour|too near the bound/;

/** @typedef {Awaited<ReturnType<typeof gate>>} Measured */

/** Keeps a comment if KEEP is set. @param {string} name @param {Measured} measured */
export function keep(name, { comment }) {
  if (!process.env.KEEP) return;
  mkdirSync(process.env.KEEP, { recursive: true });
  writeFileSync(join(process.env.KEEP, `${name}.md`), comment);
}

/** @param {Measured} measured @param {string} verdict that must come, or none for a reason of the machine */
export function assertVerdict(measured, verdict) {
  assertMeasured(measured, verdict);
  assert.match(measured.junit, /<testsuite name="dataplane\/socks-tcp"/);
}

/** @param {Measured} measured @param {string} verdict the same, of any scenario */
export function assertMeasured(measured, verdict) {
  const found = measured.outputs.verdict;
  assert.ok([verdict, 'inconclusive'].includes(found), `${found}\n${measured.log}`);
  if (found !== verdict) assert.match(measured.comment, MACHINE);
  const conclusion = { pass: 'success', fail: 'failure', inconclusive: 'neutral' }[found];
  assert.equal(measured.outputs.conclusion, conclusion);
  assert.equal(measured.job.failed, conclusion === 'failure', measured.log);
  const word = [found, measured.outputs.doubt].join(' ').trim().replaceAll(' ', '-');
  const marker = `<!-- windtunnel proxy ${word} ${conclusion} -->\n`;
  assert.ok(measured.comment.startsWith(marker), measured.comment);
  assert.ok(measured.summary.includes(measured.comment.trim()));
}

/** The proxy's repository in a folder, which `remove` removes. */
export function smallProxy() {
  const folder = temporaryFolder('gate');
  const { fresh } = folder;
  const repository = proxyRepository(folder.path, {
    slower: (path) => writeFileSync(join(path, 'price'), `${100 + SLOWER}\n`),
    equal: (path) => appendFileSync(join(path, 'proxy.py'), '# nothing else\n'),
    broken: (path) => writeFileSync(join(path, 'price'), '"\n'),
  });
  return {
    remove: folder.remove,
    /** Runs gate.yml. @param {string} branch @param {string} event @param {Record<string, string>} [inputs] @param {Record<string, string>} [variables] */
    gate: (branch, event, inputs = {}, variables = {}) =>
      gate(fresh(), repository, branch, event, { ...PROXY, ...inputs }, variables),
    /** Runs publish.yml behind it. @param {Measured} measured @param {any[]} [comments] that exist */
    publish: (measured, comments = []) => publish(fresh(), measured, PROXY.name, comments),
  };
}
