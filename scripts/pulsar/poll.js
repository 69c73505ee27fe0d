/**
 * How long does a long poll take if a message wakes it, and if it waits in vain?
 *
 * quick: 10 clients. Each has 20 polls that a message wakes 50 ms later, and 2 polls that end empty after one second. The longer
 * profiles repeat such rounds. The relay allows a user 50 polls at once, a limit that breakpoint finds.
 */
import exec from 'k6/execution';
import { now } from '../../lib/clock.js';
import { detailOf, isAccepted } from '../../lib/answers.js';
import { ofResponse } from '../../lib/errors.js';
import { ownScenario } from '../../lib/execution.js';
import { clientLoad, envCount, mostClients } from '../../lib/profiles.js';
import { pollFault } from '../../lib/pulsar/answers.js';
import { messageBody } from '../../lib/pulsar/relay.js';
import { relayScenario } from '../../lib/pulsar/scenario.js';
import { sleep } from '../../lib/sleep.js';

const WAKES_PER_ROUND = 10;
/** Delay between a poll and the message that wakes it, so that the relay has registered the poll. */
const LEAD_MS = 50;
const WAKE_WAIT_SECONDS = 10;
const EMPTY_WAIT_SECONDS = 1;

const base = { clients: 10, smoke: 10, quick: 20, peak: 10 };
const load = clientLoad(base, 'POLLS');
const rounds = load.iterations ?? 0;
const script = relayScenario({
  name: 'poll',
  title: 'Long polling',
  load,
  topics: mostClients(load),
  parameters: {
    ...(load.iterations ? { rounds: load.iterations } : { seconds: load.seconds }),
    clients: envCount('CLIENTS', base.clients),
    wakes_per_round: WAKES_PER_ROUND,
  },
  operations: {
    wake: {
      title: 'Poll woken by a message',
      latencyIs: 'from sending the message to the answer of the poll that waited for it',
      primary: 'p50',
      bounds: { 'p(95)': 1000 },
      least: rounds * WAKES_PER_ROUND,
    },
    wait: {
      title: `Poll that waits ${EMPTY_WAIT_SECONDS} s in vain`,
      latencyIs: `from sending the poll to its empty answer, of which ${EMPTY_WAIT_SECONDS} s is asked for`,
      bounds: { 'p(50)': EMPTY_WAIT_SECONDS * 1000 + 500 },
      least: rounds,
    },
  },
});
const { scenario, relay } = script;
const wake = scenario.operation('wake');
const wait = scenario.operation('wait');

export const { options, setup, teardown, handleSummary } = script;

/** @param {import('../../lib/pulsar/relay.js').Session} session @param {string} topic @param {number} seq */
async function wakeOnce(session, topic, seq) {
  wake.begin();
  const polling = relay.pollAsync(session, [topic], WAKE_WAIT_SECONDS);
  await sleep(LEAD_MS);
  const sentAt = now();
  const publishing = relay.publishAsync(session, messageBody(topic, `"seq":${seq}`));
  const polled = await polling;
  const endedAt = now();
  const published = await publishing;
  const taken = isAccepted(published);
  const failure = taken ? pollFault(polled, [seq]) : ofResponse(published);
  wake.ended(failure, sentAt, endedAt, detailOf(taken ? polled : published));
}

/** @param {import('../../lib/pulsar/relay.js').Session} session @param {string} topic */
async function waitInVain(session, topic) {
  wait.begin();
  const startedAt = now();
  const polled = await relay.pollAsync(session, [topic], EMPTY_WAIT_SECONDS);
  const endedAt = now();
  wait.ended(pollFault(polled, []), startedAt, endedAt, detailOf(polled));
}

/** @param {import('../../lib/pulsar/relay.js').Data} data */
export default async function round(data) {
  scenario.round(data);
  relay.renewIfDue(data.session);
  relay.connectOnce();
  const session = relay.current(data.session);
  const topic = data.topics[(exec.vu.idInTest - 1) % data.topics.length];
  const first = ownScenario().iterationInTest * WAKES_PER_ROUND;
  const endsAt = scenario.endsAt(data);
  for (let index = 0; index < WAKES_PER_ROUND && now() < endsAt; index += 1)
    await wakeOnce(session, topic, first + index);
  if (now() < endsAt) await waitInVain(session, topic);
}
