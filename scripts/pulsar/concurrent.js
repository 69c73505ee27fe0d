/**
 * How fast does the relay take single messages from many clients at once?
 *
 * quick: 1,000 messages from 20 clients over 20 topics. From full on also in an
 * open loop, at a fixed RATE.
 */
import { publishScenario } from '../../lib/pulsar/publish-scenario.js';

const script = publishScenario({
  name: 'concurrent',
  title: 'Concurrent ingestion',
  load: { clients: 20, smoke: 200, quick: 1000 },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
