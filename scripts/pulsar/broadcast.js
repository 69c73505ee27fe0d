/**
 * How long until a message has reached all subscribers of its topic?
 *
 * quick: 50 messages to 30 subscribers, 1,500 deliveries. In the longer profiles
 * rounds of the same follow one another, and the shapes vary the number of such
 * rooms.
 * Variables: MESSAGES, SUBSCRIBERS, PAYLOAD_BYTES, ROOMS (rounds in all), CLIENTS
 * (rooms at once), DURATION.
 */
import { roomScenario } from '../../lib/pulsar/room-scenario.js';

const script = roomScenario({
  name: 'broadcast',
  title: 'Broadcast',
  topics: 1,
  subscribers: 30,
  messages: { smoke: 20, quick: 50 },
  last: true,
});

export const { options, setup, teardown, handleSummary } = script;
export default script.room;
