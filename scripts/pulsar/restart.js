/**
 * How long until all subscribers of a relay that crashed and started again are back, and which messages were lost or doubled?
 *
 * Messages come at a fixed pace. In mid-run the relay is killed and started again (PULSAR_RESTART_URL). Each subscriber tries to
 * come back every 50 ms.
 */
import http from 'k6/http';
import { said, say } from 'k6/x/windtunnel/record';
import { isAccepted } from '../../lib/answers.js';
import { now } from '../../lib/clock.js';
import { ofResponse } from '../../lib/errors.js';
import { stop } from '../../lib/execution.js';
import { envCount } from '../../lib/profiles.js';
import { onceLoad } from '../../lib/once.js';
import { Paced } from '../../lib/pulsar/paced.js';
import { filler } from '../../lib/pulsar/relay.js';
import { relayScenario } from '../../lib/pulsar/scenario.js';
import { sectionOf } from '../../lib/section.js';

/** Messages before the restart, and after the last subscriber is back, ms. */
const STEADY_MS = { smoke: 700, quick: 2_000, full: 10_000 };
/** Time for all to come back, ms. */
const MOST_MS = 60_000;
const RESTARTED = 'relay_restart';

const { load, size: steadyMs } = onceLoad(STEADY_MS);
const subscribers = envCount('SUBSCRIBERS', 'pulsar/restart');
const rate = envCount('RATE', 'pulsar/restart');
const payloadBytes = envCount('PAYLOAD_BYTES', 'pulsar/restart');
const { PULSAR_RESTART_URL: url = '', PULSAR_RESTART_TOKEN: token } = __ENV;
const script = relayScenario({
  name: 'restart',
  title: 'Restart of the relay in mid-run',
  load,
  topics: 1,
  parameters: { subscribers, rate, steady_ms: steadyMs, payload_bytes: payloadBytes },
  operations: {
    back: {
      title: 'Kill to subscribed again',
      latencyIs: 'from the request that kills the relay to the frame that confirms the new subscription',
      primary: 'p50',
      least: subscribers,
    },
    deliver: {
      title: 'Publish to receive',
      latencyIs: 'from the intended time of the POST to the arrival of the WebSocket frame at the client',
      least: 1,
    },
    publish: {
      title: 'POST one message',
      latencyIs: 'from the intended time of the POST to its answer; none while the relay is down',
      least: 1,
    },
  },
  more: () => ({ sections: said()[RESTARTED] ? [shown(said()[RESTARTED])] : [] }),
});
const { scenario, relay } = script;
const back = scenario.operation('back');

export const { options, teardown, handleSummary } = script;

export function setup() {
  if (url) return script.setup();
  return stop(
    'pulsar/restart: set PULSAR_RESTART_URL to what restarts the relay, or give the testbed restarts=true',
  );
}

