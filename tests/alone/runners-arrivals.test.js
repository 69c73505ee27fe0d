/** Messages of an open loop arrive at the same times from several runners as from one. Other tests would disturb the counts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { startBench } from '../support/bench.js';
import { temporaryFolder, writeEnvironment } from '../support/k6.js';
import { openEntry } from '../support/runners.js';
import { timely, undisturbed } from '../support/timely.js';

const RATE = 200;
const SECONDS = 4;
const BIN_MS = 100;
const IN_A_BIN = (RATE * BIN_MS) / 1000;
const BINS = (SECONDS * 1000) / BIN_MS;
const EACH_MS = 1000 / RATE;

const folder = temporaryFolder('arrivals');
after(folder.remove);

/** The value below which a share of all values lies. @param {number[]} values @param {number} share */
const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** The messages that a relay received from an open loop. @param {string} runners */
async function arrivalsOf(runners) {
  const relay = await startRelay({});
  const bench = startBench({
    ONLY: 'pulsar/ingest',
    PROFILE: 'soak',
    RATE: String(RATE),
    DURATION: `${SECONDS}s`,
    RUNNERS: runners,
    ENV: writeEnvironment(folder.path, openEntry(relay.url)),
  });
  try {
    const code = await bench.ended;
    assert.ok([0, 3].includes(Number(code)), `${code}: ${bench.output.stdout}${bench.output.stderr}`);
    return relay.truth.arrivals.flatMap(({ at, payload: { seq } }) =>
      typeof seq === 'number' ? [{ at, seq }] : [],
    );
  } finally {
    bench.remove();
    await relay.stop();
  }
}

/**
 * Places arrivals in the run's schedule, which sends message n after n times EACH_MS. The middle message counts as on time,
 * because only the runners know when the load began.
 * @param {{ at: number, seq: number }[]} arrivals
 * @param {number} runners of k runners, each sends every k-th message
 */
function placed(arrivals, runners) {
  const late = arrivals.map(({ at, seq }) => at - seq * EACH_MS);
  const began = quantile(late, 0.5);
  const counts = Array.from({ length: BINS }, () => 0);
  for (const { at } of arrivals) {
    const bin = Math.floor((at - began + EACH_MS / 2) / BIN_MS);
    if (bin >= 0 && bin < BINS) counts[bin] += 1;
  }
  const middles = Array.from({ length: runners }, (_, runner) =>
    quantile(
      late.filter((__, index) => arrivals[index].seq % runners === runner),
      0.5,
    ),
  );
  return { counts, apart: Math.max(...middles) - Math.min(...middles) };
}

const PLANNED = RATE * SECONDS;

/** Checks that hold on a busy machine, too. @param {{ at: number, seq: number }[]} arrivals @param {number} runners */
function assertPlaced(arrivals, runners) {
  const told = arrivals.map(({ seq }) => seq).toSorted((a, b) => a - b);
  assert.equal(new Set(told).size, told.length, 'a message came twice');
  const { apart } = placed(arrivals, runners);
  // Half of each runner's messages may be late: the middle message of a runner shows when the runner began.
  assert.ok(apart < BIN_MS / 2, `the runners are ${apart} ms apart`);
}

/**
 * The effects of other processes on the machine. Messages that are late at the planned end are not sent. A late end sends more
 * messages. Delayed messages arrive in a bunch.
 * @param {{ at: number, seq: number }[]} arrivals
 * @param {number} runners
 */
function spoilt(arrivals, runners) {
  const { counts } = placed(arrivals, runners);
  const off = counts.filter((count) => Math.abs(count - IN_A_BIN) > IN_A_BIN / 4).length;
  const last = Math.max(...arrivals.map(({ seq }) => seq));
  if (last > PLANNED) return `message ${last} of ${PLANNED} came`;
  if (arrivals.length < 0.99 * PLANNED) return `${arrivals.length} of ${PLANNED} came`;
  const about = JSON.stringify(counts);
  if (Math.abs(quantile(counts, 0.5) - IN_A_BIN) > 1) return `as many every ${BIN_MS} ms: ${about}`;
  return off > BINS / 10 ? `${off} of ${BINS} are off by a quarter: ${about}` : '';
}

for (const runners of [1, 3]) {
  test(
    `${runners} of ${runners} runners: each message once, as many every 100 ms as the rate says`,
    undisturbed(async () => {
      const arrivals = await arrivalsOf(String(runners));
      assertPlaced(arrivals, runners);
      const why = spoilt(arrivals, runners);
      timely(why === '', why);
    }),
  );
}

/** Arrivals of an open loop, each late by the given time in ms. @param {(seq: number) => number} late */
const made = (late) =>
  Array.from({ length: PLANNED }, (_, seq) => ({ at: 5000 + seq * EACH_MS + late(seq), seq }));

test('runners that begin apart, or send in bunches, are seen, and a busy machine is not taken for them', () => {
  const even = made((seq) => seq % 3);
  assertPlaced(even, 3);
  assert.equal(spoilt(even, 3), '');
  // All messages are held for 200 ms at a time, a third of the total time.
  const held = made((seq) => (seq % 120 < 40 ? 200 - (seq % 40) * EACH_MS : 0));
  assertPlaced(held, 3);
  assert.match(spoilt(held, 3), /off by a quarter/);
  const apart = made((seq) => (seq % 2 === 1 ? 60 : 0));
  assert.throws(() => assertPlaced(apart, 2), /the runners are 60 ms apart/);
  assert.throws(() => assertPlaced([...even, even[7]], 3), /came twice/);
  assert.match(spoilt(even.slice(0, -20), 3), /^780 of 800 came$/);
  assert.match(spoilt([...even, { at: 9010, seq: 801 }], 3), /^message 801 of 800 came$/);
});
