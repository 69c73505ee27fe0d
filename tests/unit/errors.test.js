import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain, isKind, ofClose, ofGrpc, ofResponse, ofText } from '../../lib/errors.js';

const responses = /** @type {[object, string][]} */ ([
  [{ status: 429, error_code: 1429 }, 'http_429'],
  [{ status: 401, error_code: 1401 }, 'http_401'],
  [{ status: 418, error_code: 1418 }, 'http_4xx'],
  [{ status: 500, error_code: 1500 }, 'http_5xx'],
  [{ status: 503, error_code: 1503 }, 'http_5xx'],
  [{ status: 500, error_code: 1500, body: '{"detail":"database is locked"}' }, 'database_locked'],
  [
    { status: 500, error_code: 1500, body: "(1213, 'Deadlock found when trying to get lock')" },
    'database_locked',
  ],
  [
    { status: 500, error_code: 1500, body: 'QueuePool limit of size 10 overflow 30 reached' },
    'database_pool',
  ],
  [{ status: 500, error_code: 1500, body: 'Internal Server Error' }, 'http_5xx'],
  [{ status: 404, error_code: 1404, body: 'database is locked' }, 'http_404'],
  [{ status: 204, error_code: 0 }, 'http_other'],
  [{ status: 0, error_code: 1212 }, 'connection_refused'],
  [{ status: 0, error_code: 1220 }, 'connection_reset'],
  [{ status: 0, error_code: 1050 }, 'timeout'],
  [{ status: 0, error_code: 1101 }, 'dns'],
  [{ status: 0, error_code: 1310 }, 'tls'],
  [{ status: 0, error_code: 1000, error: 'unexpected EOF' }, 'connection_reset'],
  [{ status: 0, error_code: 1000, error: 'something new' }, 'network'],
]);

for (const [response, kind] of responses) {
  test(`${JSON.stringify(response)} is ${kind}`, () => {
    assert.equal(ofResponse(/** @type {any} */ (response)), kind);
    assert.ok(isKind(kind));
    assert.ok(explain(kind).length > 0);
  });
}

test('a gRPC call without an answer has the kind of a time-out or of the connection, any other is answered', () => {
  assert.equal(ofGrpc(4, 'context deadline exceeded'), 'timeout');
  assert.equal(ofGrpc(14, 'dial tcp 127.0.0.1:9: connect: connection refused'), 'connection_refused');
  assert.equal(ofGrpc(14, ''), 'connection_refused');
  assert.equal(ofGrpc(14, 'error reading from server: EOF'), 'connection_reset');
  assert.equal(ofGrpc(2, 'proxy/vless: User x already exists.'), 'bad_response');
});

test('WebSocket errors and close codes have kinds of their own', () => {
  assert.equal(ofText('websocket: bad handshake'), 'ws_refused');
  assert.equal(ofText('dial tcp 127.0.0.1:9: connect: connection refused'), 'connection_refused');
  assert.equal(ofClose(1008), 'ws_close_1008');
  assert.equal(ofClose(4000), 'ws_close_other');
  assert.equal(ofClose(undefined), 'ws_close_1006');
});
