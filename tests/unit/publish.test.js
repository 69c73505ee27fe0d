/** Publishing a gate's comment and check: for which pull request, from which artifacts, and with which requests to GitHub. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { REPOSITORY, startGitHub } from '../support/fake-github.js';
import { ROOT, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('publish');
after(folder.remove);
const { fresh } = folder;

const SHA = '1'.repeat(40);
const PASS =
  '<!-- windtunnel gate pass success -->\n### Windtunnel, gate: ✓ pass\n\nhead is as fast as base\n';

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
  const github = await startGitHub({ ...OF, artifacts: [{ ...ARTIFACT }] });
  try {
    assert.deepEqual(await publish('find', github, {}).then(({ code, output }) => [code, output]), [
      0,
      `commit=${SHA}\npull=7\nartifact=5\n`,
    ]);
    for (const [run, why] of /** @type {[any, RegExp][]} */ ([
      [{ event: 'release' }, /no open pull request/],
      [{ event: 'push' }, /no commit of this repository/],
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
    const again = PASS.replace('gate pass success', 'gate inconclusive-too-noisy neutral').replace(
      '✓ pass',
      'cannot tell: too noisy',
    );
    const second = await publish(`write ${commentFolder(again)}`, github, { run_attempt: 2 });
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

test('the check goes by the job of its gate, not by others of the run', async () => {
  const other = Array.from({ length: 120 }, (_, i) => ({ name: `test ${i}`, conclusion: 'failure' }));
  const cases = /** @type {[any[], string, string][]} */ ([
    [
      [
        { name: 'told', conclusion: 'failure' },
        { name: 'gate / gate', conclusion: 'success' },
      ],
      'failure',
      'success',
    ],
    [[...other, { name: 'gate', conclusion: 'success' }], 'failure', 'success'],
    [
      [
        { name: 'a / other', conclusion: 'success' },
        { name: 'b / gate', conclusion: 'failure' },
      ],
      'failure',
      'failure',
    ],
    [[{ name: 'navigate', conclusion: 'success' }], 'failure', 'failure'],
    [
      [
        { name: 'a / gate', conclusion: 'success' },
        { name: 'b / gate', conclusion: 'failure' },
      ],
      'failure',
      'failure',
    ],
    [[], 'success', 'success'],
  ]);
  const tried = cases.map(async ([jobs, run, want]) => {
    const github = await startGitHub({ ...OF, jobs });
    try {
      const { code, text } = await publish(`write ${commentFolder(PASS)}`, github, { conclusion: run });
      assert.equal(code, 0, text);
      assert.equal(github.checks[0].conclusion, want, JSON.stringify(jobs.slice(-2)));
    } finally {
      await github.stop();
    }
  });
  await Promise.all(tried);
});

test('an artifact can make a check worse than its job, never better', async () => {
  const tried = [
    ['success', 'pass success', 'success'],
    ['failure', 'pass success', 'failure'],
    ['failure', 'inconclusive-too-noisy neutral', 'failure'],
    ['success', 'inconclusive-too-noisy neutral', 'neutral'],
    ['success', 'inconclusive-too-little-time failure', 'failure'],
    ['success', 'inconclusive-something-is-missing failure', 'failure'],
    ['cancelled', 'pass success', 'cancelled'],
    ['success', 'fail failure', 'failure'],
    ['success', 'anything failure', 'failure'],
  ].map(async ([job, verdict, want]) => {
    const github = await startGitHub(OF);
    try {
      const text = PASS.replace('gate pass success', `gate ${verdict}`);
      const { code, text: said } = await publish(`write ${commentFolder(text)}`, github, { conclusion: job });
      assert.equal(code, 0, said);
      const [{ conclusion, output }] = github.checks;
      assert.equal(conclusion, want, `${job}, ${verdict}`);
      assert.equal(output.title, verdict.split(' ')[0].replaceAll('-', ' '));
    } finally {
      await github.stop();
    }
  });
  await Promise.all(tried);
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
      commentFolder(PASS.replace(' success', '')),
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

const OURS = { full_name: REPOSITORY, owner: { login: 'proxy-project' } };

test('a run of a merge queue, a push or a schedule has a check of its commit, and no comment', async () => {
  for (const event of ['merge_group', 'push', 'schedule', 'workflow_dispatch']) {
    const github = await startGitHub({ ...OF, artifacts: [{ ...ARTIFACT }] });
    try {
      const run = { event, head_repository: OURS };
      const found = await publish('find', github, run);
      assert.equal(found.output, `commit=${SHA}\npull=\nartifact=5\n`, found.text);
      const { code, text } = await publish(`write ${commentFolder(PASS)}`, github, run);
      assert.equal(code, 0, text);
      assert.deepEqual(github.comments, []);
      assert.deepEqual(
        github.checks.map(({ conclusion, head_sha: sha }) => [conclusion, sha]),
        [['success', SHA]],
      );
    } finally {
      await github.stop();
    }
  }
});

test('a gate that failed before it left a comment leaves no required check waiting', async () => {
  const github = await startGitHub(OF);
  try {
    const run = { event: 'merge_group', head_repository: OURS, conclusion: 'failure' };
    const found = await publish('find', github, run);
    assert.equal(found.output, `commit=${SHA}\npull=\nartifact=\n`, found.text);
    for (const conclusion of ['success', 'skipped', 'cancelled'])
      assert.equal((await publish('find', github, { ...run, conclusion })).output, '', conclusion);
    const { code, text } = await publish(`write ${join(fresh(), 'nothing')}`, github, {
      conclusion: 'failure',
    });
    assert.equal(code, 0, text);
    assert.deepEqual(
      [github.checks[0].conclusion, github.checks[0].output.title],
      ['failure', 'set up failed'],
    );
    assert.match(github.comments[0].body, /^<!-- windtunnel gate set-up-failed failure -->/);
  } finally {
    await github.stop();
  }
});

test('a server error, a limit and a lost answer lose neither comment nor check, and double neither', async () => {
  const at = ['GET /pulls', 'GET /issues/7/comments', 'POST /issues/7/comments', 'POST /check-runs'];
  const tried = /** @type {[any, number][]} */ ([
    [{ status: 502 }, 2],
    [{ status: 403, headers: { 'retry-after': '1' }, message: 'Slow down' }, 2],
    ['lost', 1],
  ]).map(async ([fault, creations]) => {
    const github = await startGitHub({ ...OF, faults: Object.fromEntries(at.map((of) => [of, [fault]])) });
    try {
      const { code, text } = await publish(`write ${commentFolder(PASS)}`, github, {});
      assert.equal(code, 0, text);
      assert.deepEqual([github.comments.length, github.checks.length], [1, 1]);
      const created = github.asked.filter(
        ({ method, path }) => method === 'POST' && path.endsWith('/comments'),
      );
      assert.equal(created.length, creations);
    } finally {
      await github.stop();
    }
  });
  await Promise.all(tried);
});

test('of two comments of the gate the newer one stays; a refusal that no pause mends is one line', async () => {
  const user = { login: 'github-actions[bot]' };
  const github = await startGitHub({ ...OF, comments: [1, 2].map((id) => ({ id, user, body: PASS })) });
  try {
    assert.equal((await publish(`write ${commentFolder(PASS)}`, github, {})).code, 0);
    assert.deepEqual(
      github.comments.map(({ id }) => id),
      [2],
    );
  } finally {
    await github.stop();
  }
  const refused = { status: 403, message: 'Resource not accessible by integration' };
  const strict = await startGitHub({ ...OF, faults: { 'POST /issues/7/comments': [refused] } });
  try {
    const { code, text } = await publish(`write ${commentFolder(PASS)}`, strict, {});
    assert.equal(code, 1);
    assert.equal(
      text,
      'publish: GitHub answers 403 (Resource not accessible by integration) to POST /issues/7/comments\n',
    );
  } finally {
    await strict.stop();
  }
});
