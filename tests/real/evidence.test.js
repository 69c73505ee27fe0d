/** Faults of content (tests/fakes/proxy) get their verdict in a single run, in a comparison and in a gate, on a busy machine too. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { CANDIDATE, sideFile } from '../support/candidate.js';
import {
  NO_FAILURE,
  TCP,
  assertFailure,
  assertFails,
  gate,
  measured,
  removeEvidence,
  single,
} from '../support/evidence.js';
import { ROOT, temporaryFolder } from '../support/k6.js';

after(removeEvidence);

const HANDSHAKE = 'dataplane/handshake';
const DOWN = { DIRECTIONS: 'down', MANY: '1' };
const MORE = /^B fails more: /;

/** @type {Record<string, import('../support/evidence.js').Fault>} by what it does */
const FAULTS = {
  'changes each long payload': { mode: 'corrupt --bytes 512', scenario: TCP },
  'changes 0.75 % of payloads': { mode: 'corrupt --one-in 133', scenario: TCP },
  'keeps a file of each connection open': {
    mode: 'leak --kib 0 --descriptor',
    scenario: TCP,
    variables: { CONNECTIONS: '16' },
  },
  'drops a byte per MiB': { mode: 'drop-bytes', scenario: 'dataplane/throughput', variables: DOWN },
};
describe('whatever others do', { concurrency: 2 }, () => {
  for (const [what, fault] of Object.entries(FAULTS)) {
    test(`a proxy that ${what} fails alone, against another one and in a gate`, async (t) => {
      const alone = await single(fault);
      assert.equal(alone.code, 99, alone.said);
      assertFails(await measured(t, fault), MORE);
    });
  }

  // tests/known-answers/far-end.test.js has a single run of each scenario.
  test('a proxy that opens tunnels and dials nothing fails against another one and in a gate', async (t) => {
    assertFails(await measured(t, { mode: 'echo', scenario: HANDSHAKE }), MORE);
  });

  test('a proxy that changes each payload carries none: its set-up fails', async (t) => {
    const fault = { mode: 'corrupt', scenario: TCP };
    const alone = await single(fault);
    assert.equal(alone.code, 4, alone.said);
    const found = await measured(t, fault);
    assert.match(found.said, /set-up failed/);
    assertFailure(found, 'set-up-failed', '4');
  });

  test('the same proxy without a fault fails no scenario', async () => {
    const scenarios = [TCP, 'dataplane/socks-udp', HANDSHAKE, 'dataplane/throughput'];
    const { code, said } = await single({ mode: 'honest', scenario: scenarios.join(',') });
    assert.ok(NO_FAILURE.includes(code), said);
  });

  test('a candidate that leaves out TLS from its second turn on fails in a gate', async (t) => {
    const starts = temporaryFolder('evidence-starts');
    try {
      const found = await gate({
        GATE_BASE: join(ROOT, 'bin/sing-box'),
        GATE_HEAD: CANDIDATE,
        GATE_PROTOCOL: 'http-tls',
        CANDIDATE: sideFile({
          env: { CANDIDATE_FAULT: 'strips', CANDIDATE_FROM: '5', CANDIDATE_STARTS: join(starts.path, 'of-') },
        }),
        TURNS: '2',
        TUNNELS: '10',
      });
      t.diagnostic(`strips: ${found.told.code}, ${found.told.conclusion} (${found.code}), ${found.first}`);
      assert.match(found.said, /http-tls: candidate: wrong wire: turn 2: /);
      assertFailure(found, 'fail', '99');
    } finally {
      starts.remove();
    }
  });
});
