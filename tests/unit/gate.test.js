/** What surrounds a gate: which commits, what is built, who writes the comment, and what of it is refused. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { checkComment } from '../../ci/inert.js';
import { REPOSITORY, startGitHub } from '../support/fake-github.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { evaluate } from '../support/workflow.js';

const folder = temporaryFolder('gate-unit');
after(folder.remove);
let made = 0;
const fresh = () => {
  const path = join(folder.path, String((made += 1)));
  mkdirSync(path);
  return path;
};

const SHA = '1'.repeat(40);
const PASS = '<!-- windtunnel gate pass -->\n### Windtunnel, gate: ✓ pass\n\nhead is as fast as base\n';

/** @param {string} text */
const check = (text) => checkComment(Buffer.from(text), 'gate');

test('a comment as it is made is taken', () => {
  const text = `${PASS}| A \\| b \\[x\\] @&#8203;c | \\#&#8203;1<br>x &lt;y&gt; &amp; |\n<details><summary>more</summary>\n\n- x\n\n</details>\n`;
  assert.deepEqual(check(text), { verdict: 'pass', text });
});

for (const [what, text] of /** @type {[string, string][]} */ ([
  ['no marker', 'hello'],
  ['another gate', PASS.replace('windtunnel gate', 'windtunnel other')],
  ['a mention', `${PASS}@octocat`],
  ['a reference', `${PASS}x#1`],
  ['a reference', `${PASS}GH-1`],
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

/**
 * @param {string} command find, or write with a folder
 * @param {Awaited<ReturnType<typeof startGitHub>>} github
 * @param {Record<string, any>} run of the event
 */
async function publish(command, github, run) {
  const event = join(fresh(), 'event.json');
  const repository = { full_name: 'forker/proxy', owner: { login: 'forker' } };
  const defaults = {
    id: 99,
    event: 'pull_request',
    conclusion: 'success',
    head_branch: 'change',
    head_sha: SHA,
    head_repository: repository,
  };
  writeFileSync(event, JSON.stringify({ workflow_run: { ...defaults, ...run } }));
  const output = join(fresh(), 'output');
  writeFileSync(output, '');
  const child = spawn(process.execPath, [join(ROOT, 'ci/publish.js'), ...command.split(' ')], {
    env: {
      GITHUB_EVENT_PATH: event,
      GITHUB_API_URL: github.url,
      GITHUB_REPOSITORY: REPOSITORY,
      GITHUB_TOKEN: 'the-token',
      GITHUB_OUTPUT: output,
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, text, output: readFileSync(output, 'utf8') };
}

/** @param {string} text */
function commentFolder(text) {
  const path = fresh();
  writeFileSync(join(path, 'comment.md'), text);
  return path;
}

const OF = { sha: SHA, owner: 'forker', branch: 'change' };
const ARTIFACT = { id: 5, name: 'windtunnel-comment-gate', size_in_bytes: 900, expired: false };

test('the pull request of a fork is found by the event, not by the artifact', async () => {
  const github = await startGitHub({ ...OF, artifacts: [ARTIFACT] });
  try {
    assert.deepEqual(await publish('find', github, {}).then(({ code, output }) => [code, output]), [
      0,
      'pull=7\nartifact=5\n',
    ]);
    for (const [run, why] of /** @type {[any, RegExp][]} */ ([
      [{ event: 'push' }, /no open pull request/],
      [{ head_sha: '2'.repeat(40) }, /a newer commit/],
      [{ head_branch: 'other' }, /no open pull request/],
      [{ head_repository: null }, /no open pull request/],
      [
        { head_repository: { full_name: 'forker/another', owner: { login: 'forker' } } },
        /no open pull request/,
      ],
    ])) {
      const { code, text, output } = await publish('find', github, run);
      assert.deepEqual([code, output], [0, '']);
      assert.match(text, why);
    }
    github.artifacts[0].size_in_bytes = 1 << 20;
    const { code, text } = await publish('find', github, {});
    assert.equal(code, 1);
    assert.match(text, /has 1048576 bytes/);
  } finally {
    await github.stop();
  }
});

test('a comment is written once, and then in place; nobody else’s is touched', async () => {
  const others = Array.from({ length: 130 }, (_, id) => ({ id, user: { login: 'somebody' }, body: PASS }));
  const github = await startGitHub({ ...OF, comments: others });
  try {
    const first = await publish(`write ${commentFolder(PASS)}`, github, {});
    assert.equal(first.code, 0, first.text);
    assert.equal(github.comments.length, 131);
    const again = PASS.replace('gate pass', 'gate inconclusive').replace('✓ pass', 'cannot tell');
    const second = await publish(`write ${commentFolder(again)}`, github, {});
    assert.equal(second.code, 0, second.text);
    assert.equal(github.comments.length, 131);
    assert.ok(github.comments[130].body.startsWith(again));
    assert.ok(github.comments.slice(0, 130).every(({ body }) => body === PASS));
    assert.deepEqual(
      github.checks.map(({ conclusion, head_sha: sha }) => [conclusion, sha]),
      [
        ['success', SHA],
        ['neutral', SHA],
      ],
    );
    assert.ok(!first.text.includes('the-token'));
  } finally {
    await github.stop();
  }
});

test('an artifact can make a check worse than its job, never better', async () => {
  const github = await startGitHub(OF);
  try {
    for (const [job, verdict, want] of [
      ['failure', 'pass', 'failure'],
      ['failure', 'inconclusive', 'failure'],
      ['cancelled', 'pass', 'cancelled'],
      ['success', 'fail', 'failure'],
      ['success', 'anything', 'failure'],
    ]) {
      const text = PASS.replace('gate pass', `gate ${verdict}`);
      const { code, text: said } = await publish(`write ${commentFolder(text)}`, github, { conclusion: job });
      assert.equal(code, 0, said);
      assert.equal(github.checks.at(-1).conclusion, want, `${job}, ${verdict}`);
    }
  } finally {
    await github.stop();
  }
});

test('an artifact that is not one plain comment writes nothing', async () => {
  const github = await startGitHub(OF);
  const two = commentFolder(PASS);
  writeFileSync(join(two, 'more'), '');
  const link = fresh();
  symlinkSync('/etc/hostname', join(link, 'comment.md'));
  try {
    for (const path of [
      two,
      link,
      fresh(),
      commentFolder(`${PASS}@octocat`),
      commentFolder('x'.repeat(70_000)),
    ]) {
      const { code, text } = await publish(`write ${path}`, github, {});
      assert.equal(code, 1);
      assert.match(text, /^publish: /);
      assert.equal(text.trim().split('\n').length, 1, text);
    }
    assert.deepEqual([github.comments, github.checks], [[], []]);
  } finally {
    await github.stop();
  }
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
