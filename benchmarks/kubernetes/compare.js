/**
 * Do runners in a cluster measure the same as runners on this machine?
 *
 * `make benchmark-kubernetes` runs it. It starts the Kubernetes of `make test-kubernetes`, with the real relay in its network. In
 * each of ROUNDS, two pods and two k6 processes outside of pods make the same load in turn. Both load the same relay from the same
 * network namespace. It prints a table of medians, and writes it as runs.md with runs.json into results/RUN_ID.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Cluster } from '../../tests/kubernetes/cluster.js';
import { K6, ROOT, start } from '../../tests/support/k6.js';
import { table } from './table.js';
import { whole } from '../asked.js';

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
const id =
  process.env.RUN_ID || `kubernetes-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`.toLowerCase();
const folder = join(ROOT, 'results', id);
mkdirSync(folder, { recursive: true });

const cluster = new Cluster();
const end = () => cluster.down();
/** @type {import('node:child_process').ChildProcess | undefined} the current run */
let under;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    under?.kill('SIGINT');
    end();
    process.exit(130);
  });

/** Runs the load once. @param {'in the cluster' | 'on the machine'} where @param {string} run @param {Record<string, string>} variables */
async function measure(where, run, variables) {
  const [command, ...args] =
    where === 'in the cluster'
      ? [K6, 'x', 'cluster']
      : ['nsenter', `--net=${cluster.network}`, '--', K6, 'x', 'bench'];
  // Pods measure once, even if other programs disturb them.
  const alike = where === 'on the machine' && { AGAIN: '0', BESIDE: '1' };
  const { child, ended, output } = start(command, [...args, '--run-id', run], {
    env: { ...cluster.environment, ...alike, ...variables },
  });
  under = child;
  const code = await ended;
  if (!MEASURED.includes(Number(code)))
    throw new Error(`${run} ended with ${code}: ${output.stdout}${output.stderr}`);
  const file = join(ROOT, 'results', run, `${variables.ONLY.replace('/', '-')}.json`);
  return {
    where,
    record: JSON.parse(readFileSync(join(ROOT, 'results', run, 'run.json'), 'utf8')),
    result: JSON.parse(readFileSync(file, 'utf8')),
  };
}

const places = /** @type {const} */ (['on the machine', 'in the cluster']);
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

let runs = 0;
try {
  await cluster.up();
  // Resources that a node with two CPUs has left beside the coordinator and k6-operator.
  Object.assign(cluster.environment, { RUNNERS: '2', RUNNER_CPU: '650m', RUNNER_MEMORY: '512Mi' });
  await cluster.startRelay();
  for (let round = 1; round <= rounds; round += 1)
    for (const { title, variables, measured } of loads)
      for (const where of round % 2 ? places : places.toReversed()) {
        runs += 1;
        const one = await measure(where, `${id}-${runs}`, variables);
        measured.push(one);
        console.error(`${id}-${runs}: ${title}, ${where}: ${one.result.verdict}`);
      }
} finally {
  end();
}
const text = loads.map(({ title, measured }) => table(title, measured)).join('\n');
writeFileSync(join(folder, 'runs.json'), `${JSON.stringify(loads, null, 2)}\n`);
writeFileSync(join(folder, 'runs.md'), text);
process.stdout.write(text);
