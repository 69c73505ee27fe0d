/**
 * How fast does the relay accept single messages from many clients at once?
 *
 * quick: 1,000 messages from 20 clients over 20 topics. Profiles from full on add an open loop at a fixed RATE.
 */
import { publishing } from '../../lib/pulsar/publishing.js';

const script = publishing({
  name: 'concurrent',
  title: 'Concurrent ingestion',
  load: { clients: 20, smoke: 200, quick: 1000 },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
