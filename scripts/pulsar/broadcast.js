/**
 * How long until a message has reached all subscribers of its topic?
 *
 * quick: 50 messages to 30 subscribers, 1,500 deliveries. In the longer profiles
 * rounds of the same follow one another, and the shapes vary the number of such
 * rooms.
 */
import { roomScenario } from '../../lib/pulsar/room-scenario.js';

const script = roomScenario({
  name: 'broadcast',
  title: 'Broadcast',
  messages: { smoke: 20, quick: 50 },
  last: true,
});

export const { options, setup, teardown, handleSummary } = script;
export default script.room;
