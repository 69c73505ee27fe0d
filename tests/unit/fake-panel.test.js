/** Behaviour of the fake panel that is not obvious from its code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPanel } from '../fakes/panel.js';

/** @param {string} username */
const user = (username) => ({
  username,
  proxies: { shadowsocks: {} },
  inbounds: { shadowsocks: ['Shadowsocks TCP'] },
});

/** @param {import('../fakes/panel.js').FakePanel} panel */
async function session(panel) {
  const logIn = async () => {
    const form = new URLSearchParams({ username: 'admin', password: 'panel' });
    const answer = await fetch(`${panel.url}/api/admin/token`, { method: 'POST', body: form });
    return /** @type {any} */ (await answer.json()).access_token;
  };
  const state = { token: await logIn() };
  return {
    logIn: async () => void (state.token = await logIn()),
    /** @param {string} method @param {string} path @param {object} [body] */
    ask: async (method, path, body) => {
      const answer = await fetch(panel.url + path, {
        method,
        headers: { authorization: `Bearer ${state.token}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      const json = answer.headers.get('content-type') === 'application/json';
      return {
        status: answer.status,
        body: json ? JSON.parse(text) : text,
        timing: answer.headers.get('server-timing'),
      };
    },
  };
}

/**
 * @param {import('../fakes/panel.js').Faults} faults
 * @param {(panel: import('../fakes/panel.js').FakePanel, client: Awaited<ReturnType<typeof session>>) => Promise<void>} body
 */
async function withPanel(faults, body) {
  const panel = await startPanel(faults);
  try {
    await body(panel, await session(panel));
  } finally {
    await panel.stop();
  }
}

test('the fake panel knows who was lost, lied about and left', async () => {
  await withPanel({ lostEvery: 2, statusLieEvery: 2, foreign: ['old'] }, async (panel, { ask }) => {
    for (const name of ['anna', 'bert', 'cora'])
      assert.equal((await ask('POST', '/api/user', user(name))).status, 200);
    assert.equal((await ask('GET', '/api/user/bert')).status, 404);
    assert.equal((await ask('PUT', '/api/user/anna', { status: 'disabled' })).body.status, 'disabled');
    assert.equal((await ask('PUT', '/api/user/cora', { status: 'disabled' })).body.status, 'active');
    assert.equal((await ask('DELETE', '/api/user/anna')).status, 200);
    const { created, lost, disabled, lied, deleted, violations, mistakes } = panel.truth;
    assert.deepEqual([created, lost, disabled, lied, deleted], [3, 1, 1, 1, 1]);
    assert.deepEqual([panel.left(), panel.users()], [['cora'], ['old', 'cora']]);
    assert.deepEqual([violations, mistakes], [[], []]);
    await ask('PUT', '/api/user/old', { status: 'disabled' });
    assert.deepEqual(violations, ['PUT old']);
  });
});

test('a worn-out token is refused, a new one is not, unless all are', async () => {
  for (const everyTokenDead of [false, true]) {
    await withPanel({ tokenRequests: 2, everyTokenDead }, async (panel, { ask, logIn }) => {
      const before = [
        await ask('GET', '/api/core'),
        await ask('GET', '/api/core'),
        await ask('GET', '/api/core'),
      ];
      assert.deepEqual(
        before.map(({ status }) => status),
        [200, 200, 401],
      );
      await logIn();
      assert.equal((await ask('GET', '/api/core')).status, everyTokenDead ? 401 : 200);
      assert.equal(panel.truth.logins, 2);
    });
  }
});

test('the header and the histogram tell the same durations', async () => {
  /** @type {[string, number][]} */
  const read = [
    ['route', 5],
    ['database', 1.5],
    ['database', 0.4],
  ];
  await withPanel({ timings: { read }, prometheus: true }, async (panel, { ask }) => {
    const { timing } = await ask('GET', '/api/user/nobody');
    assert.equal(timing, 'route;dur=5.000, database;dur=1.500, database;dur=0.400');
    assert.equal((await ask('GET', '/api/core')).timing, null);
    const { body } = await ask('GET', '/metrics');
    const labels = 'component="database",route="GET /api/user/{username}"';
    assert.match(body, new RegExp(`_bucket\\{${labels.replace(/[{}]/g, '\\$&')},le="0.0005"\\} 1.0`));
    assert.match(body, new RegExp(`_count\\{${labels.replace(/[{}]/g, '\\$&')}\\} 2.0`));
    assert.deepEqual(panel.truth.timed, { read: 1 });
  });
});

test('what Marzban refuses is a mistake', async () => {
  await withPanel({}, async (panel, { ask }) => {
    const json = await fetch(`${panel.url}/api/admin/token`, { method: 'POST', body: '{}' });
    assert.equal(json.status, 422);
    assert.equal((await fetch(`${panel.url}/api/users`)).status, 401);
    await ask('POST', '/api/user', { username: 'anna', proxies: { shadowsocks: {} } });
    await ask('PUT', '/api/user/anna', { status: 'limited' });
    await ask('PATCH', '/api/user/anna', {});
    assert.deepEqual(panel.truth.mistakes, [
      'a log-in that is no form',
      'a create without inbounds',
      'a modification to status limited',
      'PATCH /api/user/anna',
    ]);
  });
});
