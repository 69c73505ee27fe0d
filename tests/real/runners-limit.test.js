/** The profile breakpoint with several runners: on a relay of a known capacity, and on the real one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { startBench } from '../support/bench.js';
import { temporaryFolder, writeEnvironment } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertTornDown, openEntry } from '../support/runners.js';
import { withSystems } from '../support/systems.js';
import { timely } from '../support/timely.js';
import { assertVerdict, isSpoilt } from '../support/verdict.js';

const folder = temporaryFolder('runners-limit');
after(folder.remove);

/**
 * The limit that a number of runners finds, in requests a second: the last step that held, and the first that did not.
 * @param {Record<string, string>} variables
 */
async function limitOf(variables) {
  const bench = startBench({ PROFILE: 'breakpoint', ...variables });
  try {
    const code = await bench.ended;
    // Beside other files a relay may not even hold the first step.
    timely([0, 3].includes(Number(code)), `${code}: ${bench.output.stdout}${bench.output.stderr}`);
    const result = bench.result(variables.ONLY.replace('/', '-'));
    const notes = result.notes.join('\n');
    const found = /^the limit: (\d+) requests a second held, (\d+) requests a second did not$/m.exec(notes);
    // A busy machine may leave a step without a measurement.
    timely(found !== null || !isSpoilt(result), reasonsOf(result).join('\n'));
    assertVerdict(result, 'pass');
    assertTornDown(bench);
    assert.ok(found, notes);
    return { held: Number(found[1]), broke: Number(found[2]), result };
  } finally {
    bench.remove();
  }
}

// One runner is in tests/known-answers/breakpoint.test.js, and two are below.
for (const runners of ['3']) {
  test(`a capacity of 25 requests a second is the limit that ${runners} of ${runners} runners find`, async () => {
    const relay = await startRelay({ capacityPerSecond: 25 });
    try {
      // As tests/known-answers/breakpoint.test.js has it: steps of 4 s at 10, 20, 30 … requests a second, the whole load's.
      const { held, broke } = await limitOf({
        ONLY: 'pulsar/concurrent',
        RATE: '10',
        DURATION: '80s',
        RUNNERS: runners,
        ENV: writeEnvironment(folder.path, openEntry(relay.url)),
      });
      assert.ok([20, 30].includes(held) && broke === held + 10, `${held}, ${broke}`);
      assert.equal(relay.truth.topics.size, 0, 'the topics are removed');
    } finally {
      await relay.stop();
    }
  });
}

test('the real relay has a limit, and two runners find it together', () =>
  withSystems(['pulsar'], async ({ variables }) => {
    const load = { ONLY: 'pulsar/concurrent', RATE: '150', DURATION: '60s', RUNNERS: '2' };
    const { broke, result } = await limitOf({ ...variables, ...load });
    assert.ok(broke > 150, `${broke}`);
    assert.equal(result.runners.length, 2);
  }));
