/**
 * What does a subscriber that reads nothing do to the others?
 *
 * In the first of two rooms all read. The second room has SLOW further subscribers that stop reading after they have subscribed. They
 * leave when the last message was sent. Messages come at a fixed pace.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { join } from 'k6/x/windtunnel/silent';
import { now } from '../../lib/clock.js';
import { envCount } from '../../lib/profiles.js';
import { onceLoad } from '../../lib/once.js';
import { Paced } from '../../lib/pulsar/paced.js';
import { filler } from '../../lib/pulsar/relay.js';
import { relayScenario } from '../../lib/pulsar/scenario.js';
import { address, subscription } from '../../lib/pulsar/subscriber.js';
import { figureOf, sectionOf } from '../../lib/section.js';
import { sleep } from '../../lib/sleep.js';
import { closeWindow, openWindow, usageOf } from '../../lib/sidecar.js';
import { percent } from '../../lib/units.js';

const JOIN_MS = 10_000;
/** Time for the last messages, before the silent subscribers leave. */
const ON_THEIR_WAY_MS = 250;
const MIB = 1024 * 1024;
/** Length of each room's load, ms. */
const { load, size: lastMs } = onceLoad({ smoke: 1_500, quick: 5_000, full: 20_000 });
const slow = envCount('SLOW');
const subscribers = envCount('SUBSCRIBERS', 'pulsar/slow');
const rate = envCount('RATE', 'pulsar/slow');
const payloadBytes = envCount('PAYLOAD_BYTES', 'pulsar/slow');
const ROOMS = {
  all_read: { title: 'All read', silent: 0 },
  slow: { title: `${slow} read${slow === 1 ? 's' : ''} nothing`, silent: slow },
};
const deliveries = {
  latencyIs:
    'from the intended time of the POST to the arrival of the WebSocket frame at a client that reads',
  least: 1,
};
const publishes = { latencyIs: 'from the intended time of the POST to its answer', least: 1 };
const script = relayScenario({
  name: 'slow',
  title: 'A subscriber that reads nothing',
  load,
  topics: Object.keys(ROOMS).length,
  parameters: { subscribers, slow, rate, ms: lastMs, payload_bytes: payloadBytes },
  operations: {
    deliver_slow: {
      title: 'Publish to receive, beside one that reads nothing',
      primary: 'p50',
      ...deliveries,
    },
    deliver_all_read: { title: 'Publish to receive, all read', primary: 'p50', ...deliveries },
    publish_slow: { title: 'POST one message, beside one that reads nothing', ...publishes },
    publish_all_read: { title: 'POST one message, all read', ...publishes },
  },
  more: () => ({ sections: [shown(Object.keys(ROOMS).flatMap((name) => said()[`room_${name}`] ?? []))] }),
});
const { scenario, relay } = script;

export const { options, setup, teardown, handleSummary } = script;

/** @param {import('../../lib/pulsar/relay.js').Data} data */
export default async function (data) {
  scenario.round(data);
  for (const [index, name] of Object.keys(ROOMS).entries())
    await room(/** @type {keyof typeof ROOMS} */ (name), data.session, data.topics[index]);
}

/** @param {keyof typeof ROOMS} name @param {import('../../lib/pulsar/relay.js').Session} session @param {string} topic */
async function room(name, session, topic) {
  const window = openWindow(__ENV.INSTANCE || null);
  const paced = new Paced({
    relay,
    session,
    topic,
    name,
    subscribers,
    rate,
    filler: filler(payloadBytes),
    publish: scenario.operation(`publish_${name}`),
    deliver: scenario.operation(`deliver_${name}`),
  });
  // They come first: a relay that serves subscribers in turn then has the others behind them.
  const [url, protocols] = address(relay.environment, relay.current(session));
  const silent = Array.from({ length: ROOMS[name].silent }, (_, index) =>
    join(url, protocols, subscription(`silent-${index}`, [topic]), JOIN_MS),
  );
  const refused = silent.filter(({ answer }) => !/"type": *"subscribed"/.test(answer));
  if (refused.length > 0) throw new Error(`a silent subscriber was refused: ${refused[0].answer}`);
  await paced.join();
  const endsAt = now() + lastMs;
  await paced.publishWhile(() => now() < endsAt);
  await sleep(ON_THEIR_WAY_MS);
  const inTime = paced.ledgers.reduce((sum, { seen }) => sum + seen.size, 0);
  for (const client of silent) client.close();
  await paced.drain();
  paced.account();
  await paced.close();
  closeWindow(window);
  const system = usageOf(window)?.processes.filter(({ role }) => role === 'system');
  say(`room_${name}`, {
    name,
    messages: paced.sent.length,
    in_time: inTime / (paced.sent.length * paced.joined),
    lost: paced.missing().length,
    doubled: paced.doubled,
    memory: system?.length ? system.reduce((sum, one) => sum + one.peak_rss_bytes, 0) / MIB : null,
  });
}

/** @param {any[]} rows */
const shown = (rows) =>
  sectionOf({
    name: 'slow',
    title: 'Subscribers that read, beside one that reads nothing',
    columns: [
      ['room', 'Room', 'text', ({ name }) => ROOMS[/** @type {'slow'} */ (name)].title],
      ['messages', 'Messages', 'count'],
      ['p50_ms', 'P50', 'ms', ({ name }) => figureOf(`deliver_${name}`, 'p50_ms')],
      ['p95_ms', 'P95', 'ms', ({ name }) => figureOf(`deliver_${name}`, 'p95_ms')],
      ['in_time', 'Arrived before the end', 'share'],
      ['lost', 'Lost', 'count'],
      ['doubled', 'Doubled', 'count'],
      ['publish_p95_ms', 'Publish P95', 'ms', ({ name }) => figureOf(`publish_${name}`, 'p95_ms')],
      ['memory', "System's peak memory", 'MiB'],
    ],
    rows,
    notes: [
      'Arrived before the end: deliveries that came while the silent subscribers were still there.',
      'Delays are reported, not judged. Losses and duplicates fail the run.',
    ],
    finding: held(rows),
  });

/** The finding, if deliveries waited for the silent subscribers to leave. @param {any[]} rows */
function held(rows) {
  const [without, beside] = rows.map((row) => row.in_time);
  if (beside === undefined || without - beside < 0.1) return null;
  return `A subscriber that reads nothing holds up the others: ${percent(beside)} of their deliveries came before it left, against ${percent(without)} if all read.`;
}
