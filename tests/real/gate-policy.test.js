/** The end of a gate without a verdict, by the kind of doubt and by its policy: ci/gate and `k6 x comment` on made comparisons. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { checkComment } from '../../ci/inert.js';
import { conclusionOf } from '../../ci/publish.js';
import { K6, ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('gate-policy');
after(folder.remove);

const side = { spec: '', testbed: null, versions: {}, runs: [] };

/** @param {string} verdict @param {string} [doubt] @param {string} [outcome] of its one metric */
const comparison = (verdict, doubt, outcome = 'unclear') => ({
  schema: 'windtunnel.comparison/2',
  system: 'dataplane',
  scenario: 'socks-tcp',
  profile: 'quick',
  confidence: 0.98,
  worse_by_percent: 10,
  headline: 'head may be faster or slower than base',
  a: side,
  b: side,
  metrics: [
    { title: 'CPU', name: 'cpu', unit: 'us', role: 'primary', a: { median: 1 }, b: { median: 1 }, outcome },
  ],
  failures: [],
  notes: [],
  verdict,
  doubt,
  reasons: ['CPU is unclear'],
});

/**
 * A checkout whose bin/k6 measures nothing: it leaves made files, ends with a code, and hands `x comment` to the real one.
 * @param {Record<string, object>} files by their paths in the folder of the run @param {number} code
 */
function checkout(files, code) {
  const path = folder.fresh();
  for (const name of ['bin', 'ci', 'made']) mkdirSync(join(path, name));
  copyFileSync(join(ROOT, 'ci/gate'), join(path, 'ci/gate'));
  writeFileSync(join(path, 'Makefile'), 'bin/k6 bin/sidecar:\n');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, 'made', name, '..'), { recursive: true });
    writeFileSync(join(path, 'made', name), JSON.stringify(text));
  }
  const script = `#!/bin/bash
case $2 in
comment) exec '${K6}' "$@" ;;
compare)
  while test $# -gt 0 -a "$1" != --run-id; do shift; done
  mkdir -p "results/$2" && cp -r made/. "results/$2/"
  exit ${code} ;;
esac
`;
  writeFileSync(join(path, 'bin/k6'), script, { mode: 0o755 });
  return path;
}

/**
 * Runs a gate to its end.
 * @param {Record<string, object>} files @param {number} code @param {Record<string, string>} [env]
 */
function gate(files, code, env = {}) {
  const path = checkout(files, code);
  const out = join(path, 'out');
  const outputs = join(path, 'outputs');
  const given = {
    PATH: process.env.PATH,
    HOME: path,
    GATE_OUT: out,
    GATE_BASE: '/base',
    GATE_HEAD: '/head',
    GATE_SCENARIO: 'dataplane/socks-tcp',
    GATE_TESTBED: 'own-proxy',
    GITHUB_OUTPUT: outputs,
    ...env,
  };
  const run = (/** @type {string} */ what) =>
    spawnSync(join(path, 'ci/gate'), [what], { encoding: 'utf8', env: given });
  const measured = run('run');
  assert.equal(measured.status, 0, measured.stderr);
  const { status, stdout } = run('end');
  const comment = readFileSync(join(out, 'comment.md'));
  const told = Object.fromEntries(
    readFileSync(outputs, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  );
  return { status, said: stdout, comment, told, log: measured.stdout };
}

/** @type {[string, Record<string, object>, string, string, string][]} what, files, doubt, and the conclusion of either policy */
const DOUBTS = [
  [
    'too noisy',
    { 'compare.json': comparison('inconclusive', 'too noisy') },
    'too noisy',
    'neutral',
    'failure',
  ],
  [
    'too little time',
    { 'compare.json': comparison('inconclusive', 'too little time') },
    'too little time',
    'neutral',
    'failure',
  ],
  [
    'something is missing',
    { 'compare.json': comparison('inconclusive', 'something is missing') },
    'something is missing',
    'failure',
    'failure',
  ],
  [
    'a file from before the doubt',
    { 'compare.json': comparison('inconclusive') },
    'too noisy',
    'neutral',
    'failure',
  ],
  [
    'such a file that judged nothing',
    { 'compare.json': comparison('inconclusive', undefined, '') },
    'something is missing',
    'failure',
    'failure',
  ],
  [
    'several scenarios',
    {
      'a/compare.json': comparison('inconclusive', 'too noisy'),
      'b/compare.json': comparison('inconclusive', 'something is missing'),
      'c/compare.json': comparison('pass'),
    },
    'something is missing',
    'failure',
    'failure',
  ],
  ['nothing that was measured', {}, 'something is missing', 'failure', 'failure'],
];

for (const [what, files, doubt, neutral, fail] of DOUBTS)
  for (const [policy, want] of /** @type {[Record<string, string>, string][]} */ ([
    [{}, neutral],
    [{ GATE_ON_INCONCLUSIVE: '' }, neutral],
    [{ GATE_ON_INCONCLUSIVE: 'neutral' }, neutral],
    [{ GATE_ON_INCONCLUSIVE: 'fail' }, fail],
  ]))
    test(`${what} with ${JSON.stringify(policy)} is ${want}`, () => {
      const { status, said, comment, told, log } = gate(files, 3, policy);
      assert.equal(status, want === 'failure' ? 1 : 0, said);
      const { verdict, conclusion, code } = told;
      assert.deepEqual(
        { verdict, doubt: told.doubt, conclusion, code },
        { verdict: 'inconclusive', doubt, conclusion: want, code: '3' },
        log,
      );
      assert.match(String(comment).split('\n')[1], new RegExp(`: (✗ )?cannot tell: ${doubt}$`));
      assert.match(said, want === 'failure' ? /^::error / : /^::notice /);
      const checked = checkComment(comment, 'gate');
      assert.ok('conclusion' in checked, JSON.stringify(checked));
      assert.equal(checked.verdict, `inconclusive-${doubt.replaceAll(' ', '-')}`);
      assert.equal(conclusionOf('success', checked.conclusion), want);
    });

for (const policy of ['neutral', 'fail'])
  test(`what can be told does not ask for the policy ${policy}`, () => {
    const passed = gate({ 'compare.json': comparison('pass', undefined, 'within') }, 0, {
      GATE_ON_INCONCLUSIVE: policy,
    });
    assert.deepEqual([passed.status, passed.told.conclusion, passed.told.doubt], [0, 'success', '']);
    const failed = gate({ 'compare.json': comparison('fail', undefined, 'beyond') }, 99, {
      GATE_ON_INCONCLUSIVE: policy,
    });
    assert.deepEqual([failed.status, failed.told.conclusion, failed.told.doubt], [1, 'failure', '']);
  });

test('a result that says more than how the measurement ended is a failure', () => {
  const { status, told } = gate({ 'compare.json': comparison('pass', undefined, 'within') }, 3);
  assert.deepEqual([status, told.verdict, told.conclusion], [1, 'set-up failed', 'failure']);
});

test('another policy is refused in one line before anything is measured', () => {
  const { status, told, comment, log } = gate({ 'compare.json': comparison('pass') }, 0, {
    GATE_ON_INCONCLUSIVE: 'pass',
  });
  assert.equal(log, "gate: on-inconclusive: 'pass' is neither neutral nor fail\n");
  assert.deepEqual([status, told.conclusion, told.code], [1, 'failure', '2']);
  assert.match(String(comment), /is neither neutral nor fail/);
});
