/** HTTP and WebSocket clients read an answer: whether it was accepted, what may be shown, where it leads, and what counts as silence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import execution from '../fakes/k6-execution.js';
import { samples } from '../fakes/k6-record.js';
import { detailOf, errorIn, isAccepted, redirectOf, saidIn, shown } from '../../lib/answers.js';
import { explain, ofHandshake } from '../../lib/errors.js';
import { endOf } from '../../lib/login.js';
import { requestLoad } from '../../lib/profiles.js';
import { sent } from '../../lib/requests.js';
import { Operation } from '../../lib/operations.js';
import { SILENT_MS, failedWith } from '../../lib/silence.js';

test('any 2xx is accepted, unless one status is named', () => {
  assert.deepEqual(
    [199, 200, 201, 204, 207, 299, 300].map((status) => isAccepted({ status })),
    [false, true, true, true, true, true, false],
  );
  assert.deepEqual([isAccepted({ status: 201 }, 207), isAccepted({ status: 207 }, 207)], [false, true]);
});

test('a redirect is named without its query, and without a path that stays the same', () => {
  const answer = (/** @type {string} */ to) => ({
    status: 308,
    headers: { location: to },
    url: 'http://panel:8000/api/user/wt_1',
  });
  assert.equal(redirectOf(answer('https://panel:8443/api/user/wt_1?token=word')), 'https://panel:8443');
  assert.equal(redirectOf(answer('https://user:word@other/login')), 'https://other/login');
  assert.equal(redirectOf(answer('/login?next=x')), '/login');
  assert.equal(redirectOf({ ...answer('/login'), status: 200 }), undefined);
  assert.equal(detailOf(answer('https://other/login')), 'HTTP 308 to https://other/login');
  assert.equal(detailOf({ status: 0 }), undefined);
});

test("what is shown of a body has no user's keys, and no name of a user", () => {
  const user = { username: 'wt_1', proxies: { shadowsocks: { password: 'key-of-a-user' } } };
  const fault = [{ msg: 'Field required', input: user }];
  assert.equal(saidIn({ status: 500, body: JSON.stringify(user) }), 'JSON with username, proxies');
  assert.equal(saidIn({ status: 422, body: JSON.stringify({ detail: fault }) }), 'Field required');
  assert.equal(saidIn({ status: 409, body: '{"detail":"User already exists"}' }), 'User already exists');
  assert.equal(saidIn({ status: 502, body: '<html><h1>Bad  Gateway</h1></html>' }), 'Bad Gateway');
  assert.equal(
    saidIn({ status: 200, body: `{"username":"wt_1","proxies":{"password":"key` }),
    'JSON that cannot be read',
  );
  assert.equal(shown({ status: 204, body: '' }), 'HTTP 204');
});

test('the same failure has the same line, whatever the port and the user', () => {
  const of = (/** @type {number} */ port) =>
    errorIn({
      status: 0,
      error: `Post "http://p/api/user/wt_${port}": read tcp 127.0.0.1:${port}->127.0.0.1:8000: read: connection reset by peer`,
    });
  assert.equal(of(40001), of(50002));
  assert.equal(of(40001), 'read tcp 127.0.0.1:8000: read: connection reset by peer');
});

test('each refused handshake has a kind and a remedy of its own', () => {
  const statuses = [301, 400, 401, 403, 404, 418, 426, 429, 502, 101];
  const kinds = statuses.map(ofHandshake);
  assert.equal(new Set(kinds.map((kind) => explain(kind))).size, statuses.length);
  assert.deepEqual(kinds.slice(-2), ['ws_http_5xx', 'ws_refused']);
});

test('the end of a JSON Web Token is read; what is none has no end', () => {
  const token = `e30.${Buffer.from('{"exp":1700000000}').toString('base64url')}.c2ln`;
  assert.equal(endOf(token), 1_700_000_000_000);
  assert.deepEqual(['opaque', 'a.b.c', 'e30.e30.c2ln'].map(endOf), [null, null, null]);
});

test('silence is that of the target for all clients, not for one', () => {
  /** @type {string[]} */
  const aborted = [];
  /** @type {any} */ (execution.test).abort = (/** @type {string} */ line) => aborted.push(line);
  const fail = (/** @type {number} */ at) => failedWith('timeout', at, at + 5_000);
  const operation = new Operation('other');
  // One client meets only timeouts, while another gets answers.
  for (let at = 0; at < 6 * SILENT_MS; at += 5_000) {
    fail(at);
    operation.success(at, at + 1);
  }
  assert.deepEqual(aborted, []);
  for (const at of [100_000, 105_000, 110_000]) fail(at);
  assert.equal(aborted.length, 1);
});

test('a reset on an idle connection is sent once more; one on a connection in use, or on a new one, is not', () => {
  const reset = { status: 0, error_code: 1220, timings: { connecting: 0 } };
  const ok = { status: 200, timings: { connecting: 0 } };
  const instance = /** @type {any} */ (execution.instance);
  const own = Object.getOwnPropertyDescriptor(instance, 'currentTestRunDuration');
  let at = 10_000;
  Object.defineProperty(instance, 'currentTestRunDuration', { get: () => at, configurable: true });
  try {
    /** @param {any[]} answers @param {number} idle */
    const run = (answers, idle) => {
      at += idle;
      let count = 0;
      const { response } = sent(() => answers[count++]);
      return [response.status, count];
    };
    run([ok], 0);
    assert.deepEqual(run([reset, ok], 2_000), [200, 2]);
    assert.deepEqual(run([reset, reset], 2_000), [0, 2]);
    assert.deepEqual(run([reset], 10), [0, 1]);
    assert.deepEqual(run([{ ...reset, timings: { connecting: 1 } }], 2_000), [0, 1]);
    assert.deepEqual(run([{ ...reset, error_code: 1050 }], 2_000), [0, 1]);
    assert.equal(samples.filter(({ metric }) => metric === 'idle_resets').length, 2);
  } finally {
    Object.defineProperty(instance, 'currentTestRunDuration', /** @type {PropertyDescriptor} */ (own));
  }
});

test('the period of an open loop is not a usual keep-alive time-out', () => {
  /** @type {any} */ (globalThis).__ENV.PROFILE = 'full';
  try {
    for (const rate of [1, 2, 3, 5, 10, 20, 30, 100, 200]) {
      const { preAllocatedVUs: vus } = /** @type {any} */ (
        requestLoad({ clients: 1, smoke: 1, quick: 1, rate }, 'MESSAGES').scenarios.open
      );
      for (const timeout of [2, 5, 10, 15, 60])
        assert.ok(Math.abs(vus / rate - timeout) > timeout * 0.14, `${vus} users at ${rate}/s`);
    }
  } finally {
    delete (/** @type {any} */ (globalThis).__ENV.PROFILE);
  }
});
