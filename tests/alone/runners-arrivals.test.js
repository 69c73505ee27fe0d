/** What several runners send of an open loop comes when that of one runner comes. Others beside it would be in what is counted. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { startBench } from '../support/bench.js';
import { temporaryFolder, writeEnvironment } from '../support/k6.js';
import { openEntry } from '../support/runners.js';

const RATE = 200;
const SECONDS = 6;
const BIN_MS = 100;
const IN_A_BIN = (RATE * BIN_MS) / 1000;
const BINS = (SECONDS * 1000) / BIN_MS;
const EACH_MS = 1000 / RATE;

const folder = temporaryFolder('arrivals');
after(folder.remove);

/** The value below which a share of all is. @param {number[]} values @param {number} share */
const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** What a relay got of an open loop of so many runners. @param {string} runners */
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
 * Where arrivals are in the run's schedule, in which message n is sent after n times EACH_MS. The middle message of all is taken as
 * on time: when the load began, nobody but the runners knows.
 * @param {{ at: number, seq: number }[]} arrivals
 */
function placed(arrivals) {
  const late = arrivals.map(({ at, seq }) => at - seq * EACH_MS);
  const began = quantile(late, 0.5);
  const counts = Array.from({ length: BINS }, () => 0);
  for (const { at } of arrivals) {
    const bin = Math.floor((at - began + EACH_MS / 2) / BIN_MS);
    if (bin >= 0 && bin < BINS) counts[bin] += 1;
  }
  return { counts, late };
}

for (const runners of [1, 2, 3]) {
  test(`${runners} of ${runners} runners: each message once, as many every 100 ms as the rate says`, async () => {
    const arrivals = await arrivalsOf(String(runners));
    const told = arrivals.map(({ seq }) => seq).toSorted((a, b) => a - b);
    assert.equal(new Set(told).size, told.length, 'a message came twice');
    // Whatever is late at the planned end is not sent any more.
    const planned = RATE * SECONDS;
    assert.ok(
      told.length >= 0.99 * planned && Number(told.at(-1)) <= planned,
      `${told.length} of ${planned}`,
    );

    const { counts, late } = placed(arrivals);
    const about = JSON.stringify(counts);
    assert.ok(Math.abs(quantile(counts, 0.5) - IN_A_BIN) <= 1, about);
    const off = counts.filter((count) => Math.abs(count - IN_A_BIN) > IN_A_BIN / 4);
    assert.ok(off.length <= BINS / 10, `${off.length} of ${BINS} are off by a quarter: ${about}`);

    // Where runners begin apart, the messages of one are late and those of another early, a third of all or more each.
    const apart = quantile(late, 0.9) - quantile(late, 0.1);
    assert.ok(apart < BIN_MS / 2, `most messages are as much as ${apart} ms apart`);
  });
}
