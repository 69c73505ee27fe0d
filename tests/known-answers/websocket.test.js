/** Subscribe, delivery and broadcast against a relay with known faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRelay, within } from '../support/faulty.js';
import { operation, runScenario, start } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';
import { undisturbed } from '../support/timely.js';

test(
  'delivery accounts for a clean run and reports the delay',
  undisturbed(async () => {
    await withRelay({ delayMs: 120 }, async (relay) => {
      const { code, result } = await runScenario('delivery', relay.url, { MESSAGES: '50' });
      const row = operation(result, 'deliver');
      assert.equal(relay.truth.deliveries, 200);
      assert.deepEqual([row.requests, row.success, row.errors], [200, 200, {}]);
      within(row.latency_ms.p50, 121, 0.1);
      assertVerdict(result, 'pass', code);
      assert.equal(relay.truth.topics.size, 0, 'topics are removed');
    });
  }),
);

test('delivery counts lost messages exactly', async () => {
  await withRelay({ dropEvery: 20 }, async (relay) => {
    const { code, result } = await runScenario('delivery', relay.url, { MESSAGES: '50' });
    const row = operation(result, 'deliver');
    assert.equal(relay.truth.dropped, 10);
    assert.deepEqual([row.requests, row.success, row.errors], [200, 190, { lost: 10 }]);
    assertVerdict(result, 'fail');
    assert.match(reasonsOf(result)[0], /deliver: 10 × lost in 200 requests/);
    assert.equal(code, 99);
  });
});

test('delivery counts duplicates exactly, and they are not deliveries', async () => {
  await withRelay({ duplicateEvery: 25 }, async (relay) => {
    const { result } = await runScenario('delivery', relay.url, { MESSAGES: '50' });
    const row = operation(result, 'deliver');
    assert.equal(relay.truth.duplicated, 8);
    assert.deepEqual([row.requests, row.success, row.errors], [200, 200, { duplicated: 8 }]);
    assertVerdict(result, 'fail');
  });
});

test('a duplicate that comes late is counted too', async () => {
  await withRelay({ duplicateEvery: 200, duplicateAfterMs: 60 }, async (relay) => {
    const { result } = await runScenario('delivery', relay.url, { MESSAGES: '50' });
    assert.equal(relay.truth.duplicated, 1);
    assert.deepEqual(operation(result, 'deliver').errors, { duplicated: 1 });
  });
});

test('a round that time cuts short is accounted for all the same', async () => {
  await withRelay({ dropEvery: 5, delayMs: 10 }, async (relay) => {
    const { result } = await runScenario('delivery', relay.url, {
      PROFILE: 'full',
      DURATION: '2s',
      MESSAGES: '5000',
    });
    const row = operation(result, 'deliver');
    assert.deepEqual([row.requests, row.errors], [relay.truth.deliveries, { lost: relay.truth.dropped }]);
    assertVerdict(result, 'fail');
  });
});

test('delivery counts messages that arrive out of order', async () => {
  await withRelay({ swapEvery: 5 }, async (relay) => {
    // 80 messages on 5 topics are 16 for each subscriber; every fifth of them arrives after the sixth.
    const { result } = await runScenario('delivery', relay.url, { MESSAGES: '80' });
    const row = operation(result, 'deliver');
    assert.deepEqual([row.requests, row.success, row.errors], [320, 320, { out_of_order: 3 * 20 }]);
    assertVerdict(result, 'fail');
  });
});

test('a message that was refused is not expected anywhere', async () => {
  await withRelay({ publishError: { every: 10, status: 500 } }, async (relay) => {
    const { result } = await runScenario('delivery', relay.url, { MESSAGES: '50' });
    // 20 warm-up messages and 50 measured ones: five of the 50 fail.
    assert.deepEqual(operation(result, 'publish').errors, { http_5xx: 5 });
    const row = operation(result, 'deliver');
    assert.deepEqual([row.requests, row.success, row.errors], [180, 180, {}]);
  });
});

test(
  'broadcast tells the time to the last subscriber',
  undisturbed(async () => {
    await withRelay({ delayMs: 120 }, async (relay) => {
      const { result } = await runScenario('broadcast', relay.url, { MESSAGES: '20' });
      const each = operation(result, 'deliver');
      const last = operation(result, 'last');
      assert.deepEqual([each.success, last.success], [600, 20]);
      within(last.latency_ms.p50, 122, 0.1);
      assert.ok(last.latency_ms.avg >= each.latency_ms.avg, 'the last is not before the mean');
      assertVerdict(result, 'pass');
    });
  }),
);

test('broadcast without its last subscriber has no time to the last one', async () => {
  await withRelay({ dropEvery: 30 }, async (relay) => {
    const { result } = await runScenario('broadcast', relay.url, { MESSAGES: '10' });
    assert.deepEqual(operation(result, 'deliver').errors, { lost: 10 });
    assert.deepEqual(
      [operation(result, 'last').success, operation(result, 'last').errors],
      [0, { lost: 10 }],
    );
  });
});

test('a socket closed in mid-run is named by its close code', async () => {
  await withRelay({ closeAfter: { after: 5, code: 1011 } }, async (relay) => {
    const { result } = await runScenario('broadcast', relay.url, { MESSAGES: '10', SUBSCRIBERS: '4' });
    const row = operation(result, 'deliver');
    assert.equal(row.success, 20);
    assert.equal(row.errors.ws_close_1011, 4);
    assert.equal(row.errors.lost, 20);
    assertVerdict(result, 'fail');
  });
});

test(
  'subscribe reports an injected delay',
  undisturbed(async () => {
    await withRelay({ delayMs: 160 }, async (relay) => {
      const { result } = await runScenario('subscribe', relay.url, { CONNECTIONS: '20', CLIENTS: '5' });
      const row = operation(result, 'subscribe');
      assert.equal(row.success, 20);
      // Rounds of five handshakes add some ms to the delay of the confirmation.
      within(row.latency_ms.min, 162, 0.1);
      assert.equal(row.latency_ms.p99, null, 'twenty samples carry no p99');
      assertVerdict(result, 'pass');
    });
  }),
);

/** Largest allowed ratio to the other client. If each client calibrated its clock, which spins, the ratio would be 1.5; without, it is 0.7. */
const MOST = 1.15;

