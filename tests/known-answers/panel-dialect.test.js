/** Panels that speak another dialect than Marzban's are measured by their dialect file alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startThreeXUi } from '../fakes/panel-3x-ui.js';
import { startThreeXUiOne } from '../fakes/panel-3x-ui-1.js';
import { withPanel } from '../support/faulty.js';
import { operation, runPanel } from '../support/k6.js';
import { assertVerdict } from '../support/verdict.js';

const TOKEN = 'a-token-of-3x-ui';
const THREE = {
  dialect: '3x-ui',
  auth: { mode: 'token', token_env: 'PANEL_TOKEN' },
  user: { client: { limitIp: 2, flow: 'xtls-rprx-vision' }, inboundIds: [1] },
};
const PASARGUARD = { dialect: 'pasarguard', user: { proxy_settings: {}, group_ids: [1] } };
const ONE = { dialect: '3x-ui-1', user: { id: 1, method: 'chacha20-ietf-poly1305' } };
const FEW = { PANEL_TOKEN: TOKEN, USERS: '20', CLIENTS: '4', PAGES: '20', REQUESTS: '100' };

/** @param {number} [refuseEvery] @param {(panel: Awaited<ReturnType<typeof startThreeXUi>>) => Promise<void>} body */
async function withThree(refuseEvery, body) {
  const panel = await startThreeXUi({ token: TOKEN, refuseEvery });
  try {
    await body(panel);
    assert.deepEqual(panel.mistakes, []);
    assert.equal(panel.clients.size, 0, 'its users are removed');
  } finally {
    await panel.stop();
  }
}

test('3x-ui and PasarGuard are measured, and the users of the run are removed', async () => {
  await withThree(undefined, async (panel) => {
    for (const name of ['users-lifecycle', 'users-list', 'mixed']) {
      const { code, result, stderr } = await runPanel(name, panel.url, FEW, THREE);
      assertVerdict(result, 'pass', code);
      assert.equal(stderr, '');
    }
  });
  await withPanel({ dialect: 'pasarguard' }, async (panel) => {
    const { code, result, stderr } = await runPanel('users-lifecycle', panel.url, FEW, PASARGUARD);
    assertVerdict(result, 'pass', code);
    assert.equal(stderr, '');
    assert.deepEqual(panel.left(), []);
  });
});

/** @param {(panel: Awaited<ReturnType<typeof startThreeXUiOne>>) => Promise<void>} body */
async function withOne(body) {
  const panel = await startThreeXUiOne({ password: 'panel' });
  try {
    await body(panel);
    assert.deepEqual(panel.mistakes, []);
  } finally {
    await panel.stop();
  }
}

test('3x-ui 1.7.9 is measured by one client, with a cookie and a list without pages', async () => {
  await withOne(async (panel) => {
    const one = { ...FEW, CLIENTS: '1' };
    for (const name of ['users-lifecycle', 'users-disable', 'mixed']) {
      const { code, result, stderr } = await runPanel(name, panel.url, one, ONE);
      assertVerdict(result, 'pass', code);
      assert.equal(stderr, '');
      assert.deepEqual(panel.names(), ['keeper'], 'its users are removed, and no other');
    }
    await assert.rejects(
      runPanel('users-list', panel.url, one, ONE),
      /3x-ui 1\.7\.9 lists its users without pages/,
    );
    await assert.rejects(
      runPanel('users-create', panel.url, { ...one, PANEL_PASSWORD: 'wrong' }, ONE),
      /the answer to the log-in sets no cookie session: HTTP 200/,
    );
  });
});

test('users that a panel loses when they are created at once fail the run', async () => {
  await withOne(async (panel) => {
    const { result } = await runPanel('users-create', panel.url, FEW, ONE);
    assertVerdict(result, 'fail');
    assert.ok(
      result.integrity.some((/** @type {any} */ { ok }) => !ok),
      JSON.stringify(result.integrity),
    );
    assert.deepEqual(panel.names(), ['keeper']);
  });
});

test('a refusal with status 200 is a failure', async () => {
  // Warm-up makes 20 changes.
  await withThree(25, async (panel) => {
    const { result } = await runPanel('users-create', panel.url, FEW, THREE);
    const { success, errors, error_details: details } = operation(result, 'create');
    assert.deepEqual([success, errors], [19, { bad_response: 1 }]);
    assert.equal(details[0].detail, 'HTTP 200: a refusal: success is not true');
    assertVerdict(result, 'fail');
  });
});

test('an answer of another status than the dialect has is a failure', async () => {
  await withPanel({ dialect: 'pasarguard', statuses: { delete: 202 } }, async (panel) => {
    await assert.rejects(
      runPanel('users-create', panel.url, FEW, PASARGUARD),
      /removing a user: HTTP 202: .*PasarGuard 5\.2\.1 answers 204/,
    );
  });
});

test('one line names the dialect that a panel resembles', async () => {
  await withPanel({ dialect: 'pasarguard' }, async (panel) => {
    const { stderr } = await runPanel('users-create', panel.url, FEW, { ...PASARGUARD, dialect: 'marzban' });
    assert.match(
      stderr,
      /does not answer as Marzban 0\.8\.4; it resembles PasarGuard 5\.2\.1: set systems\.panel\.dialect to pasarguard/,
    );
  });
});

for (const [panel, line] of /** @type {[object, RegExp][]} */ ([
  [{ dialect: 'marzbam' }, /dialect marzbam: no such dialect; there are marzban, pasarguard, 3x-ui/],
  [{ ...PASARGUARD, user: {} }, /systems\.panel\.user\.proxy_settings: missing, and PasarGuard/],
  [
    { ...THREE, auth: { mode: 'login', username: 'a', password_env: 'PANEL_PASSWORD' } },
    /3x-ui 3 takes a token/,
  ],
])) {
  test(`an environment is refused in one line: ${line}`, async () => {
    await assert.rejects(runPanel('users-create', 'http://127.0.0.1:9', FEW, panel), line);
  });
}
