/** Loads of the real relay by several k6 processes, in turn at several places: for benchmark-runners and benchmark-kubernetes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT, start } from '../../tests/support/k6.js';
import { whole } from '../asked.js';
import { table } from './table.js';

/** Exit codes of a run with a result: pass, inconclusive, a threshold that did not hold. */
const MEASURED = [0, 3, 99];
/** Each room belongs to one client, so each runner needs a room. */
const SCENARIOS = [
  { name: 'pulsar/concurrent', variables: {} },
  { name: 'pulsar/delivery', variables: { CLIENTS: '4', ROOMS: '4' } },
];
/** Profiles with a fixed number of requests, which TIMES multiplies so that a run takes some seconds. */
const FIXED = ['smoke', 'quick'];

const rounds = whole('ROUNDS', 3);
const times = String(whole('TIMES', 4));

/** @typedef {{ command: string[], env: () => Record<string, string | undefined> }} Place how a load is run there */

/**
 * Runs each load of PROFILES at all places in turn, ROUNDS times. Prints tables of medians, and writes them as runs.md with runs.json
 * into results/ID.
 * @param {string} id
 * @param {Record<string, Place>} places by title, the base of the ratios first
 * @param {(child: import('node:child_process').ChildProcess) => void} [started] gets each run's process
 */
export async function inTurn(id, places, started = () => {}) {
  const loads = (process.env.PROFILES || 'quick,full').split(',').flatMap((profile) =>
    SCENARIOS.map(({ name, variables }) => ({
      title: `${name}, ${profile}`,
      variables: {
        ...variables,
        ONLY: name,
        PROFILE: profile,
        ...(FIXED.includes(profile) && { TIMES: times }),
      },
      measured: /** @type {import('./table.js').Measured[]} */ ([]),
    })),
  );
  const titles = Object.keys(places);
  let runs = 0;
  for (let round = 1; round <= rounds; round += 1)
    for (const { title, variables, measured } of loads)
      for (const where of round % 2 ? titles : titles.toReversed()) {
        runs += 1;
        const run = `${id}-${runs}`;
        const [program, ...args] = places[where].command;
        const env = { ...places[where].env(), ...variables };
        const { child, ended, output } = start(program, [...args, '--run-id', run], { env });
        started(child);
        const code = await ended;
        if (!MEASURED.includes(Number(code)))
          throw new Error(`${run} ended with ${code}: ${output.stdout}${output.stderr}`);
        const read = (/** @type {string} */ file) =>
          JSON.parse(readFileSync(join(ROOT, 'results', run, file), 'utf8'));
        const result = read(`${variables.ONLY.replace('/', '-')}.json`);
        measured.push({ where, record: read('run.json'), result });
        console.error(`${run}: ${title}, ${where}: ${result.verdict}`);
      }
  const text = loads.map(({ title, measured }) => table(title, measured, titles)).join('\n');
  const folder = join(ROOT, 'results', id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'runs.json'), `${JSON.stringify(loads, null, 2)}\n`);
  writeFileSync(join(folder, 'runs.md'), text);
  process.stdout.write(text);
}
