/** The common parts of scenarios that publish single messages: load, parameters and operation. */
import { loadSystem } from '../environment.js';
import { loadParameters, loopOperations } from '../loops.js';
import { envCount, requestLoad } from '../profiles.js';
import { defineScenario } from '../scenario.js';
import { defaultNumber } from '../variables.js';
import { Relay, filler, topicNames } from './relay.js';

/**
 * @param {{ name: string, title: string, load: { clients: number, smoke: number, quick: number } }} spec
 */
export function publishing(spec) {
  const scenarioName = `pulsar/${spec.name}`;
  const topicCount = envCount('TOPICS', scenarioName);
  const payloadBytes = envCount('PAYLOAD_BYTES', scenarioName);
  const load = requestLoad({ ...spec.load, rate: defaultNumber('RATE', scenarioName) }, 'MESSAGES');
  const environment = loadSystem('pulsar');
  const scenario = defineScenario({
    system: 'pulsar',
    environment,
    name: spec.name,
    title: spec.title,
    load,
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
  return {
    scenario,
    relay: new Relay(environment),
    /** Payload fields of every message apart from its number. */
    fields: filler(payloadBytes),
    /** Names of the run's topics. */
    topics: () => topicNames(scenario.runId(), spec.name, topicCount),
  };
}
