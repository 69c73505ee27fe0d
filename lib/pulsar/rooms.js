/** The scenarios delivery and broadcast, which publish to rooms of subscribers. */
import exec from 'k6/execution';
import { clientLoad, currentProfile, envCount, mostClients } from '../profiles.js';
import { defaultNumber } from '../variables.js';
import { filler } from './relay.js';
import { runRoom } from './room.js';
import { relayScenario } from './scenario.js';

const ROOMS = defaultNumber('ROOMS');
const BASE = { clients: 1, smoke: ROOMS, quick: ROOMS, peak: 1 };

/**
 * The parts of a script.
 * @param {object} spec
 * @param {string} spec.name
 * @param {string} spec.title
 * @param {{ smoke: number, quick: number }} spec.messages per room
 * @param {boolean} spec.last whether to report the time until the last subscriber has a message
 */
export function rooms(spec) {
  const scenarioName = `pulsar/${spec.name}`;
  const load = clientLoad(BASE, 'ROOMS');
  const smoke = currentProfile() === 'smoke';
  const messages = envCount('MESSAGES', smoke ? spec.messages.smoke : spec.messages.quick);
  const subscribers = envCount('SUBSCRIBERS', scenarioName);
  const topicCount = envCount('TOPICS', scenarioName);
  const payloadBytes = envCount('PAYLOAD_BYTES', scenarioName);
  const count = mostClients(load);
  const perTopic = Math.floor(subscribers / topicCount);
  const fixed = load.iterations ?? 0;

  const { scenario, relay, ...script } = relayScenario({
    name: spec.name,
    title: spec.title,
    load,
    topics: topicCount * count,
    parameters: {
      ...(load.iterations ? { rounds: load.iterations } : { seconds: load.seconds }),
      clients: envCount('CLIENTS', BASE.clients),
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
  const measured = {
    publish: scenario.operation('publish'),
    deliver: scenario.operation('deliver'),
    last: spec.last ? scenario.operation('last') : undefined,
  };
  return {
    ...script,
    /** Runs a room: its subscribers listen, then its publisher sends, and each arrival is timed. @param {import('./relay.js').Data} data */
    async round(data) {
      scenario.round(data);
      relay.renewIfDue(data.session);
      const first = ((exec.vu.idInTest - 1) % count) * topicCount;
      await runRoom({
        relay,
        session: relay.current(data.session),
        endsAt: scenario.endsAt(data),
        topics: data.topics.slice(first, first + topicCount),
        subscribers,
        messages,
        filler: filler(payloadBytes),
        ...measured,
      });
    },
  };
}
