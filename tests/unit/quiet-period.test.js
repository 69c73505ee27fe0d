/** The quiet period lies between the load and the first request of the clean-up. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9', PROFILE: 'smoke' };
const { afterRest, waitAfterLoad, withQuiet } = await import('../../lib/rest.js');

/** @type {unknown[]} */
const calls = [];
sidecar.send = (...asked) => {
  calls.push(asked);
  return { answer: {}, error: null };
};
const cleanUp = () => calls.push('cleaned up');
const quiet = (/** @type {object} */ body, /** @type {number} */ timeout) => [
  'POST',
  '/windows/w1/quiet',
  body,
  timeout,
];

beforeEach(() => {
  calls.length = 0;
});

test('the sidecar waits for the profile’s time, then the target is cleaned up', () => {
  afterRest('w1', { closesAll: true }, cleanUp)();
  assert.deepEqual(calls, [
    quiet({ seconds: 1, rest_s: 0.25, settle_s: 5, closes_all: true }, 15_000),
    'cleaned up',
  ]);
  assert.equal(waitAfterLoad(), 5);
  calls.length = 0;
  Object.assign(/** @type {any} */ (globalThis).__ENV, { PROFILE: 'quick', REST_S: '10' });
  assert.deepEqual(withQuiet({ clients: 9 }), { clients: 9 });
  afterRest('w1', { closesAll: true }, cleanUp)();
  assert.deepEqual(calls, [
    quiet({ seconds: 2, rest_s: 10, settle_s: 5, closes_all: true }, 20_000),
    'cleaned up',
  ]);
  assert.equal(waitAfterLoad(), 10);
});

test('processes that nobody watched before the load are not watched at rest after it', () => {
  afterRest('w1', { ownInstances: true }, cleanUp)();
  assert.deepEqual(calls, [
    quiet({ seconds: 2, rest_s: 0, settle_s: 5, closes_all: false }, 15_000),
    'cleaned up',
  ]);
});

test('QUIET_S sets another time, which is a parameter of the run', () => {
  Object.assign(/** @type {any} */ (globalThis).__ENV, { QUIET_S: '0.5', REST_S: '0' });
  afterRest('w1', { closesAll: true }, cleanUp)();
  assert.deepEqual(calls[0], quiet({ seconds: 0.5, rest_s: 0, settle_s: 5, closes_all: true }, 15_000));
  assert.deepEqual(withQuiet({ clients: 9 }), { quiet_s: 0.5, clients: 9 });
});

test('without a window nobody waits', () => {
  afterRest(null, { closesAll: true }, cleanUp)();
  assert.deepEqual(calls, ['cleaned up']);
});
