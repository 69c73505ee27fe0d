/**
 * How long does a message take from its publisher to a subscriber, and does each message arrive once and in order?
 *
 * quick: 20 subscribers on 5 topics, 250 messages, 1,000 deliveries. The longer profiles repeat such rounds, and the shapes vary the
 * number of rooms; a fixed rate would need a separate publisher.
 */
import { rooms } from '../../lib/pulsar/rooms.js';

const script = rooms({
  name: 'delivery',
  title: 'Message delivery (end to end)',
  messages: { smoke: 50, quick: 250 },
  last: false,
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
