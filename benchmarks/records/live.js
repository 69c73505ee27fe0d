/**
 * Records ten million requests without sending any, to measure what a k6 process needs to hold them. The command records runs it.
 */
import { judge } from 'k6/x/windtunnel/judge';
import { Operation } from 'k6/x/windtunnel/record';

const SAMPLES = Number(__ENV.SAMPLES);
const EACH = 1000;

export const options = {
  scenarios: {
    send: { executor: 'shared-iterations', vus: 20, iterations: SAMPLES / EACH, maxDuration: '1h' },
  },
  systemTags: [],
};

const send = new Operation('send');

export default function () {
  for (let n = 0; n < EACH; n += 1) {
    const latency = Math.exp(3 * Math.random());
    send.begin();
    send.success(n, n + latency, latency, 1);
  }
}

/** @param {any} data */
export function handleSummary({ metrics }) {
  const { result, record } = judge({
    operations: [{ name: 'send', title: 'Send', loop: 'closed', latency_is: 'made' }],
    plan: { seconds: 0, iterations: SAMPLES / EACH },
    run: { system: 'pulsar', scenario: 'live', profile: 'full', environment: 'local' },
    load_s: 1,
    counts: { iterations: metrics.iterations.values.count, dropped_iterations: 0 },
  });
  return { stdout: result, [__ENV.RECORD]: record };
}
