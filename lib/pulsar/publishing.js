/** What the scenarios that publish single messages have in common: their load, their parameters and their one operation. */
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
  const own = `pulsar/${spec.name}`;
  const topicCount = envCount('TOPICS', own);
  const payloadBytes = envCount('PAYLOAD_BYTES', own);
  const load = requestLoad({ ...spec.load, rate: defaultNumber('RATE', own) }, 'MESSAGES');
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
    /** Of every message beside its number. */
    fields: filler(payloadBytes),
    /** Names of the run's own topics. */
    topics: () => topicNames(scenario.runId(), spec.name, topicCount),
  };
}
