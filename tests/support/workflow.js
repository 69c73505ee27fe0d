/**
 * Runs the steps of this repository's workflows here: their own `run:` lines, with the variables, outputs and conditions of the files.
 * The caller replaces steps of other repositories (a checkout, a cache, an artifact).
 */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parse } from 'yaml';
import { ROOT } from './k6.js';

/**
 * @typedef {Record<string, any>} Context the contexts of expressions: github, inputs, steps, runner, job, env
 * @typedef {(given: Record<string, string>, context: Context) => Promise<Record<string, string> | void>} Action replaces a step of
 *   another repository, and returns its outputs
 * @typedef {{ name: string, outcome: 'success' | 'failure' | 'skipped', output: string }} Step
 * @typedef {{ steps: Step[], failed: boolean, outputs: Record<string, string>, context: Context }} Job
 */

/** The value of a path such as github.event.pull_request.labels.*.name. @param {Context} context @param {string} path */
function look(context, path) {
  /** @type {any} */
  let value = context;
  let each = false;
  for (const part of path.split('.')) {
    if (part === '*') each = true;
    else value = each ? (value ?? []).map((/** @type {any} */ one) => one?.[part]) : value?.[part];
  }
  return value ?? '';
}

const TOKEN = /'(?:[^']|'')*'|[A-Za-z_][\w-]*(?:\.(?:\*|[\w-]+))*|\d+|[=!]=|&&|\|\||[!(),]|\s+/g;

/** @param {string} expression @param {Context} context @returns {any} */
export function evaluate(expression, context) {
  const tokens = expression.match(TOKEN) ?? [];
  if (tokens.join('') !== expression) throw new Error(`no expression that this runner knows: ${expression}`);
  const made = tokens.map((token, i) => {
    if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1).replaceAll("''", "'"));
    if (!/^[A-Za-z_]/.test(token)) return token.replace(/^==$/, '===').replace(/^!=$/, '!==');
    return tokens[i + 1] === '(' ? `functions.${token}` : `look(${JSON.stringify(token)})`;
  });
  const functions = {
    always: () => true,
    cancelled: () => false,
    contains: (/** @type {any} */ all, /** @type {any} */ one) => all.includes(one),
  };
  return new Function('look', 'functions', `return ${made.join('')};`)(
    (/** @type {string} */ path) => look(context, path),
    functions,
  );
}

/** A text with the values of its expressions. @param {unknown} text @param {Context} context */
export const filled = (text, context) =>
  String(text).replaceAll(/\$\{\{\s*(.*?)\s*\}\}/gs, (_, expression) =>
    String(evaluate(expression, context)),
  );

/** @param {Record<string, unknown> | undefined} values @param {Context} context */
const all = (values, context) =>
  Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, filled(value, context)]));

/** Whether a step or a job runs. @param {any} of @param {Context} context @param {boolean} failed */
export function runs(of, context, failed) {
  const condition = String(of.if ?? 'true')
    .replace(/^\$\{\{(.*)\}\}$/s, '$1')
    .trim();
  // A condition without a function of the status also means success().
  if (failed && !/\b(always|cancelled|failure)\(\)/.test(condition)) return false;
  return condition === 'true' || Boolean(evaluate(condition, context));
}

/** @param {string} file */
const outputsOf = (file) =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

export class Runner {
  /**
   * @param {string} folder for the runner
   * @param {Record<string, Action>} actions by their names without a version, such as actions/checkout
   * @param {Record<string, string>} [env] of all steps
   */
  constructor(folder, actions, env = {}) {
    this.workspace = join(folder, 'workspace');
    this.temp = join(folder, 'temp');
    this.summary = join(folder, 'summary.md');
    this.actions = actions;
    for (const path of [this.workspace, this.temp]) mkdirSync(path, { recursive: true });
    writeFileSync(this.summary, '');
    const path = process.env.PATH ?? '';
    this.env = {
      PATH: path,
      HOME: process.env.HOME ?? '/',
      ...(process.env.RUSTUP_HOME && { RUSTUP_HOME: process.env.RUSTUP_HOME }),
      GITHUB_WORKSPACE: this.workspace,
      GITHUB_STEP_SUMMARY: this.summary,
      RUNNER_TEMP: this.temp,
      ...env,
    };
  }

