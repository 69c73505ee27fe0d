/**
 * How fast does the relay take messages in batches?
 *
 * quick: 100 batches of 50 messages over 5 topics, one client. From full on also
 * in an open loop, at a fixed RATE of batches.
 */
import { loadSystem } from '../../lib/environment.js';
import { loadParameters, loopOperations, requestLoops } from '../../lib/loops.js';
import { envCount, requestLoad } from '../../lib/profiles.js';
import { Relay, filler, messageBody, topicNames } from '../../lib/pulsar/relay.js';
import { defineScenario } from '../../lib/scenario.js';
import { defaultNumber } from '../../lib/variables.js';

const MULTI_STATUS = 207;
const base = { clients: 1, smoke: 20, quick: 100, rate: defaultNumber('RATE', 'pulsar/bulk') };
const batchSize = envCount('BATCH_SIZE');
const topicCount = envCount('TOPICS', 'pulsar/bulk');
const payloadBytes = envCount('PAYLOAD_BYTES', 'pulsar/bulk');

const load = requestLoad(base, 'BATCHES');
const environment = loadSystem('pulsar');
const scenario = defineScenario({
  system: 'pulsar',
  environment,
  name: 'bulk',
  title: 'Bulk message ingestion',
  load,
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
const relay = new Relay(environment);
const fields = filler(payloadBytes);

/** @typedef {{ session: import('../../lib/pulsar/relay.js').Session, topics: string[] } & import('../../lib/scenario.js').Begun} Data */

/** @param {Data} data @param {number} batch */
function send(data, batch) {
  const bodies = Array.from({ length: batchSize }, (_, index) =>
    messageBody(data.topics[index % data.topics.length], `"seq":${batch * batchSize + index},${fields}`),
  );
  return relay.publishBulk(relay.current(data.session), bodies);
}

/**
 * Messages that a batch's answer says were accepted; a rejected one is an error of
 * its own although the request succeeded.
 * @type {import('../../lib/loops.js').Carried}
 */
function accepted(response, operation) {
  const { accepted: count, rejected } = summaryOf(response);
  if (typeof count !== 'number') return null;
  operation.anomaly('rejected', rejected ?? 0);
  return count;
}

/** @param {import('k6/http').RefinedResponse<'text'>} response @returns {{ accepted?: number, rejected?: number }} */
function summaryOf(response) {
  try {
    return /** @type {any} */ (response.json('summary')) ?? {};
  } catch {
    return {};
  }
}

export const { options } = scenario;

export function setup() {
  const session = relay.signIn();
  const topics = topicNames(scenario.runId(), 'bulk', topicCount);
  relay.prepare(session, topics);
  return scenario.begin({ session, topics });
}

const { closedLoop, openLoop } = requestLoops(
  scenario,
  (/** @type {import('../../lib/loops.js').Turn<Data>} */ { data, index, time }) => {
    time('publish', MULTI_STATUS, () => send(data, index), accepted);
    relay.renewIfDue(data.session);
  },
  () => relay.connect(),
);
export { openLoop };
export default closedLoop;

/** @param {Data} data */
export function teardown(data) {
  scenario.end(data);
  relay.removeTopics(relay.current(data.session), data.topics);
}

export const handleSummary = scenario.summary;