/** @param {import('../../lib/pulsar/relay.js').Data} data */
export default async function (data) {
  scenario.round(data);
  let killedAt = Infinity;
  /** When each subscriber's new subscription was confirmed; undefined: it has not gone. @type {(number | undefined)[]} */
  const returned = [];
  const paced = new Paced({
    relay,
    session: data.session,
    topic: data.topics[0],
    name: 'restart',
    subscribers,
    rate,
    filler: filler(payloadBytes),
    publish: scenario.operation('publish'),
    deliver: scenario.operation('deliver'),
    gone(index) {
      // A connection that ends before the restart, or again after it, is an error.
      if (killedAt === Infinity || returned[index] !== undefined) return false;
      returned[index] = Infinity;
      return true;
    },
    back(index, at) {
      returned[index] = at;
      back.success(killedAt, at);
    },
  });
  await paced.join();
  const steady = now() + steadyMs;
  await paced.publishWhile(() => now() < steady);
  killedAt = now();
  paced.punctual = false;
  const asked = restart();
  const areBack = () => returned.filter((at) => at !== undefined && at < Infinity).length;
  let endsAt = Infinity;
  await paced.publishWhile(() => {
    if (endsAt === Infinity && areBack() === paced.joined) {
      endsAt = now() + steadyMs;
      paced.punctual = true;
    }
    return now() < Math.min(endsAt, killedAt + MOST_MS);
  });
  const failure = await asked;
  if (failure) back.anomaly(failure, 1, 'the request to restart the relay');
  await paced.drain();
  for (let index = areBack(); index < paced.joined; index += 1) back.failure('timeout', killedAt, now());
  // The relay is down from the first refused publish: an earlier one may fail while a later one is still accepted. It is up again with
  // the first accepted one that was sent later.
  const atKill = paced.sent.filter(({ answeredAt }) => answeredAt >= killedAt);
  const failed = atKill.filter(({ accepted }) => !accepted);
  const refused = failed.filter((one) => one.failure === 'connection_refused');
  const firstFailed = earliest(refused.length > 0 ? refused : failed);
  const upAt = earliest(atKill.filter(({ accepted, sentAt }) => accepted && sentAt > firstFailed));
  const backAt = (/** @type {number} */ index) => returned[index] ?? killedAt;
  const missing = paced.missing();
  const lost = {
    before: missing.filter(({ sent }) => sent.sentAt <= killedAt).length,
    after: missing.filter(({ index, sent }) => sent.sentAt > Math.max(killedAt, backAt(index))).length,
  };
  paced.account((sent, index) =>
    index === undefined ? sent.answeredAt >= killedAt && sent.sentAt < upAt : sent.sentAt <= backAt(index),
  );
  say(RESTARTED, {
    subscribers: paced.joined,
    back: areBack(),
    first_s: seconds(Math.min(...returned.map((at) => at ?? Infinity)) - killedAt),
    all_s: areBack() === paced.joined ? seconds(Math.max(...returned.map((at) => at ?? 0)) - killedAt) : null,
    refused: paced.sent.filter((one) => !one.accepted).length,
    accepted: paced.sent.filter((one) => one.accepted).length,
    lost_before: lost.before,
    lost_away: missing.length - lost.before - lost.after,
    lost_after: lost.after,
    doubled: paced.doubled,
  });
  await paced.close();
}

/** When the first of some messages was sent; Infinity: there are none. @param {{ sentAt: number }[]} sent */
const earliest = (sent) => Math.min(...sent.map(({ sentAt }) => sentAt));

/** @param {number} ms @returns {number | null} */
const seconds = (ms) => (Number.isFinite(ms) ? ms / 1000 : null);

/** Asks for the restart. @returns {Promise<import('../../lib/errors.js').ErrorKind | null>} the error */
async function restart() {
  const response = await http.asyncRequest('POST', url, null, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    timeout: MOST_MS,
    tags: { name: 'relay-restart' },
  });
  return isAccepted(response) ? null : ofResponse(response);
}

/** @param {any} row */
const shown = (row) =>
  sectionOf({
    name: 'relay_restart',
    title: 'The restart',
    columns: [
      ['subscribers', 'Subscribers', 'count'],
      ['back', 'Back', 'count'],
      ['first_s', 'First back after', 's', { digits: 2 }],
      ['all_s', 'All back after', 's', { digits: 2, compare: 'lower' }],
      ['accepted', 'Messages accepted', 'count'],
      ['refused', 'Not accepted', 'count'],
      ['lost_before', 'Lost, sent before', 'count'],
      ['lost_away', 'Lost, subscriber away', 'count'],
      ['lost_after', 'Lost, subscriber back', 'count'],
      ['doubled', 'Doubled', 'count'],
    ],
    rows: [row],
    notes: [
      'A loss is an accepted message that one subscriber never got: a message that three did not get is three losses.',
      'Losses of a subscriber that is back, and duplicates, fail the run. Other losses are reported, not judged.',
    ],
    finding:
      row.all_s === null
        ? `${row.subscribers - row.back} of ${row.subscribers} subscribers did not come back.`
        : `All ${row.subscribers} subscribers were back after ${row.all_s.toFixed(2)} s. ${row.lost_before + row.lost_away + row.lost_after} deliveries were lost, ${row.doubled} came twice.`,
  });
