import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restOf, restSeconds } from '../../lib/rest.js';

test('each process has what it did before the load and after it', () => {
  const at = (name, cpu) => ({ name, cpu_percent: cpu, wakeups_per_s: 7 });
  assert.deepEqual(restOf([at('a', 1), at('b', 2)], [at('a', 99)]), [
    { name: 'a', before: { cpu_percent: 1, wakeups_per_s: 7 }, after: { cpu_percent: 99, wakeups_per_s: 7 } },
    { name: 'b', before: { cpu_percent: 2, wakeups_per_s: 7 }, after: null },
  ]);
  assert.equal(restOf(null, null), null);
  assert.equal(restOf(null, [at('a', 1)])?.[0].before, null);
});

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
