/** Runs a scenario with the real bin/k6 and reads the result that it writes. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const K6 = join(ROOT, 'bin/k6');

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * A child with its output; `ended` resolves with its exit code.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (data) => (output.stdout += data));
  child.stderr?.on('data', (data) => (output.stderr += data));
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  return { child, output, ended };
}

/** The part of this process's environment that a child needs, without variables of scenarios. */
export function cleanEnvironment() {
  const needed = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'CARGO_HOME', 'RUSTUP_HOME'];
  return Object.fromEntries(needed.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/**
 * A new folder, which `remove` removes; `fresh` makes another one in it.
 * @param {string} name
 */
export function temporaryFolder(name) {
  const path = mkdtempSync(join(tmpdir(), `windtunnel-${name}-`));
  let made = 0;
  const fresh = () => {
    const own = join(path, String((made += 1)));
    mkdirSync(own);
    return own;
  };
  return { path, fresh, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * An environment file for one system.
 * @param {string} folder
 * @param {object} entry the system's part of the file
 * @param {string} [system]
 */
export function writeEnvironment(folder, entry, system = 'pulsar') {
  const path = join(folder, 'trial.json');
  const file = { schema: 'windtunnel.environment/1', name: 'trial', systems: { [system]: entry } };
  writeFileSync(path, JSON.stringify(file));
  return path;
}

/**
 * Runs scripts/pulsar/NAME.js against a relay.
 * @param {string} name
 * @param {string} url
 * @param {Record<string, string>} [variables]
 * @param {object} [pulsar] the system's part of the environment file
 */
export const runScenario = (name, url, variables = {}, pulsar = {}) =>
  runScript(
    'pulsar',
    name,
    { url, auth: { mode: 'none' }, websocket: { auth: 'none' }, ...pulsar },
    variables,
  );

/**
 * A panel's part of an environment file; a test passes its password in PANEL_PASSWORD.
 * @param {string} url
 * @param {object} [panel] more of it
 */
export const panelEntry = (url, panel = {}) => ({
  url,
  auth: { mode: 'login', username: 'admin', password_env: 'PANEL_PASSWORD' },
  user: { proxies: { shadowsocks: {} }, inbounds: { shadowsocks: ['Shadowsocks TCP'] } },
  ...panel,
});

/**
 * Runs scripts/panel/NAME.js against a panel.
 * @param {string} name
 * @param {string} url
 * @param {Record<string, string>} [variables]
 * @param {object} [panel] more of the system's part of the environment file
 */
export const runPanel = (name, url, variables = {}, panel = {}) =>
  runScript('panel', name, panelEntry(url, panel), { PANEL_PASSWORD: 'panel', ...variables });

/** The id of every run that runScript starts. */
export const RUN_ID = 'known-answer';

/**
 * Runs scripts/SYSTEM/NAME.js.
 * @param {string} system
 * @param {string} name
 * @param {object} entry the system's part of the environment file
 * @param {Record<string, string>} variables
 */
export async function runScript(system, name, entry, variables) {
  const folder = temporaryFolder('known-answer');
  try {
    const environment = writeEnvironment(folder.path, entry, system);
    const run = start(
      K6,
      ['run', '--quiet', '--no-usage-report', '--address', '', `scripts/${system}/${name}.js`],
      {
        env: {
          ...cleanEnvironment(),
          PROFILE: 'quick',
          ...variables,
          ENV: environment,
          RESULT_DIR: folder.path,
          RUN_ID,
        },
      },
    );
    const code = await run.ended;
    const path = join(folder.path, `${system}-${name}.json`);
    if (!existsSync(path))
      throw new Error(`${name}: no result, exit code ${code}: ${run.output.stderr}${run.output.stdout}`);
    const result = JSON.parse(readFileSync(path, 'utf8'));
    return { code, result, ...run.output };
  } finally {
    folder.remove();
  }
}

/** @param {any} result @param {string} name */
export function operation(result, name) {
  const found = result.operations.find((/** @type {any} */ row) => row.name === name);
  if (!found) throw new Error(`no operation ${name} in ${JSON.stringify(result.operations)}`);
  return found;
}
