/** Switched users of a panel are tried at its inbound. A run that tries nobody does not pass the check. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { say, sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9', PROFILE: 'smoke' };
const { dataPlaneFacts, dataPlaneNotes, tryUsers } = await import('../../lib/panel/data-plane.js');
const { PanelLive } = await import('../../lib/panel/live.js');
const { keepKey, laterSaid } = await import('../../lib/users/live.js');

/** @param {string[]} statuses of the switched users @param {string[]} carrying names of users whose data comes back */
function found(statuses, carrying) {
  /** @type {any[]} */
  let list = [];
  sidecar.send = (_method, path, body) => {
    if (path === '/probes') list = body.users.list;
    const users = list.map(({ name }) => ({
      name,
      carried: carrying.includes(name) || /control/.test(name),
    }));
    return { error: null, answer: { id: 'one', tcp: '127.0.0.1:1', state: 'done', outcome: { users } } };
  };
  const userOf = (/** @type {string} */ username, status = 'active') => ({
    username,
    status,
    proxies: { shadowsocks: { method: 'aes-128-gcm', password: 'secret' } },
  });
  const panel = {
    createAll: () => {},
    everyone: (/** @type {any} */ _session, /** @type {string} */ search) =>
      /control/.test(search)
        ? [userOf(search)]
        : statuses.map((status, index) => userOf(`${status}-${index}`, status)),
  };
  const session = { token: null, runId: '20270101-000000-smoke-0000' };
  tryUsers(/** @type {any} */ (panel), /** @type {any} */ (session), 'disable', '127.0.0.1:1');
  return {
    said: dataPlaneFacts().map((fact) => /** @type {any} */ (fact.found).said),
    notes: dataPlaneNotes(),
  };
}

test('a disabled user that carries data is named, and so is an active one that carries none', () => {
  assert.deepEqual(found(['disabled', 'active'], ['active-1']).said, [0, 0]);
  const { said, notes } = found(['disabled', 'disabled', 'active'], ['disabled-1']);
  assert.deepEqual(said, [1, 1]);
  assert.deepEqual(notes, [
    '3 of 3 users were tried in the data plane, each with its own key',
    'disabled users that still carry data: disabled-1',
    'active users that carry no data: active-2',
  ]);
});

test('users of other states are not tried, and then nothing is checked', () => {
  assert.deepEqual(found(['limited', 'disabled'], []).said, [0, 0]);
  for (const statuses of [[], ['limited', 'expired']]) {
    const { said, notes } = found(statuses, []);
    assert.deepEqual(said, []);
    assert.match(notes.join(), /^not checked in the data plane: the panel lists \d switched users/);
  }
});

test('a restart that the panel refused says nothing about a change without effect', () => {
  const silent = { state: 'done', outcome: { users: [{ turn: { turned_ms: null } }] } };
  sidecar.send = () => ({ status: 200, error: null, answer: { id: 'one', ...silent } });
  say('live change 0', { kind: 'delete', user: 'late', effect: 'never' });
  keepKey({ name: 'late', key: 'key' });
  const sizes = { flows: 3, flowRate: 1, quiet: 1, seconds: 5, tail: 1, rate: 7, patience: 3 };
  const laterIf = (/** @type {boolean} */ accepted) => {
    say('live, later', []);
    const panel = {
      restart: () => ({ status: 200 }),
      problem: () => 'refused',
      dialect: { accepts: () => accepted },
    };
    const data = { runId: 'run', inbound: {}, echo: { id: 'e', tcp: '' }, everyMs: 10 };
    new PanelLive(sizes).settleBy(/** @type {any} */ (panel), data);
    return laterSaid().map(({ later }) => later);
  };
  assert.deepEqual(laterIf(true), ['took no effect even after a restart of the core']);
  assert.deepEqual(laterIf(false), []);
});
