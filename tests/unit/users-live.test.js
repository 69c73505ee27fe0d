/** Which user each change of users-live is about, and restarts by process ids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS, LivePlan } from '../../lib/users/live-plan.js';
import { restartsOf } from '../../lib/users/live-restarts.js';

test('no user is changed twice, and none of the untouched ones', () => {
  const sizes = { flows: 3, flowRate: 1, quiet: 1, seconds: 5, tail: 1, rate: 7, patience: 3 };
  const plan = new LivePlan(sizes, KINDS, (runId, index) => `${runId}-${index}`);
  // k6 may begin one iteration more than planned.
  const changes = Array.from({ length: 36 }, (_, index) => plan.at('run', index));
  const users = changes.map(({ user }) => user);
  assert.equal(new Set([...users, ...plan.kept('run')]).size, 39);
  assert.deepEqual(
    changes.slice(0, 5).map(({ kind }) => kind),
    ['create', 'disable', 'enable', 'delete', 'create'],
  );
  for (const { kind, user } of changes) assert.ok(plan.of('run', kind).includes(user));
});

test('each process that takes the place of another one is named', () => {
  const xray = (/** @type {number} */ pid, start = pid) => ({ pid, start, file: 'xray' });
  const python = { pid: 7, start: 7, file: 'python3' };
  const other = { pid: 99, start: 99, file: 'sh' };
  assert.deepEqual(restartsOf([[python, xray(8)], null, [python, xray(8), other]]), []);
  assert.deepEqual(restartsOf([]), []);
  // The kernel may give a pid again.
  assert.deepEqual(
    restartsOf([[python, xray(8)], [python, xray(15)], [python], [python, xray(19)], [python, xray(8, 30)]]),
    ['xray was restarted 3 times: pid 8, then 15, 19, 8'],
  );
  assert.deepEqual(restartsOf([[xray(8)], [xray(9)]]), ['xray was restarted once: pid 8, then 9']);
});
