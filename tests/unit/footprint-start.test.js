/** How long a reload refuses new connections, and which testbeds footprint/start takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedMs } from '../../lib/footprint/reload.js';
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

test('the engine comes from the testbed of the run', () => {
  /** @param {string} testbed @param {Record<string, string | boolean>} variables */
  const of = (testbed, variables) => engineOf({ testbed, variables, versions: {} });
  assert.deepEqual(of('xray', { binary: '/x', tls: false, auth: false }), { engine: 'xray', binary: '/x' });
  assert.deepEqual(of('rules', { engine: 'sing-box', rules: '9' }), { engine: 'sing-box' });
  assert.match(String(of('microsocks', {})), /choose TESTBED=sing-box, xray or rules/);
  assert.match(String(of('xray', { tls: true })), /leave out auth and tls/);
  assert.match(String(engineOf(null)), /choose TESTBED/);
});
