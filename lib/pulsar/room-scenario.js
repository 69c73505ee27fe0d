/** The scenarios that publish to rooms of subscribers: delivery and broadcast. */
import exec from 'k6/execution';
import { loadSystem } from '../environment.js';
import { clientLoad, envCount, mostClients } from '../profiles.js';
import { defineScenario } from '../scenario.js';
import { Relay, filler, topicNames } from './relay.js';
import { runRoom } from './room.js';

/** @typedef {import('./relay.js').Data} Data */

/**
 * @param {object} spec
 * @param {string} spec.name
 * @param {string} spec.title
 * @param {number} spec.topics of each room
 * @param {number} spec.subscribers of each room
 * @param {{ smoke: number, quick: number }} spec.messages of each room
 * @param {boolean} spec.last also report the time until the last subscriber has a message
 */
export function roomScenario(spec) {
  const load = clientLoad({ clients: 1, smoke: 1, quick: 1, peak: 1 }, 'ROOMS');
  const smoke = (__ENV.PROFILE || 'smoke') === 'smoke';
  const messages = envCount('MESSAGES', smoke ? spec.messages.smoke : spec.messages.quick);
  const subscribers = envCount('SUBSCRIBERS', spec.subscribers);
  const topicCount = envCount('TOPICS', spec.topics);
  const payloadBytes = envCount('PAYLOAD_BYTES', 100);
  const rooms = mostClients(load);
  const perTopic = Math.floor(subscribers / topicCount);
  const fixed = load.iterations ?? 0;

  const environment = loadSystem('pulsar');
  const scenario = defineScenario({
    system: 'pulsar',
    environment,
    name: spec.name,
    title: spec.title,
    load,
    parameters: {
      ...(load.iterations ? { rounds: load.iterations } : { seconds: load.seconds }),
      clients: envCount('CLIENTS', 1),
      messages,
      subscribers,
      topics: topicCount,
      payload_bytes: payloadBytes,
    },
    operations: {
      deliver: {
        title: 'Publish to receive',
        latencyIs: 'from sending the POST to the arrival of the WebSocket frame at the client',
        primary: 'p50',
        bounds: { 'p(95)': 1000 },
        least: fixed * messages * perTopic,
      },
      ...(spec.last
        ? {
            last: {
              title: 'Publish to the last subscriber',
              latencyIs: 'from sending the POST to the arrival at the last of all subscribers',
              least: fixed * messages,
              headline: 'p50',
            },
          }
        : {}),
      publish: {
        title: 'POST one message',
        latencyIs: 'from sending the POST to its answer',
        least: fixed * messages,
      },
    },
  });
  if (subscribers % topicCount !== 0) {
    throw `SUBSCRIBERS=${subscribers}: not a multiple of TOPICS=${topicCount}, so the deliveries would not be the same for each message`;
  }
  const relay = new Relay(environment);
  const publish = scenario.operation('publish');
  const deliver = scenario.operation('deliver');
  const last = spec.last ? scenario.operation('last') : undefined;

  return {
    options: scenario.options,

    setup: () => scenario.begin(relay.open(topicNames(scenario.runId(), spec.name, topicCount * rooms))),

    /** @param {Data} data */
    async room(data) {
      scenario.round(data);
      relay.renewIfDue(data.session);
      const first = ((exec.vu.idInTest - 1) % rooms) * topicCount;
      await runRoom({
        relay,
        session: relay.current(data.session),
        topics: data.topics.slice(first, first + topicCount),
        subscribers,
        messages,
        filler: filler(payloadBytes),
        endsAt: scenario.endsAt(data),
        publish,
        deliver,
        last,
      });
    },

    /** @param {Data} data */
    teardown(data) {
      scenario.end(data);
      relay.close(data);
    },

    handleSummary: scenario.summary,
  };
}
