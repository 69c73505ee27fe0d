import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restSeconds } from '../../lib/rest.js';

test('for how long is a number of seconds, or none', () => {
  const given = (text) => {
    globalThis.__ENV = { REST_S: text };
    return restSeconds();
  };
  assert.equal(given(undefined), 0.25);
  assert.equal(given('0'), 0);
  for (const wrong of ['-1', '11', 'long'])
    assert.throws(() => given(wrong), /^REST_S=.*: (a number from 0 to 10 s is wanted|at most 10 s)$/);
  globalThis.__ENV = {};
});
