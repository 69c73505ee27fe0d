/**
 * How fast does the relay accept messages in batches?
 *
 * quick: 100 batches of 50 messages over 5 topics, one client. Profiles from full on add an open loop at a fixed RATE of batches.
 */
import { loadParameters, loopOperations, requestLoops } from '../../lib/loops.js';
import { envCount, requestLoad } from '../../lib/profiles.js';
import { summaryOf } from '../../lib/pulsar/answers.js';
import { filler, messageBody } from '../../lib/pulsar/relay.js';
import { relayScenario } from '../../lib/pulsar/scenario.js';
import { defaultNumber } from '../../lib/variables.js';

const base = { clients: 1, smoke: 20, quick: 100, rate: defaultNumber('RATE', 'pulsar/bulk') };
const batchSize = envCount('BATCH_SIZE');
const topicCount = envCount('TOPICS', 'pulsar/bulk');
const payloadBytes = envCount('PAYLOAD_BYTES', 'pulsar/bulk');

const load = requestLoad(base, 'BATCHES');
const script = relayScenario({
  name: 'bulk',
  title: 'Bulk message ingestion',
  load,
  topics: topicCount,
  parameters: {
    ...loadParameters(load),
    clients: envCount('CLIENTS', base.clients),
    batch_size: batchSize,
    topics: topicCount,
    payload_bytes: payloadBytes,
  },
  operations: loopOperations(load, 'publish', {
    title: `POST a batch of ${batchSize}`,
    least: (load.iterations ?? 0) * batchSize || 1,
    items: 'messages',
    alone: true,
  }),
});
const { scenario, relay } = script;
const fields = filler(payloadBytes);

/** @param {string[]} topics @param {number} batch */
const bodiesOf = (topics, batch) =>
  Array.from({ length: batchSize }, (_, index) =>
    messageBody(topics[index % topics.length], `"seq":${batch * batchSize + index},${fields}`),
  );

/**
 * Number of messages that the relay accepted. A rejected message is a separate error, although the request succeeded.
 * @type {import('../../lib/loops.js').Carried}
 */
function accepted(response, operation) {
  const { accepted: count, rejected } = summaryOf(response);
  if (typeof count !== 'number') return 'no summary of accepted messages';
  operation.anomaly('rejected', rejected ?? 0);
  return count;
}

export const { options, setup, teardown, handleSummary } = script;

/** @param {import('../../lib/loops.js').Turn<import('../../lib/pulsar/relay.js').Data>} turn */
function publish({ data: { session, topics }, index, time }) {
  const send = () => relay.publishBulk(relay.current(session), bodiesOf(topics, index));
  time('publish', null, send, accepted);
  relay.renewIfDue(session);
}

const { closedLoop, openLoop } = requestLoops(scenario, publish, () => relay.connect());
export { openLoop };
export default closedLoop;
