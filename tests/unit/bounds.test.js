/** The bounds that judge a scenario's operations. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { boundsOf } from '../../lib/bounds.js';

beforeEach(() => {
  globalThis.__ENV = {};
});

/** @param {Record<string, Record<string, number>>} own thresholds of the environment */
const boundsWith = (own) =>
  boundsOf(
    /** @type {any} */ ({
      name: 'ingest',
      environment: { thresholds: { ingest: own } },
      operations: { publish: { bounds: { 'p(95)': 500, errors: 2 } }, poll: {} },
    }),
  );

test('what the scenario says comes before what every run has, and the environment before both', () => {
  assert.deepEqual(boundsWith({}), {
    publish: { failed: 0, errors: 2, 'p(95)': 500 },
    poll: { failed: 0, errors: 0 },
  });
  assert.deepEqual(boundsWith({ publish: { 'p(95)': 100, failed: 0.1 } }), {
    publish: { failed: 0.1, errors: 2, 'p(95)': 100 },
    poll: { failed: 0, errors: 0 },
  });
});

test('a long run may have a stray failure and no anomaly', () => {
  globalThis.__ENV = { PROFILE: 'full' };
  assert.deepEqual(boundsWith({}).poll, { failed: 0.001, anomalies: 0 });
});

test('a threshold of no operation is a mistake, unless it is of a loop that the profile does not have', () => {
  assert.throws(
    () => boundsWith({ pubish: { failed: 0 } }),
    (thrown) =>
      /^thresholds\.ingest\.pubish: no such operation; there are publish, poll$/.test(String(thrown)),
  );
  assert.deepEqual(boundsWith({ publish_open: { failed: 1 } }), boundsWith({}));
});