test('fifty clients that subscribe at once are no slower than those of another kind', async () => {
  // Other programs can only slow a run down, so the minimum of each is nearest to the truth.
  const least = { own: Infinity, other: Infinity };
  const ratio = () => least.own / least.other;
  for (let round = 0; round < 3 || (ratio() >= MOST && round < 15); round += 1) {
    await withRelay({ delayMs: 10 }, async (relay) => {
      const { result } = await runScenario('subscribe', relay.url);
      const row = operation(result, 'subscribe');
      assert.equal(row.success, 50);
      const address = `${relay.url.replace('http', 'ws')}/ws`;
      const other = start(process.execPath, ['tests/support/subscribers.js', address, '50']);
      assert.equal(await other.ended, 0, other.output.stderr);
      least.own = Math.min(least.own, row.latency_ms.p50);
      least.other = Math.min(least.other, Number(other.output.stdout));
    });
  }
  assert.ok(ratio() < MOST, `${JSON.stringify(least)} ms`);
});

for (const websocketAuth of /** @type {const} */ (['query', 'subprotocol'])) {
  test(`a static token reaches the relay by ${websocketAuth}, and no file`, async () => {
    const token = 'static-token-1234567890';
    await withRelay({ token, websocketAuth }, async (relay) => {
      const pulsar = {
        auth: { mode: 'token', token_env: 'RELAY_TOKEN' },
        websocket: { auth: websocketAuth },
      };
      const run = await runScenario(
        'subscribe',
        relay.url,
        { CONNECTIONS: '5', CLIENTS: '5', RELAY_TOKEN: token },
        pulsar,
      );
      assert.equal(operation(run.result, 'subscribe').success, 5);
      assert.ok(!JSON.stringify(run).includes(token));
    });
  });
}

test('a refused WebSocket handshake is named', async () => {
  await withRelay({ token: 'right', websocketAuth: 'subprotocol' }, async (relay) => {
    const pulsar = { auth: { mode: 'token', token_env: 'RELAY_TOKEN' }, websocket: { auth: 'query' } };
    const { result } = await runScenario(
      'subscribe',
      relay.url,
      { CONNECTIONS: '5', CLIENTS: '5', RELAY_TOKEN: 'right' },
      pulsar,
    );
    const row = operation(result, 'subscribe');
    assert.deepEqual([row.success, row.errors, row.latency_ms], [0, { ws_http_403: 5 }, null]);
    assertVerdict(result, 'fail');
  });
});
