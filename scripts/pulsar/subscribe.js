/**
 * How long does a WebSocket client take from dialling to a confirmed subscription?
 *
 * quick: 50 clients connect at once and subscribe to one topic each. In the longer profiles each client connects, holds and closes
 * repeatedly. The shapes vary the number of clients, since this scenario has no open loop of connections.
 */
import { ownScenario } from '../../lib/execution.js';
import { clientLoad, envCount } from '../../lib/profiles.js';
import { relayScenario } from '../../lib/pulsar/scenario.js';
import { Subscriber } from '../../lib/pulsar/subscriber.js';
import { sleep } from '../../lib/sleep.js';

const base = { clients: 50, smoke: 50, quick: 50, peak: 50 };
const topicCount = envCount('TOPICS', 'pulsar/subscribe');
const holdMs = envCount('HOLD_MS');
const load = clientLoad(base, 'CONNECTIONS');
const script = relayScenario({
  name: 'subscribe',
  title: 'WebSocket subscribe',
  load,
  topics: topicCount,
  parameters: {
    ...(load.iterations ? { connections: load.iterations } : { seconds: load.seconds }),
    clients: envCount('CLIENTS', base.clients),
    topics: topicCount,
    hold_ms: holdMs,
  },
  operations: {
    subscribe: {
      title: 'Connect and subscribe',
      latencyIs:
        'from dialling to the frame that confirms the subscription, TCP and WebSocket handshakes included',
      primary: 'p50',
      bounds: { 'p(95)': 2000 },
      least: load.iterations,
    },
  },
});
const { scenario, relay } = script;
const subscribe = scenario.operation('subscribe');

export const { options, setup, teardown, handleSummary } = script;

/** @param {import('../../lib/pulsar/relay.js').Data} data */
export default async function connectOnce(data) {
  scenario.round(data);
  relay.renewIfDue(data.session);
  const index = ownScenario().iterationInTest;
  const topic = data.topics[index % data.topics.length];
  let lost = false;
  subscribe.begin();
  const client = new Subscriber(relay.environment, relay.current(data.session), `client-${index}`, [topic], {
    lost: (kind, detail) => {
      lost = true;
      subscribe.anomaly(kind, 1, detail);
    },
  });
  const { startedAt, endedAt, failure, detail } = await client.outcome;
  subscribe.ended(failure, startedAt, endedAt, detail);
  relay.checkToken(data.session, failure);
  if (!failure && !lost) await sleep(holdMs);
  await client.close();
}
