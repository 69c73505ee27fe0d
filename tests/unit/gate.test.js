/** What surrounds a gate: which commits, what is built, and what of a comment is refused. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { checkComment } from '../../ci/inert.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { evaluate, filled, runs } from '../support/workflow.js';

const folder = temporaryFolder('gate-unit');
after(folder.remove);
const { fresh } = folder;

const SHA = '1'.repeat(40);
const PASS =
  '<!-- windtunnel gate pass success -->\n### Windtunnel, gate: ✓ pass\n\nhead is as fast as base\n';

/** @param {string} text */
const check = (text) => checkComment(Buffer.from(text), 'gate');

test('a comment as it is made is taken', () => {
  const text = `${PASS}| A \\| b \\[x\\] @&#8203;c | \\#&#8203;1<br>x &lt;y&gt; &amp; |\n<details><summary>more</summary>\n\n- x\n\n</details>\n`;
  assert.deepEqual(check(text), { verdict: 'pass', conclusion: 'success', text });
});

for (const [what, text] of /** @type {[string, string][]} */ ([
  ['no marker', 'hello'],
  ['no conclusion', PASS.replace(' success', '')],
  ['another conclusion', PASS.replace('success', 'cancelled')],
  ['another gate', PASS.replace('windtunnel gate', 'windtunnel other')],
  ['a mention', `${PASS}@octocat`],
  ['a reference', `${PASS}x#1`],
  ['a reference', `${PASS}GH-1`],
  ['a reference', `${PASS}#1 look`],
  ['a reference', `${PASS}Fixes\n#1`],
  ['a reference', `${PASS}####### 1`],
  ['a commit', `${PASS}${SHA}`],
  ['a commit', `${PASS}abcdef0`],
  ['a reference', `${PASS}gh\\-1`],
  ['an address', `${PASS}https:\\/\\/evil.example`],
  ['an address', `${PASS}www\\.evil.example`],
  ['code', `${PASS}- ~~~\nx`],
  ['code', `${PASS}\n    x`],
  ['a command', `${PASS}- /close`],
  ['an emoji', `${PASS}:tada:`],
  ['an emoji', `${PASS}:wave\\_x:`],
  ['a formula', `${PASS}$x$`],
  ['code', `${PASS}~~~\nx\n~~~`],
  ['a command', `${PASS}/close`],
  ['a command', `${PASS}  /close`],
  ['a link', `${PASS}[x](http:x)`],
  ['a link', `${PASS}\\\\[x](http:x)`],
  ['a mention', `${PASS}\\@octocat`],
  ['a mention', `${PASS}@ZWSPx`],
  ['an address', `${PASS}https://x.example`],
  ['an address', `${PASS}www.x.example`],
  ['HTML', `${PASS}<img src=x>`],
  ['HTML', `${PASS}<details open>`],
  ['HTML', `${PASS}<!-- -->`],
  ['an entity', `${PASS}&#64;octocat`],
  ['an entity', `${PASS}&commat;octocat`],
  ['code', `${PASS}\`x\``],
  ['not seen', `${PASS}\u202e`],
  ['a control character', `${PASS}\u0007`],
  ['bytes', PASS + 'x'.repeat(70_000)],
])) {
  test(`a comment with ${what} is refused: ${text.slice(PASS.length, PASS.length + 20)}`, () => {
    const found = check(text);
    assert.ok('wrong' in found, JSON.stringify(found));
  });
}

test('what is no UTF-8 is refused', () => {
  const found = checkComment(Buffer.concat([Buffer.from(PASS), Buffer.from([0xff])]), 'gate');
  assert.ok('wrong' in found && found.wrong === 'it is no UTF-8');
});

/** @param {string} cwd @param {string[]} args @param {Record<string, string>} [env] */
function git(cwd, args, env = {}) {
  const author = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.example',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.example',
  };
  const done = spawnSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder.path, ...author, ...env },
  });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.trim();
}

/** @param {string} path @param {Record<string, string>} env */
const sides = (path, env) =>
  spawnSync(join(ROOT, 'ci/sides'), {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, GATE_CHECKOUT: path, ...env },
  });

