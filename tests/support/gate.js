/** A small proxy's repository, and the workflows that compare two commits of it and write the comment, run here. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { REPOSITORY, startGitHub } from './fake-github.js';
import { ROOT } from './k6.js';
import { Runner } from './workflow.js';

const AUTHOR = 'windtunnel';
const RUN_ID = 99;

/** @param {string} cwd @param {string[]} args @param {number} [days] ago */
function git(cwd, args, days = 0) {
  const date = `${Math.floor(Date.now() / 1000) - days * 86_400} +0000`;
  const who = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((of) => [
      [`GIT_${of}_NAME`, AUTHOR],
      [`GIT_${of}_EMAIL`, `${AUTHOR}@localhost`],
      [`GIT_${of}_DATE`, date],
    ]),
  );
  const env = { PATH: process.env.PATH, HOME: dirname(cwd), ...who };
  const done = spawnSync('git', args, { cwd, encoding: 'utf8', env });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  return done.stdout.trim();
}

/** The command that builds the proxy: a file beside it has the price, and out/environment keeps the environment for tests. */
export const BUILD =
  'mkdir -p out && env >out/environment && sed "s/^PRICE = .*/PRICE = $(cat price)/" proxy.py >out/proxy && chmod +x out/proxy';

/**
 * A repository with a main branch of two weeks and one branch for each change, each merged with main as GitHub does.
 * @param {string} folder @param {Record<string, (path: string) => void>} changes by the names of their branches
 */
export function proxyRepository(folder, changes) {
  const path = join(folder, 'proxy');
  mkdirSync(path);
  git(path, ['init', '-q', '-b', 'main']);
  copyFileSync(join(ROOT, 'tests/fixtures/small-proxy/proxy.py'), join(path, 'proxy.py'));
  chmodSync(join(path, 'proxy.py'), 0o755);
  writeFileSync(join(path, 'price'), '100\n');
  git(path, ['add', '-A']);
  git(path, ['commit', '-q', '-m', 'A small proxy'], 14);
  writeFileSync(join(path, 'README'), 'A small proxy.\n');
  git(path, ['add', '-A']);
  git(path, ['commit', '-q', '-m', 'A page about it'], 1);
  for (const [name, change] of Object.entries(changes)) {
    git(path, ['checkout', '-q', '-b', name, 'main']);
    change(path);
    git(path, ['commit', '-q', '-a', '-m', name]);
    git(path, ['checkout', '-q', '-b', `merged/${name}`, 'main']);
    git(path, ['merge', '-q', '--no-ff', '-m', `Merge ${name}`, name]);
  }
  git(path, ['checkout', '-q', 'main']);
  return path;
}

/** @param {string} event @param {{ labels?: string[], inputs?: Record<string, string> }} [of] */
export const contextOf = (event, { labels = [], inputs = {} } = {}) => ({
  github: {
    event_name: event,
    event: event === 'pull_request' ? { pull_request: { labels: labels.map((name) => ({ name })) } } : {},
    ref: 'refs/heads/main',
    token: '',
  },
  job: { workflow_repository: 'windtunnel', workflow_sha: 'this' },
  inputs,
});

/**
 * Runs gate.yml on a branch of the repository.
 * @param {string} folder for the runner @param {string} repository @param {string} branch that the event checks out
 * @param {string} event @param {Record<string, string>} inputs
 * @param {Record<string, string>} [variables] of the job, which its scenario reads
 */
