/** Memory per tunnel of a proxy that allocates a known amount for each tunnel and keeps it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { within } from '../support/faulty.js';
import { ROOT } from '../support/k6.js';
import { protocolRows, rowsOf, sectionOf } from '../support/sections.js';

/** The amount in tests/fixtures/known-memory. Python itself needs a tenth of it per connection. */
const TUNNEL_BYTES = 256 * 1024;

for (const [profile, variables] of Object.entries({
  smoke: { TUNNELS: '10,100' },
  quick: { TUNNELS: '60', SECONDS: '1' },
})) {
  test(`${profile} tells the memory of a tunnel, whatever the process has opened before`, async () => {
    const TESTBED = `socks-pair:binary=${join(ROOT, 'tests/fixtures/known-memory')}`;
    const bench = startBench({ PROFILE: profile, ONLY: 'dataplane/concurrency', TESTBED, ...variables });
    try {
      const code = await bench.ended;
      assert.ok([0, 3].includes(/** @type {number} */ (code)), bench.output.stdout + bench.output.stderr);
      const tunnels = rowsOf(sectionOf(bench.result('dataplane-concurrency'), 'tunnels'));
      const each = (tunnels.at(-1)?.kib_each ?? 0) * 1024;
      assert.ok(each <= TUNNEL_BYTES * 1.3, `no busy machine makes a tunnel larger: ${each} bytes`);
      within(each, TUNNEL_BYTES * 1.08, 0.15);
      if (tunnels.length > 1) assert.equal(tunnels[0].kib_each, null, 'ten tunnels are too few');
    } finally {
      bench.remove();
    }
  });
}

test('the matrix tells the memory with tunnels, whatever the processes of the transfers have grown by', async () => {
  const bench = startBench({
    PROFILE: 'smoke',
    ONLY: 'protocols/matrix',
    PROTOCOL: 'http',
    TUNNELS: '100,10',
    BASELINE: join(ROOT, 'tests/fixtures/known-memory'),
  });
  try {
    await bench.ended;
    const { outcome, detail, figures } = protocolRows(bench.result('protocols-matrix'))[0].baseline;
    assert.equal(outcome, 'measured', detail);
    const [few, many] = [10, 100].map((count) => figures[`tunnels_${count}_anon_mib`].median);
    within(many - few, (90 * TUNNEL_BYTES * 1.08) / 1024 ** 2, 0.2);
    // Transfers allocate 64 MiB that the proxy never frees.
    assert.ok(many + 20 < figures.peak_anon_mib.median, `${many} and ${figures.peak_anon_mib.median} MiB`);
  } finally {
    bench.remove();
  }
});
