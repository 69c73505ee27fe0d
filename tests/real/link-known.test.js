/**
 * The service of a link with a known answer: plain TCP and UDP over links with a set delay, rate and loss, without a proxy.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrivalsOf, overAt, playedOf, stalledShare } from '../../lib/link/player.js';
import { countOf, roundTripsOf } from '../../lib/link/slope.js';
import { mathisMbit } from '../../lib/link/theory.js';
import { temporaryFolder } from '../support/k6.js';
import { Link } from '../support/link.js';
import { startSidecar } from '../support/sidecar.js';

const logs = temporaryFolder('link-known');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;

before(async () => {
  sidecar = await startSidecar(logs.path);
});

after(async () => {
  await sidecar.stop();
  logs.remove();
});

/** @param {string} about @param {string} text of the link @param {(link: Link, context: import('node:test').TestContext) => Promise<void>} use */
const overLink = (about, text, use) =>
  test(about, async (context) => {
    const link = await Link.start(sidecar, text);
    if (!link) {
      context.skip('there can be no link here');
      return;
    }
    try {
      await use(link, context);
    } finally {
      await link.stop();
    }
  });

overLink('a page of small objects takes six round trips', 'rtt:20ms', async (link, context) => {
  const timed = [];
  for (const rtt of [20, 120]) {
    await link.set(`rtt:${rtt}ms`);
    const fetch = { bytes: 1024, objects: 16, tunnels: 6, fresh: true };
    const { values } = await link.probe({ kind: 'fetch', fetch, count: 3 });
    timed.push({ rtt_ms: rtt, took_ms: Math.min(...values) / 1e6 });
  }
  const trips = roundTripsOf(timed[0], timed[1]);
  context.diagnostic(`${trips?.toFixed(2)} round trips`);
  // The first tunnel opens (1) and brings the document (1); then five more open (1), and three tunnels bring three objects each (3).
  assert.equal(countOf(trips), 6);
});

const STREAM = { segment_s: 0.5, ahead: 2 };
const SEGMENT = { kind: 'fetch', fetch: { bytes: 312_500 }, loop: { open: { rate_per_s: 2 } } };

/** A stream of 5 Mbit/s. @param {Link} link @param {number} count of segments */
async function streamed(link, count) {
  const samples = await link.probe({ ...SEGMENT, count });
  const arrivals = arrivalsOf(samples, STREAM.segment_s, count);
  const until = overAt(arrivals, count * STREAM.segment_s, samples.outcome.duration_s);
  return playedOf(arrivals, { ...STREAM, until_s: until });
}

overLink(
  'a video of twice the rate of the line stands still for half of the time',
  'rtt:20ms,rate:2500kbit',
  async (link, context) => {
    const played = await streamed(link, 16);
    const share = stalledShare(played);
    context.diagnostic(JSON.stringify(played));
    // A packet of 1,500 bytes has 1,448 bytes of payload: 1 - 2.5 × 0.965 / 5 = 0.52. The first picture came with two segments.
    assert.ok(share > 0.44 && share < 0.6, `${share}`);
  },
);

overLink(
  'a video stands still for as long as the link is dead, less what was ahead',
  'rtt:20ms,rate:50mbit',
  async (link, context) => {
    assert.equal((await streamed(link, 4)).stalls, 0);
    const watched = streamed(link, 12);
    await sleep(2000);
    await link.set('dead:yes');
    await sleep(2500);
    await link.set('dead:no');
    const played = await watched;
    context.diagnostic(JSON.stringify(played));
    assert.equal(played.played_s, 6);
    // TCP's own timer tries again after the link is back: the extra wait is at most the time that the link was dead.
    assert.ok(played.stalled_s > 1 && played.stalled_s < 5, `${played.stalled_s} s`);
  },
);

overLink(
  'a call loses as many packets as the link says that it lost',
  'rtt:40ms,loss:4%',
  async (link, context) => {
    const from = await link.counts();
    const { outcome } = await link.probe(
      {
        kind: 'udp',
        payload_bytes: 160,
        count: 400,
        window: 100,
        timeout_ms: 2000,
        loop: { open: { rate_per_s: 100 } },
      },
      'round_trip',
    );
    const counts = await link.counts();
    const lost = counts.up.lost - from.up.lost + counts.down.lost - from.down.lost;
    context.diagnostic(`${outcome.errors.lost} of ${outcome.attempted} lost`);
    assert.equal(outcome.errors.lost, lost);
    assert.ok(lost > 10 && lost < 80, `${lost} of 400, and 4 % are lost each way`);
  },
);

const CONGESTION = readFileSync('/proc/sys/net/ipv4/tcp_available_congestion_control', 'utf8')
  .trim()
  .split(' ');

/** @param {Link} link @param {string} congestion @param {number} seconds */
async function goodput(link, congestion, seconds) {
  const flow = { direction: 'down', warmup_s: 3, seconds, requests_per_s: 1, congestion };
  const { outcome } = await link.probe({ kind: 'flow', flow });
  return (outcome.bytes * 8) / seconds / 1e6;
}

for (const congestion of ['cubic', 'bbr'])
  overLink(`${congestion} fills a line that loses nothing`, 'rtt:50ms,rate:20mbit', async (link, context) => {
    if (!CONGESTION.includes(congestion)) {
      context.skip(`the kernel has no ${congestion}`);
      return;
    }
    const share = (await goodput(link, congestion, 4)) / 20;
    context.diagnostic(`${share.toFixed(3)} of the line`);
    // Payload is 0.965 of the line at most; bbr looks for a shorter queue now and then.
    assert.ok(share > 0.85 && share < 0.97, `${share}`);
  });

overLink('reno moves what Mathis says', 'rtt:50ms,rate:100mbit,loss:1%', async (link, context) => {
  if (!CONGESTION.includes('reno')) {
    context.skip('the kernel has no reno');
    return;
  }
  const theory = mathisMbit({ rtt_ms: 50, loss: 0.01 });
  const mbit = await goodput(link, 'reno', 10);
  context.diagnostic(`${mbit.toFixed(2)} Mbit/s, and Mathis says ${theory.toFixed(2)}`);
  // The formula has no timeouts, no limit of the receiver and no burst of losses in a window.
  assert.ok(mbit > theory / 2 && mbit < theory * 2, `${mbit} of ${theory} Mbit/s`);
});
