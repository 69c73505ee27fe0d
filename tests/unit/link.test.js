/** The link as a script sees it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkParameter, withLink } from '../../lib/link-evidence.js';
import { linkOf, lossBothWays, patient, rttSeconds, wantedLink } from '../../lib/link.js';

const figure = (/** @type {number} */ asked) => ({ asked, measured: asked + 0.1, within: 0.2, ok: true });
const loss = { sent: 2000, missed: 0, counted: 0, per_1000: { ...figure(0), ok: false } };
const direction = { delay_ms: figure(90), rate_mbit_s: figure(50), queue_ms: null, loss, own_lost: 3 };
const side = { delay_ns: 90e6, jitter_ns: 0, rate_bit_s: 50e6, loss: 0 };
const end = { namespace: 'near', address: '198.18.2.1', settings: {} };

/** @type {any} */
const LINK = {
  about: {
    text: 'far',
    title: 'Half a world',
    seed: 7,
    mtu: 1500,
    settings: { up: side, down: side },
    near: end,
    far: end,
  },
  calibration: {
    ok: false,
    wrong: ['up: the link itself is the bottleneck'],
    up: direction,
    down: direction,
    carries: { mbit_s: 900, packets_s: 88_000 },
  },
};

test('a scenario has a link where the registry says that it reads LINK', (context) => {
  context.after(() => delete globalThis.__ENV.LINK);
  assert.equal(linkOf('dataplane/socks-tcp'), '');
  globalThis.__ENV.LINK = 'far';
  assert.equal(linkOf('dataplane/socks-tcp'), 'far');
  assert.equal(linkOf('link/any-of-its-scripts'), 'far');
  assert.equal(linkOf('dataplane/tproxy'), '');
  assert.equal(linkOf('pulsar/ingest'), '');
  assert.deepEqual([wantedLink('far'), wantedLink('')], [{ link: { text: 'far' } }, {}]);
  assert.deepEqual([linkParameter('far'), linkParameter('')], [{ link: 'far' }, {}]);
});

test('timeouts grow by what a link takes, and are as they were without one', () => {
  assert.equal(rttSeconds(LINK), 0.18);
  assert.equal(rttSeconds(null), 0);
  const timeouts = { timeout_ms: 300, handshake_timeout_ms: 2000 };
  assert.deepEqual(patient(timeouts, null), timeouts);
  assert.deepEqual(patient(timeouts, LINK), { timeout_ms: 3000, handshake_timeout_ms: 4700 });
  assert.deepEqual(patient({ timeout_ms: 300 }, LINK, 5), { timeout_ms: 1200 });
});

test('what a link loses of a round trip is what either way loses', () => {
  const of = (/** @type {number} */ up, /** @type {number} */ down) =>
    lossBothWays({
      about: { ...LINK.about, settings: { up: { ...side, loss: up }, down: { ...side, loss: down } } },
    });
  assert.deepEqual(
    [lossBothWays(null), of(0, 0), of(0, 0.1), of(0.5, 0.5)],
    [0, 0, 0.09999999999999998, 0.75],
  );
});

test('a run over a link shows what was asked of it beside what it is, and one without shows nothing of it', () => {
  assert.deepEqual(withLink({ sections: [] }, null), { sections: [] });
  const { sections } = withLink({ sections: [] }, LINK);
  assert.deepEqual(
    sections.map(({ name }) => name),
    ['link'],
  );
  const [{ title, columns, rows, notes }] = sections;
  assert.equal(title, 'The link far (Half a world)');
  const cells = rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])));
  // An unmeasured rate has no row. The link's own losses always have a row.
  assert.deepEqual(
    cells.filter(({ direction: way }) => way === 'up').map(({ ok, what, measured }) => [ok, what, measured]),
    [
      [true, 'delay', 90.1],
      [true, 'rate', 50.1],
      [false, 'lost of 1,000', 0.1],
      [false, 'lost by the link itself', 3],
    ],
  );
  assert.match(String(notes), /seed 7.*900 Mbit\/s.*the link itself is the bottleneck/);
});