test('which commits are compared goes by the event', () => {
  const path = fresh();
  git(path, ['init', '-q', '-b', 'main']);
  const at = (/** @type {number} */ days) => {
    const date = `${Math.floor(Date.now() / 1000) - days * 86400} +0000`;
    git(path, ['commit', '-q', '--allow-empty', '-m', `${days} days ago`], {
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    });
    return git(path, ['rev-parse', 'HEAD']);
  };
  const old = at(20);
  const week = at(8);
  const main = at(3);
  git(path, ['checkout', '-q', '-b', 'change']);
  at(1);
  git(path, ['checkout', '-q', '-b', 'merged', 'main']);
  git(path, ['merge', '-q', '--no-ff', '-m', 'merge', 'change']);
  const merge = git(path, ['rev-parse', 'HEAD']);

  assert.equal(sides(path, { GITHUB_EVENT_NAME: 'pull_request' }).stdout, `base=${main}\nhead=${merge}\n`);
  assert.equal(sides(path, { GITHUB_EVENT_NAME: 'schedule' }).stdout, `base=${week}\nhead=${merge}\n`);
  assert.equal(
    sides(path, { GITHUB_EVENT_NAME: 'workflow_dispatch', GATE_BASE: old }).stdout,
    `base=${old}\nhead=${merge}\n`,
  );
  for (const [base, why] of [
    ['--output=x', /there is no revision/],
    ['nothing', /there is no revision/],
  ]) {
    const { status, stderr } = sides(path, {
      GITHUB_EVENT_NAME: 'schedule',
      GATE_BASE: /** @type {string} */ (base),
    });
    assert.equal(status, 2);
    assert.match(stderr, /** @type {RegExp} */ (why));
  }
  git(path, ['checkout', '-q', 'change']);
  assert.equal(sides(path, { GITHUB_EVENT_NAME: 'pull_request' }).status, 2);

  const change = git(path, ['rev-parse', 'change']);
  const event = (/** @type {string} */ name, /** @type {any} */ body, /** @type {string} */ branch) => {
    const file = join(fresh(), 'event.json');
    writeFileSync(file, JSON.stringify(body));
    git(path, ['checkout', '-q', branch]);
    return sides(path, { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: file });
  };
  const pull = { pull_request: { base: { sha: main }, head: { sha: change } } };
  const repository = { default_branch: 'main' };
  const nowhere = '2'.repeat(40);
  for (const [name, body, branch, base] of /** @type {[string, any, string, string][]} */ ([
    ['merge_group', { merge_group: { base_sha: week } }, 'merged', week],
    ['push', { before: old, repository }, 'merged', old],
    ['push', { before: '0'.repeat(40), repository }, 'change', main],
    ['pull_request_target', pull, 'merged', main],
    ['pull_request_target', pull, 'change', main],
  ])) {
    const { stdout, stderr } = event(name, body, branch);
    assert.equal(stdout, `base=${base}\nhead=${git(path, ['rev-parse', branch])}\n`, `${name}: ${stderr}`);
  }
  for (const [name, body, branch, why] of /** @type {[string, any, string, RegExp][]} */ ([
    ['merge_group', {}, 'merged', /has no \.merge_group\.base_sha: give base/],
    ['push', { before: nowhere, repository }, 'main', /2{40}, is not in the checkout: .* give base/],
    ['push', { before: '0'.repeat(40), repository: { default_branch: 'x' } }, 'main', /the branch is new/],
    ['pull_request_target', pull, 'main', /use the event pull_request/],
    ['release', {}, 'main', /of the event 'release' has no known base: give base/],
  ])) {
    const { status, stdout, stderr } = event(name, body, branch);
    assert.deepEqual([status, stdout], [2, ''], `${name}: ${stdout}`);
    assert.match(stderr, why);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
});

test('why git does not look at a checkout is told', () => {
  const path = fresh();
  assert.match(sides(path, {}).stderr, /^sides: .*: not a git repository/);
  git(path, ['init', '-q']);
  assert.match(sides(path, {}).stderr, /^sides: .*: Needed a single revision/);
  git(path, ['commit', '-q', '--allow-empty', '-m', 'one']);
  // As where a container's user looks at a checkout of the runner's.
  const { status, stderr } = sides(path, { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /detected dubious ownership in repository at .*; git config --global --add safe\.directory/,
  );
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
});

test('after a checkout only what changed is built anew', () => {
  const path = fresh();
  for (const name of ['k6', 'sidecar', 'bin', 'ci']) mkdirSync(join(path, name));
  cpSync(join(ROOT, 'ci/built'), join(path, 'ci/built'));
  const rule = (/** @type {string} */ name) => `bin/${name}: $(wildcard ${name}/*)\n\tcat $^ > $@\n`;
  writeFileSync(join(path, 'Makefile'), `${rule('k6')}${rule('sidecar')}`);
  for (const name of ['k6/a', 'k6/b', 'sidecar/c']) writeFileSync(join(path, name), name);
  const built = (/** @type {string} */ what) => {
    const done = spawnSync(join(path, 'ci/built'), [what], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
  };
  const make = (/** @type {string} */ name) => spawnSync('make', ['-q', name], { cwd: path }).status;
  /** As git does: every file is new. */
  const checkout = () => {
    const soon = new Date(Date.now() + 60_000);
    for (const name of ['k6/a', 'k6/b', 'sidecar/c', 'Makefile'])
      if (statSync(join(path, name), { throwIfNoEntry: false })) utimesSync(join(path, name), soon, soon);
  };
  spawnSync('make', ['bin/k6', 'bin/sidecar'], { cwd: path });
  const key = built('key');
  built('record');
  checkout();
  assert.deepEqual([make('bin/k6'), make('bin/sidecar')], [1, 1]);
  built('restore');
  assert.deepEqual([make('bin/k6'), make('bin/sidecar')], [0, 0]);
  assert.equal(built('key'), key);

  writeFileSync(join(path, 'k6/a'), 'changed');
  checkout();
  built('restore');
  assert.deepEqual([make('bin/k6'), make('bin/sidecar')], [1, 0]);
  assert.notEqual(built('key'), key);
  assert.ok(built('key').startsWith(built('base')));
  // It was not built anew: what is kept must not look as if it were.
  built('record');
  checkout();
  built('restore');
  assert.deepEqual([make('bin/k6'), make('bin/sidecar')], [1, 0]);
  // A cache whose name does not tell may be of another machine.
  writeFileSync(join(path, 'bin/.base'), 'another\n');
  built('restore');
  assert.equal(existsSync(join(path, 'bin')), false);
});

test('all ways into a gate have the policy, with one default', () => {
  const read = (/** @type {string} */ file) => parse(readFileSync(join(ROOT, file), 'utf8'));
  const action = read('action.yml');
  const workflow = read('.github/workflows/gate.yml');
  const { inputs } = workflow.on.workflow_call;
  const [step] = workflow.jobs.gate.steps.filter((/** @type {any} */ { uses }) => uses === './windtunnel');
  const [measure] = action.runs.steps.filter((/** @type {any} */ { id }) => id === 'gate');
  for (const given of ['neutral', 'fail']) {
    const context = { inputs: { 'on-inconclusive': given } };
    assert.equal(filled(step.with['on-inconclusive'], context), given);
    assert.equal(filled(measure.env.GATE_ON_INCONCLUSIVE, context), given);
  }
  const { variables } = read('ci/gitlab.example.yml').windtunnel;
  const defaults = [action.inputs['on-inconclusive'].default, inputs['on-inconclusive'].default];
  assert.deepEqual([...defaults, variables.GATE_ON_INCONCLUSIVE], ['neutral', 'neutral', 'neutral']);
  assert.ok(action.outputs.doubt.value && workflow.on.workflow_call.outputs.doubt.value);
});

test('the job that stops a merge, as the page has it, runs after a gate that failed, and ends well after one that passed alone', () => {
  const page = readFileSync(join(ROOT, 'docs/how-to/gate-pull-requests.md'), 'utf8');
  const [, block] = /```yaml\n( {2}told:.*?)```/s.exec(page) ?? [];
  const { told } = parse(`jobs:\n${block}`).jobs;
  for (const [result, conclusion, wanted] of /** @type {[string, string, boolean | null][]} */ ([
    ['success', 'success', true],
    ['success', 'neutral', false],
    ['failure', 'failure', false],
    ['failure', '', false],
    ['skipped', '', null],
  ])) {
    const context = { needs: { gate: { result, outputs: { conclusion } } } };
    assert.equal(runs(told, context, result !== 'success'), wanted !== null, result);
    if (wanted === null) continue;
    const [step] = told.steps;
    const env = Object.fromEntries(
      Object.entries(step.env).map(([name, text]) => [name, filled(text, context)]),
    );
    const { status } = spawnSync('bash', ['-c', step.run], { env: { PATH: process.env.PATH, ...env } });
    assert.equal(status === 0, wanted, `${result}, ${conclusion}`);
  }
});

test('expressions of workflows are as GitHub has them', () => {
  const context = {
    github: { event: { pull_request: { labels: [{ name: 'windtunnel' }] } }, event_name: 'pull_request' },
    inputs: { base: '' },
  };
  const value = (/** @type {string} */ text) => evaluate(text, context);
  assert.equal(
    value(
      "github.event_name != 'pull_request' || contains(github.event.pull_request.labels.*.name, 'windtunnel')",
    ),
    true,
  );
  assert.equal(value("contains(github.event.pull_request.labels.*.name, 'other')"), false);
  assert.equal(value("inputs.base || ''"), '');
  assert.throws(() => value('process.exit(1); 2'));
});
