import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { PROFILES, clientLoad, mostClients, requestLoad } from '../../lib/profiles.js';

const base = { clients: 3, smoke: 10, quick: 100, rate: 50 };
const clients = { clients: 4, smoke: 4, quick: 8, peak: 2 };

beforeEach(() => {
  globalThis.__ENV = {};
});

/** @param {Record<string, string>} values */
function given(values) {
  globalThis.__ENV = values;
}

test('smoke is the profile unless another is given, and every name is known to both families', () => {
  assert.equal(requestLoad(base, 'MESSAGES').scenarios.closed.vus, 3);
  for (const PROFILE of PROFILES) {
    given({ PROFILE });
    assert.ok(Object.keys(requestLoad(base, 'MESSAGES').scenarios).length > 0, PROFILE);
    assert.ok(Object.keys(clientLoad(clients, 'ROUNDS').scenarios).length > 0, PROFILE);
  }
});

test('a fixed load deals iterations evenly, rounding up', () => {
  given({ PROFILE: 'quick' });
  const load = requestLoad(base, 'MESSAGES');
  assert.deepEqual(
    [load.scenarios.closed.vus, load.scenarios.closed.iterations, load.iterations],
    [3, 34, 102],
  );
});

test('variables override the base figures', () => {
  given({ PROFILE: 'quick', MESSAGES: '20', CLIENTS: '2' });
  assert.equal(requestLoad(base, 'MESSAGES').iterations, 20);
  assert.equal(clientLoad(clients, 'ROUNDS').scenarios.closed.vus, 2);
});

test('TIMES multiplies a fixed number, whoever says it, and nothing that time bounds', () => {
  given({ PROFILE: 'quick', TIMES: '3' });
  assert.deepEqual([requestLoad(base, 'MESSAGES').iterations, requestLoad(base, 'MESSAGES').times], [306, 3]);
  given({ PROFILE: 'quick', TIMES: '3', ROUNDS: '2', CLIENTS: '2' });
  assert.equal(clientLoad(clients, 'ROUNDS').iterations, 6);
  given({ PROFILE: 'full', TIMES: '3', DURATION: '10s' });
  const { iterations, times, seconds } = requestLoad(base, 'MESSAGES');
  assert.deepEqual([iterations, times, seconds], [undefined, undefined, 21]);
  given({ PROFILE: 'quick', TIMES: '1.5' });
  assert.throws(() => requestLoad(base, 'MESSAGES'), /TIMES=1.5: a whole number from 1 to 100 is wanted/);
});

test('full has a closed loop, then an open one at the rate', () => {
  given({ PROFILE: 'full', DURATION: '10s', RATE: '100' });
  const load = requestLoad(base, 'MESSAGES');
  assert.deepEqual(Object.keys(load.scenarios), ['closed', 'open']);
  assert.equal(load.scenarios.open.startTime, '11000ms');
  assert.deepEqual(load.schedule, { start: 100, steps: [{ target: 100, seconds: 10 }] });
  assert.equal(load.seconds, 21);
});

test('DURATION scales a shape and keeps its proportions', () => {
  given({ PROFILE: 'stress', DURATION: '12s', RATE: '40' });
  const { schedule, seconds } = requestLoad(base, 'MESSAGES');
  assert.equal(seconds, 12);
  assert.deepEqual(
    schedule.steps.map((step) => step.target),
    [20, 20, 40, 40, 60, 60, 80, 80],
  );
  assert.deepEqual(
    schedule.steps.slice(0, 2).map((step) => step.seconds),
    [0.5, 2.5],
  );
});

test('the open loop has virtual users for a stall of a second and a half at its peak', () => {
  given({ PROFILE: 'spike', RATE: '20' });
  assert.equal(requestLoad(base, 'MESSAGES').scenarios.open.maxVUs, 20 * 5 * 1.5 + 10);
});

test('mostClients sees the tallest step', () => {
  given({ PROFILE: 'spike' });
  assert.equal(mostClients(clientLoad(clients, 'ROUNDS')), 10);
});

for (const [values, message] of /** @type {[Record<string, string>, RegExp][]} */ ([
  [{ PROFILE: 'smoek' }, /PROFILE=smoek: unknown profile; choose one of smoke, quick/],
  [{ MESSAGES: '0' }, /MESSAGES=0: a whole number from 1/],
  [{ MESSAGES: '1.5' }, /MESSAGES=1.5: a whole number/],
  [{ CLIENTS: 'many' }, /CLIENTS=many/],
  [{ CLIENTS: '1000000' }, /^CLIENTS=1000000: at most 10,000$/],
  [{ MESSAGES: '10000001' }, /^MESSAGES=10000001: at most 10,000,000$/],
  [{ PROFILE: 'soak', RATE: '1e6' }, /^RATE=1e6: at most 100,000$/],
  [{ PROFILE: 'soak', DURATION: 'long' }, /DURATION=long: write it as/],
  [{ PROFILE: 'soak', DURATION: '48h' }, /DURATION=48h/],
])) {
  test(`refuses ${JSON.stringify(values)} in one line`, () => {
    given(values);
    assert.throws(
      () => requestLoad(base, 'MESSAGES'),
      (thrown) => typeof thrown === 'string' && message.test(thrown),
    );
  });
}
