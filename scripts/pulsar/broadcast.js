/**
 * How long until a message has reached all subscribers of its topic?
 *
 * quick: 50 messages to 30 subscribers, 1,500 deliveries. The longer profiles repeat such rounds, and the shapes vary the number of
 * rooms.
 */
import { runRoom } from '../../lib/pulsar/room.js';
import { rooms } from '../../lib/pulsar/rooms.js';

const { scenario, relay, topics, room } = rooms({
  name: 'broadcast',
  title: 'Broadcast',
  messages: { smoke: 20, quick: 50 },
  last: true,
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
