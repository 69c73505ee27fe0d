/**
 * How fast does the relay take single messages from one client?
 *
 * quick: 1,000 messages over 10 topics, one client, one after the other. From
 * full on also in an open loop, at a fixed RATE.
 */
import { publishScenario } from '../../lib/pulsar/publish-scenario.js';

const script = publishScenario({
  name: 'ingest',
  title: 'Message ingestion (single)',
  load: { clients: 1, smoke: 200, quick: 1000 },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
