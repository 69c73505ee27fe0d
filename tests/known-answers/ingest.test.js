/** Ingest, bulk and concurrent against a relay with known faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelay } from '../fakes/relay.js';
import { median, within, withRelay } from '../support/faulty.js';
import { operation, runScenario } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';
import { timely, undisturbed } from '../support/timely.js';

for (const name of ['ingest', 'concurrent']) {
  test(
    `${name} reports an injected delay`,
    undisturbed(async () => {
      await withRelay({ delayMs: 120 }, async (relay) => {
        const { code, result } = await runScenario(name, relay.url, { MESSAGES: '60' });
        const row = operation(result, 'publish');
        const truth = median(relay.truth.served);
        within(row.latency_ms.p50, truth, 0.1);
        assert.equal(row.success, 60);
        assertVerdict(result, 'pass', code);
        assert.ok(relay.truth.topicsEver > 0);
        assert.equal(relay.truth.topics.size, 0, 'topics are removed');
      });
    }),
  );
}

test('ingest counts an exact number of failures, apart by kind, and fails', async () => {
  await withRelay({ publishError: { every: 10, status: 503 } }, async (relay) => {
    const { code, result } = await runScenario('ingest', relay.url, { MESSAGES: '200' });
    const row = operation(result, 'publish');
    // Twenty unrecorded warm-up messages come first: two of them fail.
    assert.equal(relay.truth.failed, 22);
    assert.deepEqual(row.errors, { http_5xx: 20 });
    assert.deepEqual([row.requests, row.success, row.latency_ms.count], [200, 180, 180]);
    assertVerdict(result, 'fail', code);
  });
});

test('a relay that limits the rate gives a verdict that says so', async () => {
  await withRelay({ publishError: { every: 2, status: 429 } }, async (relay) => {
    const { code, result } = await runScenario('concurrent', relay.url, { MESSAGES: '100' });
    assert.deepEqual(operation(result, 'publish').errors, { http_429: 50 });
    assertVerdict(result, 'fail');
    assert.match(reasonsOf(result)[0], /limited the rate/);
    assert.equal(code, 99);
  });
});

test('cut connections are counted as such', async () => {
  await withRelay({ resetEvery: 25 }, async (relay) => {
    const { result } = await runScenario('ingest', relay.url, { MESSAGES: '80' });
    assert.equal(relay.truth.reset, 4);
    assert.deepEqual(operation(result, 'publish').errors, { connection_reset: 4 });
  });
});

test('bulk counts rejected messages of accepted batches', async () => {
  await withRelay({ rejectEvery: 100 }, async (relay) => {
    const { result } = await runScenario('bulk', relay.url, { BATCHES: '10', BATCH_SIZE: '50' });
    const row = operation(result, 'publish');
    assert.deepEqual([row.requests, row.success, row.items.count], [10, 10, 495]);
    assert.equal(relay.truth.rejected, 5);
    assert.deepEqual(row.errors, { rejected: 5 });
    assertVerdict(result, 'fail');
  });
});

test(
  'an open loop reports an injected delay, and no more than it',
  undisturbed(async () => {
    await withRelay({ delayMs: 100 }, async (relay) => {
      const { result } = await runScenario('ingest', relay.url, {
        PROFILE: 'soak',
        RATE: '100',
        DURATION: '4s',
      });
      const row = operation(result, 'publish_open');
      within(row.latency_ms.p50, median(relay.truth.served), 0.1);
      within(row.rate_per_s, 100, 0.05);
    });
  }),
);

test(
  'a stall shows in the open-loop p99 and not in that of a closed loop',
  undisturbed(async () => {
    const stall = { afterPublishes: 300, ms: 600 };
    const closed = await startRelay({ delayMs: 2, stall });
    const open = await startRelay({ delayMs: 2, stall });
    try {
      const naive = await runScenario('ingest', closed.url, { MESSAGES: '1000' });
      const { result } = await runScenario('ingest', open.url, {
        PROFILE: 'soak',
        RATE: '100',
        DURATION: '8s',
      });
      const closedRow = operation(naive.result, 'publish');
      const openRow = operation(result, 'publish_open');
      assert.equal(openRow.loop, 'open');
      // 60 of about 600 recorded requests fall into the stall and wait 300 ms on average.
      assert.ok(openRow.latency_ms.p99 > 450, `open-loop p99 ${openRow.latency_ms.p99}`);
      assert.ok(openRow.latency_ms.max > 550, `open-loop max ${openRow.latency_ms.max}`);
      assert.ok(closedRow.latency_ms.max > 550, 'the closed loop met the stall, once');
      timely(openRow.latency_ms.max < 900, `open-loop max ${openRow.latency_ms.max}`);
      timely(closedRow.latency_ms.p99 < 100, `closed-loop p99 ${closedRow.latency_ms.p99}`);
    } finally {
      await closed.stop();
      await open.stop();
    }
  }),
);

test('an open loop that runs out of virtual users is inconclusive, not fast', async () => {
  await withRelay({ stall: { afterPublishes: 200, ms: 4000 } }, async (relay) => {
    const { result } = await runScenario('ingest', relay.url, {
      PROFILE: 'soak',
      RATE: '50',
      DURATION: '8s',
    });
    assertVerdict(result, 'inconclusive');
    assert.ok(
      reasonsOf(result).some((reason) => /dropped iterations: \d+/.test(reason)),
      reasonsOf(result).join('\n'),
    );
  });
});

test('bulk answers that cannot be read are failures', async () => {
  await withRelay({ garbledEvery: 5 }, async (relay) => {
    const { result } = await runScenario('bulk', relay.url, { BATCHES: '10', BATCH_SIZE: '10' });
    const row = operation(result, 'publish');
    assert.deepEqual(
      [row.requests, row.success, row.items.count, row.errors],
      [10, 8, 80, { bad_response: 2 }],
    );
  });
});

test('rejected messages fail a long run too', async () => {
  await withRelay({ rejectEvery: 100 }, async (relay) => {
    const { result } = await runScenario('bulk', relay.url, { PROFILE: 'soak', RATE: '20', DURATION: '4s' });
    assert.ok(operation(result, 'publish_open').errors.rejected > 0);
    assertVerdict(result, 'fail');
  });
});

test('a token that lives shortly is renewed between requests, not before each', async () => {
  await withRelay({ token: 'short', tokenSeconds: 1, delayMs: 5 }, async (relay) => {
    const pulsar = { auth: { mode: 'login', username: 'a', password_env: 'RELAY_PASSWORD' } };
    const { result } = await runScenario(
      'ingest',
      relay.url,
      { MESSAGES: '400', RELAY_PASSWORD: 'p' },
      pulsar,
    );
    assert.equal(operation(result, 'publish').success, 400);
    // About 2.5 s of load, with a log-in every 0.8 to 0.9 s.
    assert.ok(relay.truth.logins >= 2 && relay.truth.logins <= 12, `${relay.truth.logins} log-ins`);
  });
});
