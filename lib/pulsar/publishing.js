/** Scenarios that publish single messages. */
import { loadParameters, loopOperations, requestLoops } from '../loops.js';
import { envCount, requestLoad } from '../profiles.js';
import { defaultNumber } from '../variables.js';
import { filler, messageBody } from './relay.js';
import { relayScenario } from './scenario.js';

/**
 * The parts of a script.
 * @param {{ name: string, title: string, load: { clients: number, smoke: number, quick: number } }} spec
 */
export function publishing(spec) {
  const scenarioName = `pulsar/${spec.name}`;
  const topicCount = envCount('TOPICS', scenarioName);
  const payloadBytes = envCount('PAYLOAD_BYTES', scenarioName);
  const load = requestLoad({ ...spec.load, rate: defaultNumber('RATE', scenarioName) }, 'MESSAGES');
  const { scenario, relay, ...script } = relayScenario({
    name: spec.name,
    title: spec.title,
    load,
    topics: topicCount,
    parameters: {
      ...loadParameters(load),
      clients: envCount('CLIENTS', spec.load.clients),
      topics: topicCount,
      payload_bytes: payloadBytes,
    },
    operations: loopOperations(load, 'publish', {
      title: 'POST one message',
      least: load.iterations ?? 1,
      alone: true,
    }),
  });
  /** Payload fields of every message apart from its number. */
  const fields = filler(payloadBytes);

  /** Publishes one message. @param {import('../loops.js').Turn<import('./relay.js').Data>} turn */
  function publish({ data, index, time }) {
    const body = messageBody(data.topics[index % data.topics.length], `"seq":${index},${fields}`);
    time('publish', null, () => relay.publish(relay.current(data.session), body));
    relay.renewIfDue(data.session);
  }

  return { ...script, ...requestLoops(scenario, publish, () => relay.connect()) };
}
