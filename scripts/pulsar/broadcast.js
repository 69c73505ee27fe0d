/**
 * How long until a message has reached all subscribers of its topic?
 *
 * quick: 50 messages to 30 subscribers, 1,500 deliveries. The longer profiles repeat such rounds, and the shapes vary the number of
 * rooms.
 */
import { rooms } from '../../lib/pulsar/rooms.js';

const script = rooms({
  name: 'broadcast',
  title: 'Broadcast',
  messages: { smoke: 20, quick: 50 },
  last: true,
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
