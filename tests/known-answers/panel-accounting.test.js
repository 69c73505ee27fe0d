/** Charges of a panel: the reference panel, which is right, and a panel that charges one user twice and forgets UDP. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Inbound } from '../fakes/inbound.js';
import { startBench } from '../support/bench.js';
import { withPanel } from '../support/faulty.js';
import { panelEntry, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('panel-accounting');
after(folder.remove);

/** Bytes of both ways of a user's 200 datagrams of 1,200 B. @param {number} index of the user */
const datagramsOf = (index) => 2 * 1200 * Math.ceil(200 / (1 + index / 8));

/** @param {Record<string, string>} variables @param {(found: { finding: string, result: any }) => void} look */
async function charged(variables, look) {
  const bench = startBench({ PROFILE: 'smoke', ONLY: 'panel/users-accounting', ...variables });
  try {
    await bench.ended;
    assert.ok(bench.has('panel-users-accounting.json'), bench.output.stdout + bench.output.stderr);
    const result = bench.result('panel-users-accounting');
    look({ finding: sectionOf(result, 'charges').finding, result });
  } finally {
    bench.remove();
  }
}

test('the reference panel charges its users right, and loses nothing by a restart', () =>
  charged({ TESTBED: 'panel:traffic_interval_s=1,restarts=true' }, ({ finding, result }) => {
    assert.equal(finding, 'All 10 users are charged right.');
    assert.notEqual(result.verdict, 'fail');
    const user = rowsOf(sectionOf(result, 'charges')).find(({ traffic }) => traffic.startsWith('datagrams'));
    // One more datagram of 1 B shows that the inbound has UDP.
    assert.deepEqual([user.moved, user.charged], [datagramsOf(3) + 2, datagramsOf(3) + 2]);
    const restarts = rowsOf(sectionOf(result, 'restarts'));
    for (const { what, lost, moved } of restarts) {
      assert.ok(moved > 0, what);
      assert.ok(lost <= 64 * 1024, `${what}: ${lost} of ${moved}`);
    }
    assert.deepEqual(
      restarts.map(({ what }) => what),
      ['core', 'panel'],
    );
  }));

test('a panel that charges a user twice and forgets UDP fails, and the users are named', async () => {
  const inbound = new Inbound({ doubles: 'charged0000000', forgetsUdp: true });
  const address = await inbound.listen();
  /** @param {import('../fakes/panel.js').FakePanel} panel */
  const variables = (panel) => ({
    ENV: writeEnvironment(folder.fresh(), panelEntry(panel.url), 'panel'),
    PANEL_PASSWORD: 'panel',
    PANEL_INBOUND: address,
  });
  const hooks = {
    changed: (/** @type {[any, string, string]} */ ...change) => inbound.changed(...change),
    used: (/** @type {string} */ name) => inbound.charged.get(name) ?? 0,
  };
  try {
    await withPanel(hooks, (panel) =>
      charged(variables(panel), ({ finding, result }) => {
        assert.equal(result.verdict, 'fail');
        const user = 'wt_\\w+_charged000000';
        assert.match(finding, /^3 of 10 users are charged wrongly\. /);
        assert.match(finding, new RegExp(`charged twice: ${user}0 16,777,216 B of 8,388,608 B`));
        const udp = (datagramsOf(3) + 2).toLocaleString('en');
        assert.match(
          finding,
          new RegExp(`UDP is not charged: ${user}3 0 B of ${udp} B, ${user}4 699,052 B of [\\d,]+ B\\.`),
        );
      }),
    );
  } finally {
    await inbound.stop();
  }
});
