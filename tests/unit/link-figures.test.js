/** Figures computed from the samples of probes over a link: known streams, calls and slopes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullAtOnce } from '../../lib/link/batch.js';
import { jitterMs } from '../../lib/dataplane/call.js';
import { arrivalsOf, playedOf, stalledShare } from '../../lib/link/player.js';
import { itemOf, pointsOf } from '../../lib/link/points.js';
import { toldRate } from '../../lib/link/rows.js';
import { MATRIX } from '../../lib/protocols/matrix.js';
import { countOf, roundTripsOf } from '../../lib/link/slope.js';
import { mathisMbit } from '../../lib/link/theory.js';

const STREAM = { segment_s: 0.5, ahead: 2, until_s: 10 };
/** A live stream with a segment every half second. @param {number[]} took s from each request to the complete segment */
const live = (took) => took.map((s, index) => index * 0.5 + s);

test('a stream that keeps up never stands still', () => {
  const played = playedOf(live([0.3, 0.3, 0.3, 0.3]), STREAM);
  assert.deepEqual(played, { start_s: 0.8, stalled_s: 0, stalls: 0, played_s: 2 });
  assert.equal(stalledShare(played), 0);
});

test('a far end that pauses for 2 s makes a player with two segments ahead stand still for what they do not cover', () => {
  // Segments arrive at once, until everything stops for 2 s after the third one.
  const arrivals = [0, 0.5, 1, 3.5, 3.5, 3.5, 3.5, 3.5];
  const played = playedOf(arrivals, STREAM);
  // It plays from 0.5 s on, has played three segments at 2 s, and continues at 3.5 s.
  assert.equal(played.start_s, 0.5);
  assert.equal(played.stalls, 1);
  assert.equal(played.stalled_s, 1.5);
  assert.equal(played.played_s, 4);
  assert.ok(Math.abs(stalledShare(played) - 1.5 / 5.5) < 1e-12);
});

test('a line of half the bit rate makes it stand still for half of the time', () => {
  const arrivals = Array.from({ length: 40 }, (_, index) => index + 1);
  assert.ok(Math.abs(stalledShare(playedOf(arrivals, { ...STREAM, until_s: 40 })) - 0.5) < 0.02);
});

test('what never came stands still until the end, and a stream that never began has no picture', () => {
  const played = playedOf([0.1, 0.6, null, null], STREAM);
  assert.equal(played.played_s, 1);
  assert.equal(played.stalled_s, 10 - 1.6);
  assert.equal(stalledShare(playedOf([0.1, null, 1], STREAM)), 1);
  assert.equal(stalledShare(playedOf([], STREAM)), 1);
});

test('segments are put into their places by when they were asked for', () => {
  const at = 1_700_000_000_000;
  // The second segment failed.
  const samples = { values: [100e6, 300e6], ends: [at + 100, at + 1300] };
  const [first, second, third] = arrivalsOf(samples, 0.5, 3);
  assert.ok(Math.abs(Number(first) - 0.1) < 1e-6);
  assert.equal(second, null);
  assert.ok(Math.abs(Number(third) - 1.3) < 1e-6);
  assert.deepEqual(arrivalsOf({ values: [], ends: [] }, 0.5, 2), [null, null]);
});

test("jitter is RFC 3550's: none of an even line, d where each packet differs from the last by d", () => {
  assert.equal(jitterMs(Array(100).fill(180e6)), 0);
  const zigzag = Array.from({ length: 400 }, (_, index) => 180e6 + (index % 2) * 8e6);
  assert.ok(Math.abs(Number(jitterMs(zigzag)) - 8) < 1e-6);
  assert.equal(jitterMs([1]), null);
  // After one jump of 16 ms the jitter is a sixteenth of the jump.
  assert.equal(jitterMs([0, 16e6]), 1);
});

test('round trips are the slope of two delays, and a slope between two whole numbers is none', () => {
  const trips = roundTripsOf({ rtt_ms: 20, took_ms: 65 }, { rtt_ms: 120, took_ms: 367 });
  assert.ok(Math.abs(Number(trips) - 3.02) < 1e-9);
  assert.equal(countOf(trips), 3);
  assert.equal(countOf(3.4), null);
  assert.equal(countOf(null), null);
  assert.equal(roundTripsOf({ rtt_ms: 20, took_ms: null }, { rtt_ms: 120, took_ms: 5 }), null);
});

test("Mathis' formula has the figure of the preset's own comment", () => {
  // links/far.toml: 180 ms and 0.5 %.
  assert.ok(Math.abs(mathisMbit({ rtt_ms: 180, loss: 0.005 }) - 1.11) < 0.01);
  assert.equal(mathisMbit({ rtt_ms: 180, loss: 0 }), Infinity);
});

test('points of a curve are written as a link takes them, and what is none is refused', () => {
  const points = pointsOf(['0', '0.1', '10%'], ['50', '200ms']);
  assert.deepEqual(points.map(itemOf), ['loss:0%', 'loss:0.1%', 'loss:10%', 'rtt:50ms', 'rtt:200ms']);
  for (const [losses, rtts, line] of /** @type {[string[], string[], RegExp][]} */ ([
    [['a'], [], /^LOSSES=a: give numbers from 0 to 99/],
    [['100'], [], /^LOSSES=100/],
    [[''], [], /^LOSSES=/],
    [[], ['0'], /^RTTS=0/],
    [['1', '1%'], [], /^LOSSES: a value is there twice/],
  ]))
    assert.throws(
      () => pointsOf(losses, rtts),
      (thrown) => line.test(String(thrown)),
    );
});

test('a protocol that has to be told its rate is told that of the slower way', () => {
  const row = (/** @type {string} */ name) =>
    /** @type {import('../../lib/protocols/matrix.js').Row} */ (MATRIX.find(({ row: own }) => own === name));
  const link = (/** @type {number | null} */ up, /** @type {number | null} */ down) =>
    /** @type {any} */ ({ about: { settings: { up: { rate_bit_s: up }, down: { rate_bit_s: down } } } });
  assert.deepEqual(toldRate(row('hysteria2-brutal'), link(20e6, 200e6)), { brutal_mbps: 20 });
  assert.deepEqual(toldRate(row('hysteria2-brutal'), link(null, null)), {});
  assert.deepEqual(toldRate(row('hysteria2-brutal'), null), {});
  assert.deepEqual(toldRate(row('trojan'), link(20e6, 20e6)), {});
});

test('as many lines are full at once as have 200 Mbit/s together, by the faster direction', () => {
  const both = (/** @type {number} */ mbit) => [mbit * 1e6, mbit * 1e6];
  assert.equal(fullAtOnce(both(50)), 4);
  assert.equal(fullAtOnce([...both(50), ...both(50)]), 4);
  assert.equal(fullAtOnce([20e6, 200e6]), 1);
  assert.equal(fullAtOnce(both(300)), 1);
  assert.equal(fullAtOnce(both(0.008)), 8);
  // A line without a rate takes the machine's whole capacity.
  assert.equal(fullAtOnce([null, 10e6]), 1);
});