  /**
   * One job of a workflow, its only one unless it is named.
   * @param {string} file @param {Context} context @param {string} [which]
   * @returns {Promise<Job>}
   */
  async job(file, context, which) {
    const workflow = parse(readFileSync(join(ROOT, file), 'utf8'));
    const job =
      which === undefined ? /** @type {any} */ (Object.values(workflow.jobs)[0]) : workflow.jobs[which];
    const defaults = Object.fromEntries(
      Object.entries(workflow.on.workflow_call?.inputs ?? {}).map(([name, of]) => [
        name,
        /** @type {any} */ (of).default ?? '',
      ]),
    );
    const own = { ...context, inputs: { ...defaults, ...context.inputs }, runner: { temp: this.temp } };
    if (!runs(job, own, false)) return { steps: [], failed: false, outputs: {}, context: own };
    return this.#steps(job.steps, own, all(job.env, own), job.outputs);
  }

  /** The steps of a composite action. @param {string} folder @param {Record<string, string>} inputs @param {Context} context */
  async action(folder, inputs, context) {
    const action = parse(readFileSync(join(folder, 'action.yml'), 'utf8'));
    const defaults = Object.fromEntries(
      Object.entries(action.inputs).map(([name, of]) => [name, /** @type {any} */ (of).default ?? '']),
    );
    const unknown = Object.keys(inputs).filter((name) => !(name in defaults));
    if (unknown.length > 0) throw new Error(`${folder} has no input ${unknown.join(', ')}`);
    const own = {
      ...context,
      inputs: { ...defaults, ...inputs },
      github: { ...context.github, action_path: folder },
      runner: { temp: this.temp },
    };
    const outputs = Object.fromEntries(
      Object.entries(action.outputs).map(([name, of]) => [name, /** @type {any} */ (of).value]),
    );
    return this.#steps(action.runs.steps, own, { GITHUB_ACTION_PATH: folder }, outputs);
  }

  /**
   * @param {any[]} list @param {Context} context @param {Record<string, string>} env
   * @param {Record<string, string>} [wanted] outputs
   * @returns {Promise<Job>}
   */
  async #steps(list, context, env, wanted = {}) {
    const own = { ...context, steps: /** @type {Record<string, any>} */ ({}) };
    /** @type {Job} */
    const job = { steps: [], failed: false, outputs: {}, context: own };
    for (const step of list) {
      const name = step.name ?? step.uses ?? step.run;
      if (!runs(step, own, job.failed)) {
        job.steps.push({ name, outcome: 'skipped', output: '' });
        continue;
      }
      const { ok, output, outputs, inner } = step.uses
        ? await this.#uses(step, own)
        : await this.#run(step, own, env);
      if (step.id) own.steps[step.id] = { outputs };
      job.steps.push(...(inner ?? []), { name, outcome: ok ? 'success' : 'failure', output });
      job.failed ||= !ok;
    }
    job.outputs = all(wanted, own);
    return job;
  }

  /** @param {any} step @param {Context} context */
  async #uses(step, context) {
    const given = all(step.with, context);
    if (step.uses.startsWith('./')) {
      const inner = await this.action(join(this.workspace, step.uses), given, context);
      const output = inner.steps.map((one) => one.output).join('');
      return { ok: !inner.failed, output, outputs: inner.outputs, inner: inner.steps };
    }
    const name = step.uses.split('@')[0];
    if (!/@[0-9a-f]{40}$/.test(step.uses) || !this.actions[name])
      throw new Error(`${step.uses} is not pinned, or not known here`);
    return { ok: true, output: '', outputs: (await this.actions[name](given, context)) ?? {} };
  }

  /** @param {any} step @param {Context} context @param {Record<string, string>} env */
  async #run(step, context, env) {
    const output = join(this.temp, 'output');
    writeFileSync(output, '');
    const child = spawn(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', '-c', filled(step.run, context)],
      {
        cwd: join(this.workspace, filled(step['working-directory'] ?? '.', context)),
        env: { ...this.env, ...env, ...all(step.env, context), GITHUB_OUTPUT: output },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data));
    const code = await new Promise((resolve) => child.on('close', resolve));
    appendFileSync(join(this.temp, 'log'), text);
    return { ok: code === 0, output: text, outputs: outputsOf(output) };
  }
}
