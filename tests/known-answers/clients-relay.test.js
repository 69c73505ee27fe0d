/** The relay's client judges answers that are no plain success: status, redirect, token, connection, WebSocket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRelay } from '../support/faulty.js';
import { operation, runScenario } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

const LOGIN = { auth: { mode: 'login', username: 'a', password_env: 'RELAY_PASSWORD' } };
const few = { MESSAGES: '40', RELAY_PASSWORD: 'word' };

test('another 2xx is a success', async () => {
  await withRelay({ publishStatuses: [200, 202, 204] }, async (relay) => {
    const { code, result } = await runScenario('ingest', relay.url, few);
    assert.equal(operation(result, 'publish').success, 40);
    assertVerdict(result, 'pass', code);
    assert.equal(result.connections.opened, 1);
  });
});

test('a redirect is not followed, and its target is named', async () => {
  await withRelay({}, async (other) => {
    const redirect = {
      status: 307,
      to: `${other.url}/api/v1/messages?token=secret-word`,
      afterPublishes: 30,
    };
    await withRelay({ redirect }, async (relay) => {
      const run = await runScenario('ingest', relay.url, few);
      const { success, errors, error_details: details } = operation(run.result, 'publish');
      // 20 of the messages belong to the warm-up.
      assert.deepEqual([success, errors], [10, { http_redirect: 30 }]);
      assert.deepEqual(details, [{ kind: 'http_redirect', detail: `HTTP 307 to ${other.url}`, count: 30 }]);
      assert.ok(reasonsOf(run.result)[0].includes(`30 × HTTP 307 to ${other.url}`));
      assert.ok(run.stderr.includes(`publish: http_redirect: HTTP 307 to ${other.url}`));
      assert.ok(!JSON.stringify(run).includes('secret-word'));
      assert.equal(other.truth.publishes, 0);
    });
  });
});

test('a status is in the reason, in the result and once in the log', async () => {
  await withRelay({ publishError: { every: 4, status: 418 } }, async (relay) => {
    const { result, stderr } = await runScenario('ingest', relay.url, few);
    const { error_details: details } = operation(result, 'publish');
    assert.deepEqual(details, [{ kind: 'http_4xx', detail: 'HTTP 418', count: 10 }]);
    assert.match(reasonsOf(result)[0], /publish: 10 × http_4xx .*\(received: 10 × HTTP 418\)/);
    assert.equal(stderr.match(/publish: http_4xx: HTTP 418/g)?.length, 1);
  });
});

test('a relay that restarts gets one more log-in of each client, which is noted', async () => {
  await withRelay({ token: 'first', restartAfter: 40 }, async (relay) => {
    const { code, result } = await runScenario('ingest', relay.url, few, LOGIN);
    assert.equal(operation(result, 'publish').success, 40);
    // One log-in in set-up, one after the restart, one in the clean-up.
    assert.equal(relay.truth.logins, 3);
    assert.match(result.notes.join(), /the token expired in mid-run \(401\): logged in again, 2 times/);
    assertVerdict(result, 'pass', code);
    assert.equal(relay.truth.topics.size, 0);
  });
});

test('an answer to the log-in that holds no token is one line with the URL and what came', async () => {
  for (const [loginSays, told] of /** @type {[string, RegExp][]} */ ([
    ['<html><title>Welcome</title></html>', /HTTP 200: Welcome/],
    ['{"token":"secret-word","kind":"other"}', /HTTP 200: JSON with token, kind/],
  ]))
    await withRelay({ loginSays }, async (relay) => {
      await assert.rejects(runScenario('ingest', relay.url, few, LOGIN), ({ message }) => {
        assert.ok(
          message.includes(`${relay.url}/auth/login: the answer to the log-in holds no access_token`),
        );
        assert.match(message, told);
        assert.ok(!message.includes('secret-word'));
        return true;
      });
    });
});

/** @param {number} end s since 1970 */
const tokenUntil = (end) => `e30.${Buffer.from(JSON.stringify({ exp: end })).toString('base64url')}.c2ln`;

