/**
 * How fast does the relay accept single messages from one client?
 *
 * quick: 1,000 messages over 10 topics, one client, one after the other. Profiles from full on add an open loop at a fixed RATE.
 */
import { publishing } from '../../lib/pulsar/publishing.js';

const script = publishing({
  name: 'ingest',
  title: 'Message ingestion (single)',
  load: { clients: 1, smoke: 200, quick: 1000 },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
