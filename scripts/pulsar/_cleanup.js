/**
 * Removes the topics that a run (RUN_ID) left: its set-up was interrupted, so that k6 ran no teardown, or the relay was
 * unreachable. It is no scenario. `k6 x bench` runs it after an interrupted set-up.
 */
import { loadSystem } from '../../lib/environment.js';
import { Relay } from '../../lib/pulsar/relay.js';

const relay = new Relay(loadSystem('pulsar'));

export default function cleanUp() {
  if (!__ENV.RUN_ID) throw 'RUN_ID is not set: it must hold the id of the run that left something';
  const left = relay.removeRun(relay.signIn(), __ENV.RUN_ID);
  if (left > 0) throw `pulsar: ${left} topics of run ${__ENV.RUN_ID} could not be removed`;
}

export const options = { maxRedirects: 0, iterations: 1, ...relay.environment.connection.options };

export const handleSummary = () => ({});