test('a token that is given is read: one that ends in mid-run is warned of, one that has ended stops the run', async () => {
  const own = { auth: { mode: 'token', token_env: 'RELAY_TOKEN' } };
  const now = Math.floor(Date.now() / 1000);
  await withRelay({ token: tokenUntil(now + 60) }, async (relay) => {
    const variables = { MESSAGES: '5', RELAY_TOKEN: tokenUntil(now + 60) };
    const { result, stderr } = await runScenario('ingest', relay.url, variables, own);
    assert.match(stderr, /the token in RELAY_TOKEN ends at .*before the run does/);
    assert.match(result.notes.join(), /the token in RELAY_TOKEN ends at/);
  });
  await withRelay({}, async (relay) => {
    const refused = runScenario('ingest', relay.url, { RELAY_TOKEN: tokenUntil(now - 60) }, own);
    await assert.rejects(refused, /the token in RELAY_TOKEN ended at .*make a new one/);
    assert.equal(relay.truth.publishes, 0);
  });
});

test('a request on a connection that the target had closed while it was idle is sent once more, and counted', async () => {
  // At least four virtual users, each with a request every 2.75 s.
  await withRelay({ keepAliveMs: 2_500 }, async (relay) => {
    const variables = { PROFILE: 'soak', DURATION: '8s', RATE: '8' };
    const { code, result } = await runScenario('ingest', relay.url, variables);
    const { errors } = operation(result, 'publish_open');
    assert.ok(relay.truth.idleCut > 3, `${relay.truth.idleCut} were cut`);
    assert.deepEqual([errors, result.connections.idle_resets], [{}, relay.truth.idleCut]);
    assertVerdict(result, 'pass', code);
  });
});

const HANDSHAKES = /** @type {[number, string, RegExp][]} */ ([
  [301, 'ws_redirect', /301 to http:\/\/127\.0\.0\.2:1/],
  [400, 'ws_http_400', /Upgrade header/],
  [401, 'ws_http_401', /refused the token/],
  [403, 'ws_http_403', /origin|connection limit/],
  [404, 'ws_http_404', /websocket\.path/],
  [426, 'ws_http_426', /HTTP\/1\.0/],
  [429, 'ws_http_429', /limiter/],
  [502, 'ws_http_5xx', /behind its proxy/],
]);

test('a refused WebSocket handshake keeps its status, and each status has its remedy', async () => {
  const statuses = HANDSHAKES.map(([status]) => status);
  const handshake = { statuses, headers: { Location: 'http://127.0.0.2:1/ws' } };
  await withRelay({ handshake }, async (relay) => {
    const variables = { CONNECTIONS: String(2 * statuses.length), CLIENTS: '1' };
    const { result } = await runScenario('subscribe', relay.url, variables);
    const { errors, error_details: details } = operation(result, 'subscribe');
    assert.deepEqual(errors, Object.fromEntries(HANDSHAKES.map(([, kind]) => [kind, 2])));
    for (const [status, kind, remedy] of HANDSHAKES) {
      const own = details.find((/** @type {any} */ one) => one.kind === kind);
      assert.match(own.detail, new RegExp(`handshake: HTTP ${status}`));
      const reason = reasonsOf(result).find((line) => line.startsWith(`subscribe: 2 × ${kind} `));
      assert.match(reason ?? reasonsOf(result).join('\n'), remedy);
    }
  });
});

test('the reason text of a close frame is kept', async () => {
  const closeAfter = { after: 5, code: 4001, reason: 'plan exceeded' };
  await withRelay({ closeAfter }, async (relay) => {
    const { result } = await runScenario('broadcast', relay.url, { MESSAGES: '10', SUBSCRIBERS: '4' });
    const { error_details: details } = operation(result, 'deliver');
    assert.deepEqual(details, [{ kind: 'ws_close_other', detail: 'close 4001: plan exceeded', count: 4 }]);
    assert.match(reasonsOf(result).join('\n'), /4 × close 4001: plan exceeded/);
  });
});
