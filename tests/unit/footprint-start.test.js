/** How long a reload refuses new connections, and which testbeds footprint/start takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE_MS, refusedMs, stallMs, tunnelsOf } from '../../lib/footprint/reload.js';
import { engineOf } from '../../lib/footprint/rules.js';

/** A dial each 10 ms. @param {string} words such as 'ok no' */
const dialsOf = (words) =>
  words.split(' ').map((word, index) => ({ from: index * 10, ms: 1, ok: word === 'ok' }));

test('a refusal lasts from the first failure to the next success', () => {
  assert.equal(refusedMs(dialsOf('ok ok ok')), 0);
  assert.equal(refusedMs(dialsOf('ok no no ok ok')), 20);
  assert.equal(refusedMs(dialsOf('no ok no ok')), 30, 'successes in between do not end it');
  assert.equal(refusedMs(dialsOf('ok no no')), null, 'it is not back');
  assert.equal(refusedMs(dialsOf('ok ok ok'), 'the program ended'), null, 'it ended after the last dial');
});

test('the silence of a dropped tunnel is half of the time after the reload, in whole ms', () => {
  assert.equal(stallMs(1.3), 500);
  // Three starts of 623.2 ms.
  assert.equal(stallMs(0.3 + (3 * 623.2) / 1000), 935);
  assert.equal(stallMs(600), 60_000);
});

test('a tunnel that carries nothing after a reload is dropped, and late answers show', () => {
  const ORDERED = 1_000_310;
  /** @param {({ kind: string, at_s: number } | null)[]} died @param {Record<string, number>} [errors] */
  const of = (died, errors = {}) =>
    tunnelsOf(
      {
        flow: { began_unix_us: 1_000_000_000, tunnels: died.map((one) => ({ died: one })) },
        series: [{ name: 'round_trip', max_ns: 2e6 }],
        errors,
      },
      ORDERED,
    );
  const [silent, never] = [0.26, 0].map((at_s) => ({ kind: 'stalled', at_s }));
  const closed = { kind: 'closed', at_s: 0.32 };
  assert.deepEqual(of([null, null]), { dropped: 0, answer_ms: 2, ends: {} });
  assert.deepEqual(of([silent, closed, null]), { dropped: 2, answer_ms: 2, ends: { stalled: 1, closed: 1 } });
  assert.equal(of([silent]).answer_ms, null);
  assert.equal(of([null], { timeout: 1 }).answer_ms, PATIENCE_MS);
  assert.equal(of([{ ...closed, at_s: 0.3 }]).dropped, null, 'it ended before the reload');
  assert.equal(of([never]).dropped, null, 'it carried nothing before the reload');
});

test('the engine comes from the testbed of the run', () => {
  /** @param {string} testbed @param {Record<string, string | boolean>} variables */
  const of = (testbed, variables) => engineOf({ testbed, variables, versions: {} });
  assert.deepEqual(of('xray', { binary: '/x', tls: false, auth: false }), { engine: 'xray', binary: '/x' });
  assert.deepEqual(of('rules', { engine: 'sing-box', rules: '9' }), { engine: 'sing-box' });
  assert.match(String(of('microsocks', {})), /choose TESTBED=sing-box, xray or rules/);
  assert.match(String(of('xray', { tls: true })), /leave out auth and tls/);
  assert.match(String(engineOf(null)), /choose TESTBED/);
});
