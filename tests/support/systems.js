/** Systems that are up while all tests of a file run, for those that do not ask how a bench starts one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, temporaryFolder } from './k6.js';
import { startSidecar } from './sidecar.js';

/** Of each system the testbed, and which of its outputs is the address. @type {Record<string, [string, string]>} */
const TESTBEDS = { pulsar: ['pulsar-relay', 'PULSAR_URL'], panel: ['panel', 'PANEL_URL'] };

/**
 * Starts systems as environments/local.json has them.
 * @param {string[]} names of pulsar and panel
 * @returns {Promise<{ variables: Record<string, string>, stop: () => Promise<void> }>} what a bench needs to measure them
 */
export async function startSystems(names) {
  const folder = temporaryFolder('systems');
  const sidecar = await startSidecar(folder.path);
  const local = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
  /** @type {Record<string, string>} */
  const variables = { ENV: join(folder.path, 'up.json') };
  for (const name of names) {
    const [testbed, address] = TESTBEDS[name];
    const { testbed: own, ...entry } = local.systems[name];
    const { outputs, secret_outputs: secrets } = await sidecar.start(testbed, own.variables ?? {});
    local.systems[name] = { ...entry, url: outputs[address] };
    Object.assign(variables, secrets);
  }
  const systems = Object.fromEntries(names.map((name) => [name, local.systems[name]]));
  writeFileSync(variables.ENV, JSON.stringify({ ...local, $schema: undefined, name: 'up', systems }));
  const stop = async () => {
    await sidecar.stop();
    folder.remove();
  };
  return { variables, stop };
}