export async function gate(folder, repository, branch, event, inputs, variables = {}) {
  const artifacts = join(folder, 'artifacts');
  const nothing = async () => {};
  const context = { ...contextOf(event, { inputs }) };
  /** @type {Record<string, import('./workflow.js').Action>} */
  const actions = {
    'actions/checkout': async (given) => {
      const path = join(runner.workspace, given.path);
      if (given.repository) symlinkSync(ROOT.replace(/\/$/, ''), path);
      else git(folder, ['clone', '-q', '--branch', branch, repository, path]);
    },
    'actions/setup-go': nothing,
    // The programs built here are as new as their sources.
    'actions/cache/restore': async () => ({ 'cache-hit': 'true' }),
    'actions/upload-artifact': async ({ name, path }) => {
      if (!existsSync(path)) return;
      mkdirSync(join(artifacts, name), { recursive: true });
      cpSync(path, path.endsWith('.md') ? join(artifacts, name, basename(path)) : join(artifacts, name), {
        recursive: true,
      });
    },
  };
  const runner = new Runner(folder, actions, {
    GITHUB_EVENT_NAME: event,
    GITHUB_RUN_ID: `${process.pid}-${basename(folder)}`,
    GITHUB_RUN_ATTEMPT: '1',
    BESIDE: '1',
    ...variables,
  });
  context.github = { ...context.github, workspace: runner.workspace };
  const job = await runner.job('.github/workflows/gate.yml', context);
  rmSync(join(ROOT, `results/gate-${inputs.name}-${process.pid}-${basename(folder)}-1`), {
    recursive: true,
    force: true,
  });
  const read = (/** @type {string} */ path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  return {
    job,
    artifacts,
    outputs: job.outputs,
    log: job.steps.map(({ output }) => output).join(''),
    comment: read(join(artifacts, `windtunnel-comment-${inputs.name}`, 'comment.md')),
    junit: read(join(artifacts, `windtunnel-report-${inputs.name}`, 'junit.xml')),
    summary: read(runner.summary),
  };
}

/**
 * Runs publish.yml after a gate of a pull request, from a fork.
 * @param {string} folder for the runner @param {Awaited<ReturnType<typeof gate>>} measured @param {string} name of the gate
 * @param {any[]} comments that exist
 */
export async function publish(folder, measured, name, comments) {
  const sha = '1'.repeat(40);
  const artifact = `windtunnel-comment-${name}`;
  const artifacts =
    measured.comment === ''
      ? []
      : [{ id: 5, name: artifact, size_in_bytes: measured.comment.length, expired: false }];
  const github = await startGitHub({ sha, owner: 'forker', branch: 'change', artifacts, comments });
  const event = {
    workflow_run: {
      id: RUN_ID,
      event: 'pull_request',
      conclusion: measured.job.failed ? 'failure' : 'success',
      head_branch: 'change',
      head_sha: sha,
      head_repository: { full_name: 'forker/proxy', owner: { login: 'forker' } },
    },
  };
  /** @type {Record<string, import('./workflow.js').Action>} */
  const actions = {
    'actions/checkout': async () => symlinkSync(join(ROOT, 'ci'), join(runner.workspace, 'ci')),
    'actions/setup-node': async () => {},
    'actions/download-artifact': async (given) => {
      if (given['artifact-ids'] !== '5' || given['run-id'] !== String(RUN_ID))
        throw new Error('another artifact is downloaded');
      cpSync(join(measured.artifacts, artifact), given.path, { recursive: true });
    },
  };
  // The packages that publish.yml installs are installed here.
  const npm = join(folder, 'programs');
  mkdirSync(npm);
  writeFileSync(join(npm, 'npm'), '#!/bin/sh\n', { mode: 0o755 });
  const runner = new Runner(folder, actions, {
    PATH: `${npm}:${process.env.PATH}`,
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_EVENT_PATH: join(folder, 'event.json'),
  });
  writeFileSync(join(folder, 'event.json'), JSON.stringify(event));
  const context = contextOf('workflow_run', { inputs: { name } });
  context.github = { ...context.github, event, token: 'the-token-of-this-job' };
  try {
    const job = await runner.job('.github/workflows/publish.yml', context);
    return {
      job,
      log: job.steps.map(({ output }) => output).join(''),
      comments: github.comments,
      checks: github.checks,
    };
  } finally {
    await github.stop();
  }
}
