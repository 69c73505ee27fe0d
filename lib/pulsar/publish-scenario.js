/** The scenarios that publish single messages: one client or many, closed and open loop. */
import { loadSystem } from '../environment.js';
import { loadParameters, loopOperations, requestLoops } from '../loops.js';
import { envCount, requestLoad } from '../profiles.js';
import { defineScenario } from '../scenario.js';
import { defaultNumber } from '../variables.js';
import { Relay, filler, messageBody, topicNames } from './relay.js';

const CREATED = 201;

/** @typedef {import('./relay.js').Data} Data */

/**
 * @param {{ name: string, title: string, load: { clients: number, smoke: number, quick: number } }} spec
 */
export function publishScenario(spec) {
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
  const relay = new Relay(environment);
  const fields = filler(payloadBytes);

  const loops = requestLoops(
    scenario,
    (/** @type {import('../loops.js').Turn<Data>} */ { data, index, time }) => {
      const body = messageBody(data.topics[index % data.topics.length], `"seq":${index},${fields}`);
      time('publish', CREATED, () => relay.publish(relay.current(data.session), body));
      relay.renewIfDue(data.session);
    },
    () => relay.connect(),
  );

  return {
    options: scenario.options,

    setup: () => scenario.begin(() => relay.open(topicNames(scenario.runId(), spec.name, topicCount))),

    ...loops,

    /** @param {Data} data */
    teardown(data) {
      scenario.end(data, () => relay.close(data));
    },

    handleSummary: scenario.summary,
  };
}
