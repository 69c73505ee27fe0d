/**
 * How long does a message take from its publisher to a subscriber, and does each message arrive once and in order?
 *
 * quick: 20 subscribers on 5 topics, 250 messages, 1,000 deliveries. The longer profiles repeat such rounds, and the shapes vary the
 * number of rooms; a fixed rate would need a separate publisher.
 */
import { runRoom } from '../../lib/pulsar/room.js';
import { rooms } from '../../lib/pulsar/rooms.js';

const { scenario, relay, topics, room } = rooms({
  name: 'delivery',
  title: 'Message delivery (end to end)',
  messages: { smoke: 50, quick: 250 },
  last: false,
});

export const { options } = scenario;

export const setup = () => scenario.begin(() => relay.open(topics()));

/** Runs a room: its subscribers listen, then its publisher sends, and each arrival is timed. @param {import('../../lib/pulsar/relay.js').Data} data */
export default async function (data) {
  scenario.round(data);
  relay.renewIfDue(data.session);
  const session = relay.current(data.session);
  await runRoom({ relay, session, endsAt: scenario.endsAt(data), ...room(data.topics) });
}

/** @param {import('../../lib/pulsar/relay.js').Data} data */
export const teardown = (data) => scenario.end(data, () => relay.close(data));

export const handleSummary = scenario.summary;
