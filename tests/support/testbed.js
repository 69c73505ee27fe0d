/** A system that is up before a run and stays up after it, as its owner would have it. */
import { readFileSync } from 'node:fs';
import { cleanEnvironment, start, temporaryFolder } from './k6.js';
import { until } from './processes.js';

/**
 * `sidecar testbed up NAME`.
 * @param {string} name
 * @param {Record<string, string | number>} [variables] of the testbed
 * @returns {Promise<{ outputs: Record<string, string>, stop: () => Promise<void> }>} outputs such as PANEL_URL, secret
 *   ones too
 */
export async function startTestbed(name, variables = {}) {
  const folder = temporaryFolder('testbed');
  const file = `${folder.path}/outputs.env`;
  const given = Object.entries(variables).flatMap(([key, value]) => ['--var', `${key}=${value}`]);
  const args = ['testbed', 'up', name, ...given, '--env-file', file, '--log-dir', folder.path];
  const sidecar = start('bin/sidecar', args, { env: cleanEnvironment() });
  const stop = async () => {
    sidecar.child.kill('SIGINT');
    await sidecar.ended;
    folder.remove();
  };
  const read = () => {
    if (sidecar.child.exitCode !== null) throw new Error(`${name}: ${sidecar.output.stderr}`);
    // It is written last of all, and in one go.
    if (!sidecar.output.stderr.includes(`${name} is up`)) return undefined;
    const lines = readFileSync(file, 'utf8').matchAll(/^export (\w+)='?([^'\n]*)'?$/gm);
    return Object.fromEntries([...lines].map(([, key, value]) => [key, value]));
  };
  try {
    return { outputs: await until(read, name), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
