/** Borrowed systems in an environment file, for benches that need not start a system. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, temporaryFolder } from './k6.js';
import { lendAll, using } from './lend.js';

/** @typedef {import('./lender.js').Wanted} Wanted */

/** The testbed of each system, and the output with its address. @type {Record<string, [string, string]>} */
const TESTBEDS = {
  pulsar: ['pulsar-relay', 'PULSAR_URL'],
  panel: ['panel', 'PANEL_URL'],
  dataplane: ['sing-box-pair', 'DATAPLANE_URL'],
};

/**
 * Borrows systems as environments/local.json has them.
 * @param {string[]} names
 * @returns {Promise<{ variables: Record<string, string>, instances: any[], giveBack: () => Promise<void> }>} variables that a bench needs
 *   to measure them. `giveBack` fails if something is left on a system
 */
async function borrowSystems(names) {
  const { instances, giveBack } = await lendAll(
    names.map((name) => /** @type {Wanted} */ ([TESTBEDS[name][0]])),
  );
  const folder = temporaryFolder('systems');
  const local = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
  /** @type {Record<string, object>} */
  const systems = {};
  /** @type {Record<string, string>} */
  const variables = { ENV: join(folder.path, 'up.json') };
  for (const [index, name] of names.entries()) {
    const { outputs, secret_outputs: secrets } = instances[index];
    const entry = { ...local.systems[name], testbed: undefined, testbeds: undefined };
    systems[name] = { ...entry, url: outputs[TESTBEDS[name][1]] };
    Object.assign(variables, secrets);
  }
  writeFileSync(variables.ENV, JSON.stringify({ ...local, $schema: undefined, name: 'up', systems }));
  return {
    variables,
    instances,
    giveBack: async () => {
      folder.remove();
      await giveBack();
    },
  };
}

/**
 * Borrows systems for a body.
 * @param {string[]} names
 * @param {(up: Awaited<ReturnType<typeof borrowSystems>>) => Promise<void>} body
 */
export const withSystems = async (names, body) => using(await borrowSystems(names), body);
