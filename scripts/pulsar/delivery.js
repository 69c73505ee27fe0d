/**
 * How long does a message take from its publisher to a subscriber, and does each
 * one arrive, once and in order?
 *
 * quick: 20 subscribers on 5 topics, 250 messages, 1,000 deliveries. In the longer
 * profiles rounds of the same follow one another, and the shapes vary the number
 * of such rooms; a fixed rate would need a publisher of its own.
 */
import { roomScenario } from '../../lib/pulsar/room-scenario.js';

const script = roomScenario({
  name: 'delivery',
  title: 'Message delivery (end to end)',
  messages: { smoke: 50, quick: 250 },
  last: false,
});

export const { options, setup, teardown, handleSummary } = script;
export default script.room;
