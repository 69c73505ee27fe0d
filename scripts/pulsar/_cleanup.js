/**
 * Removes the topics of a run (RUN_ID) whose set-up was cut short: k6 runs no
 * teardown then. No scenario; `k6 x bench` runs it by itself.
 */
import { loadSystem } from '../../lib/environment.js';
import { Relay } from '../../lib/pulsar/relay.js';

const relay = new Relay(loadSystem('pulsar'));

export const options = relay.environment.connection.options;

export default function cleanUp() {
  const left = relay.removeRun(relay.signIn(), __ENV.RUN_ID);
  if (left > 0) throw `${left} topics of run ${__ENV.RUN_ID} could not be removed`;
}

export const handleSummary = () => ({});
