/** Two runs of a row over one link with the same seed lose the same packets, take the same round trips, and differ little in goodput. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countOf } from '../../lib/link/slope.js';
import { temporaryFolder } from '../support/k6.js';
import { repeated } from '../support/repeat.js';
import { startSidecar } from '../support/sidecar.js';

const ROW = 'trojan';
const SIZES = { batches: 2, datagrams: 250, warmup_s: 1, seconds: 3 };
/** docs/benchmarks.md has the error; a machine that is busy with other tests has this much room beyond. */
const APART_MOST = 0.5;

const logs = temporaryFolder('link-repeat');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;

before(async () => {
  sidecar = await startSidecar(logs.path);
});

after(async () => {
  await sidecar.stop();
  logs.remove();
});

test('two runs of one seed agree, and another seed loses other packets', async (context) => {
  const all = [];
  for (const link of ['far', 'far', 'far,seed:2']) {
    const one = await repeated(sidecar, ROW, link, SIZES);
    if (!one) {
      context.skip('there can be no link here');
      return;
    }
    context.diagnostic(`${link}: ${JSON.stringify(one)}`);
    all.push(one);
  }
  const [first, second, other] = all;
  assert.deepEqual(first.lost, second.lost);
  assert.notDeepEqual(first.lost, other.lost);
  assert.deepEqual(
    [first, second].map(({ roundTrips }) => countOf(roundTrips)),
    [3, 3],
  );
  const goodputs = [first.mbit, second.mbit];
  assert.ok(
    Math.max(...goodputs) / Math.min(...goodputs) - 1 <= APART_MOST,
    `${goodputs.join(' and ')} Mbit/s`,
  );
});
