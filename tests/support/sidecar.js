/** A private sidecar, over HTTP. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ROOT, cleanEnvironment } from './k6.js';

/**
 * Starts `sidecar serve`; it always ends with this process.
 * @param {string} logs the folder for the logs of what it starts
 * @param {Record<string, string>} [environment] variables beside the few that every child gets
 */
export async function startSidecar(logs, environment = {}) {
  const child = spawn('bin/sidecar', ['serve', '--exit-with-stdin', '--log-dir', logs], {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) throw new Error('the sidecar said nothing');
  const { url, token } = JSON.parse(first.value);
  /** @type {Record<string, string>} */
  const headers = token ? { authorization: `Bearer ${token}` } : {};

  /** @param {string} method @param {string} path @param {object} [body] */
  const ask = async (method, path, body) => {
    const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    return { status: answer.status, body: /** @type {any} */ (await answer.json()) };
  };
  return {
    pid: Number(child.pid),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** This process may end without a stop of the sidecar, and the sidecar then ends too. */
    unref: () => {
      child.unref();
      for (const pipe of [child.stdin, child.stdout]) /** @type {import('node:net').Socket} */ (pipe).unref();
    },
    ask,
    /** Variables for a k6 that uses the sidecar. */
    variables: { SIDECAR_URL: url, SIDECAR_TOKEN: token ?? '' },
    /** Starts a testbed that must start. @param {string} name @param {object} variables */
    start: async (name, variables) => {
      const { status, body } = await ask('POST', `/testbeds/${name}/start`, { variables });
      if (status !== 201) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
