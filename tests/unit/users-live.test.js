/** Which user each change of users-live is about, and restarts by process ids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS, LivePlan } from '../../lib/users/live-plan.js';
import { restartsOf } from '../../lib/users/live-restarts.js';
import { LiveShown } from '../../lib/users/live-shown.js';
import { Live, keepKey } from '../../lib/users/live.js';
import { samples, say, sidecar } from '../fakes/k6-record.js';

const sizes = { flows: 3, flowRate: 1, quiet: 1, seconds: 5, tail: 1, rate: 7, patience: 3 };

test('no user is changed twice, and none of the untouched ones', () => {
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

test('a change beyond the most tries is counted, is no failure of the system, and lets no run pass', () => {
  const plan = new LivePlan(sizes, ['create', 'delete'], (runId, index) => `${runId}-${index}`);
  sidecar.send = () => ({ status: 409, answer: null, error: '64 probes run, and more are not started' });
  const data = /** @type {any} */ ({
    runId: 'run',
    wallOffset: 0,
    inbound: {},
    echo: { tcp: '' },
    everyMs: 10,
  });
  new Live(plan).change(data, 0, (_kind, name, timed) => {
    keepKey({ name, key: 'key' });
    return timed(() => true);
  });
  assert.deepEqual(samples, []);
  const shown = new LiveShown(plan);
  const [{ columns, rows }] = shown.sections();
  const of = (/** @type {string} */ name) => rows[0][columns.findIndex((column) => column.name === name)];
  assert.deepEqual([of('changes'), of('never'), of('untried')], [1, 0, 1]);
  assert.deepEqual(shown.facts()[1].found, { said: null });
  assert.match(shown.notes().join('\n'), /not tried \(the sidecar .* a lower RATE\): create run-3$/);
});

test('flows of refused users that could not be kept open are not said to live', () => {
  const plan = new LivePlan(sizes, ['create', 'delete'], (runId, index) => `${runId}-${index}`);
  say('live flows', { opened: 0, asked: 3, lost: [], course: [], left: [], leaving: 0, watched_until: 9 });
  say('live change 1', { kind: 'delete', user: 'run-21', sent: 1, answered: 2, effect: 'untried' });
  const [{ notes }] = new LiveShown(plan).sections();
  assert.match(notes.join('\n'), /^Open flows of deleted users were not measured\.$/m);
});
