/**
 * How fast does the relay accept single messages from one client?
 *
 * quick: 1,000 messages over 10 topics, one client, one after the other. Profiles from full on add an open loop at a fixed RATE.
 */
import { requestLoops } from '../../lib/loops.js';
import { publishing } from '../../lib/pulsar/publishing.js';
import { messageBody } from '../../lib/pulsar/relay.js';

const { scenario, relay, topics, fields } = publishing({
  name: 'ingest',
  title: 'Message ingestion (single)',
  load: { clients: 1, smoke: 200, quick: 1000 },
});

export const { options } = scenario;

export const setup = () => scenario.begin(() => relay.open(topics()));

/** Publishes one message. @param {import('../../lib/loops.js').Turn<import('../../lib/pulsar/relay.js').Data>} turn */
function publish({ data, index, time }) {
  const body = messageBody(data.topics[index % data.topics.length], `"seq":${index},${fields}`);
  time('publish', null, () => relay.publish(relay.current(data.session), body));
  relay.renewIfDue(data.session);
}

const { closedLoop, openLoop } = requestLoops(scenario, publish, () => relay.connect());
export { openLoop };
export default closedLoop;

/** @param {import('../../lib/pulsar/relay.js').Data} data */
export const teardown = (data) => scenario.end(data, () => relay.close(data));

export const handleSummary = scenario.summary;
