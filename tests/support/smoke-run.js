/**
 * One smoke run that streams to an InfluxDB. Tests check its results system by system, and its points board by board. The run takes
 * minutes, so one file has all its tests: tests/real/smoke-few.test.js for some scenarios of each system, and tests/real/smoke.test.js
 * for all.
 */
import assert from 'node:assert/strict';
import { startBench } from './bench.js';
import { temporaryFolder } from './k6.js';
import { watch } from './processes.js';
import { startSidecar } from './sidecar.js';

/** Few rows of protocols, so that the run stays short, with our own build as candidate. tests/real/protocols-judged.test.js has further turns. */
const FEW_ROWS = {
  PROTOCOL: 'trojan',
  CANDIDATE: 'sing-box',
  CHAINS: 'trojan+socks',
  SECONDS: '1',
  TURNS: '2',
};
const SECRETS = {
  PULSAR_PASSWORD: 'correct-horse-battery-staple-42',
  PANEL_PASSWORD: 'correct-horse-battery-staple-43',
};

/**
 * @typedef {object} Smoke
 * @property {ReturnType<typeof startBench>} run
 * @property {(system: string) => string[]} scenariosOf names of what it ran of a system
 * @property {Record<string, string>} influx outputs of the testbed influxdb, secrets too
 * @property {string} shown command lines of all processes of the run
 * @property {number[]} left pids that still existed at its end
 * @property {number} from ms since 1970
 * @property {number} to
 */

/** @type {Promise<{ smoke: Smoke, stop: () => Promise<void> }> | undefined} */
let made;

/** @param {Record<string, string>} variables */
async function make(variables) {
  const logs = temporaryFolder('smoke');
  const sidecar = await startSidecar(logs.path);
  const { outputs, secret_outputs: secrets } = await sidecar.start('influxdb', {});
  const influx = { ...outputs, ...secrets };
  const from = Date.now() - 1000;
  const run = startBench({ ...influx, ...SECRETS, ...FEW_ROWS, PROFILE: 'smoke', ONLY: 'all', ...variables });
  const watched = watch(run.child);
  const code = await run.ended;
  const scenariosOf = (/** @type {string} */ system) =>
    run
      .result('run')
      .scenarios.filter((/** @type {any} */ one) => one.system === system)
      .map((/** @type {any} */ { scenario }) => scenario);
  const smoke = { run, scenariosOf, influx, ...watched(), from, to: Date.now() + 1000 };
  const stop = async () => {
    run.remove();
    await sidecar.stop();
    logs.remove();
  };
  return { smoke, stop, code };
}

/** The run, which the first caller starts. @param {Record<string, string>} [variables] of it @returns {Promise<Smoke>} */
export async function smokeRun(variables = {}) {
  made ??= make(variables).then(async (all) => {
    const { run } = all.smoke;
    // Results and points must be whole with any verdict, on a crowded machine too.
    assert.ok([0, 3, 99].includes(Number(all.code)), run.output.stdout + run.output.stderr);
    return all;
  });
  return (await made).smoke;
}

/** Removes the run, and ends its InfluxDB. */
export const endSmokeRun = async () => (await made)?.stop();

/** Files and command lines are free of passwords, tokens and matches of a pattern. @param {Smoke} smoke @param {RegExp} [more] */
export function assertSecret({ run, shown }, more = /(?!)/) {
  const secret = new RegExp(
    [...Object.values(SECRETS), 'eyJ[\\w-]+\\.eyJ', more.source].map((one) => `(?:${one})`).join('|'),
  );
  const leaks = run.files().filter(({ text }) => secret.test(text));
  assert.deepEqual(
    leaks.map(({ name }) => name),
    [],
  );
  assert.ok(!secret.test(shown), 'no secret in a command line');
  assert.ok(!secret.test(`${run.output.stdout}${run.output.stderr}`));
}
