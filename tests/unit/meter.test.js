/** Scripts ask whether a probe's end has an `error`: only an end without measurements has one. A started probe is waited for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

globalThis.__ENV = { SIDECAR_URL: 'http://127.0.0.1:1' };
const { measureAll, outcomeAtEnd, tryEnd } = await import('../../lib/meter.js');

const outcome = { attempted: 3, succeeded: 2, failed: 1, errors: { lost: 1 }, ended: 'count', series: [] };

test('a probe with an outcome has no error, and one without has one, in the order of the specs', () => {
  const refused = { kind: 'connection_refused', message: 'refused' };
  const ends = [
    { id: '1', state: 'done', outcome, error: null, series: {} },
    { id: '2', state: 'failed', outcome: null, error: refused, planned: 6 },
    { id: '3', state: 'cancelled', outcome: null, error: null },
  ];
  sidecar.end = (specs) => specs.map((_, index) => ends[index]);
  const [done, failed, cancelled] = measureAll([
    { count: 3 },
    { kind: 'throughput', connections: 3, loop: { open: { rate_per_s: 2 } } },
    {},
  ]);
  assert.ok(!('error' in done) && done.outcome.succeeded === 2);
  assert.ok('error' in failed && 'error' in cancelled);
  assert.deepEqual(failed, { error: refused, planned: { operations: 6, seconds: 3 } });
  assert.equal(cancelled.error.message, 'the probe was cancelled');
});

test('a started probe is asked for until it has ended, and is removed', () => {
  /** @type {string[]} */
  const asked = [];
  const states = ['running', 'running', 'done'];
  sidecar.send = (method, path) => {
    asked.push(`${method} ${path}`);
    return { status: 200, error: null, answer: method === 'GET' ? { state: states.shift(), outcome } : {} };
  };
  assert.deepEqual(outcomeAtEnd('7'), outcome);
  assert.deepEqual(asked, [...Array(3).fill('GET /probes/7?wait_s=5'), 'DELETE /probes/7']);
});

test('a sidecar that ended is not waited for', () => {
  sidecar.send = () => ({ status: 0, error: 'connection refused', answer: null });
  assert.equal(tryEnd('7'), null);
  assert.throws(() => outcomeAtEnd('7'), /the sidecar ended or does not answer/);
});
