/**
 * Do runners in a cluster measure the same as runners on this machine?
 *
 * `make benchmark-kubernetes` runs it. It starts the Kubernetes of `make test-kubernetes`, with the real relay in its network. In
 * each of ROUNDS, two pods and two k6 processes outside of pods make the same load in turn. Both load the same relay from the same
 * network namespace.
 */
import process from 'node:process';
import { Cluster } from '../../tests/kubernetes/cluster.js';
import { K6 } from '../../tests/support/k6.js';
import { inTurn } from '../runners/turns.js';

const id =
  process.env.RUN_ID || `kubernetes-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`.toLowerCase();
const cluster = new Cluster();
/** @type {import('node:child_process').ChildProcess | undefined} the current run */
let under;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    under?.kill('SIGINT');
    cluster.down();
    process.exit(130);
  });
try {
  await cluster.up();
  // Resources that a node with two CPUs has left beside the coordinator and k6-operator.
  Object.assign(cluster.environment, { RUNNERS: '2', RUNNER_CPU: '650m', RUNNER_MEMORY: '512Mi' });
  await cluster.startRelay();
  const places = {
    // Pods measure once, even if other programs disturb them.
    'on the machine': {
      command: ['nsenter', `--net=${cluster.network}`, '--', K6, 'x', 'bench'],
      env: () => ({ ...cluster.environment, AGAIN: '0', BESIDE: '1' }),
    },
    'in the cluster': { command: [K6, 'x', 'cluster'], env: () => ({ ...cluster.environment }) },
  };
  await inTurn(id, places, (child) => (under = child));
} finally {
  cluster.down();
}
