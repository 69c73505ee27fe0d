/** The scenarios of two hops and of realistic traffic, for real; tests/real/smoke has a chain that works. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertRefused, startBench } from '../support/bench.js';
import { ROOT, operation } from '../support/k6.js';
import { protocolRows } from '../support/sections.js';

test('the hop that dies is named', async () => {
  const bench = startBench({
    ONLY: 'protocols/chain',
    PROFILE: 'smoke',
    CHAINS: 'http+vmess',
    BASELINE: join(ROOT, 'tests/fixtures/candidate'),
  });
  try {
    assert.equal(await bench.ended, 99);
    const rows = protocolRows(bench.result('protocols-chain'));
    const { outcome, detail } = rows[2].baseline;
    assert.equal(outcome, 'died in mid-run', detail);
    assert.match(detail, /^server of hop 2 ended: exit status 3/);
  } finally {
    bench.remove();
  }
});

test('traffic goes through a row, each use alone and all at once', async () => {
  const bench = startBench({
    ONLY: 'protocols/traffic',
    PROFILE: 'smoke',
    SECONDS: '2',
    PROTOCOL: 'tproxy,vless',
  });
  try {
    await bench.ended;
    const result = bench.result('protocols-traffic');
    assert.equal(result.run.parameters.protocol, 'vless', 'the first that has a SOCKS client');
    assert.ok(result.notes.includes('one row a run: not tproxy'), result.notes.join('\n'));
    /** @type {Record<string, number>} payload of one operation, one direction */
    const uses = { requests: 512, pages: 16 * 32 * 1024, video: 500_000 };
    for (const [use, bytes] of Object.entries(uses)) {
      for (const name of [use, `mixed_${use}`, `${use}_direct`, `mixed_${use}_direct`]) {
        const { requests, success, loop, transfer } = operation(result, name);
        assert.ok(
          success > 0 && success === requests && loop === 'open',
          `${name}: ${success} of ${requests}`,
        );
        assert.equal(transfer.bytes, success * bytes, name);
      }
    }
    const { requests, transfer } = operation(result, 'video');
    // The rate is n segments over the n - 1 intervals between them plus the time of the last segment.
    const most = (8 * requests) / (requests - 1);
    assert.ok(transfer.mbit_per_s > 6, `${transfer.mbit_per_s} Mbit/s of a stream of 8`);
    assert.ok(transfer.mbit_per_s <= most * 1.01, `${transfer.mbit_per_s} Mbit/s`);
  } finally {
    bench.remove();
  }
});

for (const [variables, line] of /** @type {[Record<string, string>, RegExp][]} */ ([
  [{ ONLY: 'protocols/chain', CHAINS: 'trojan' }, /CHAINS=trojan: two rows/],
  [{ ONLY: 'protocols/chain', CHAINS: 'trojan+socks6' }, /CHAINS: socks6: no such row/],
  [
    { ONLY: 'protocols/chain', CHAINS: 'trojan+direct' },
    /CHAINS=trojan\+direct: two rows with a client and a server/,
  ],
  [{ ONLY: 'protocols/chain', CHAINS: 'ssh+trojan' }, /CHAINS=ssh\+trojan: ssh cannot be the first hop/],
  [
    { ONLY: 'protocols/chain', CHAINS: 'wireguard+trojan', BASELINE: 'xray' },
    /CHAINS=wireguard\+trojan: wireguard cannot be the first hop with xray/,
  ],
  [
    { ONLY: 'protocols/traffic', PROTOCOL: 'tproxy' },
    /PROTOCOL=tproxy: none has a SOCKS client that sing-box runs/,
  ],
  [
    { ONLY: 'protocols/traffic', PROTOCOL: 'tuic', BASELINE: 'xray' },
    /PROTOCOL=tuic: none has a SOCKS client that xray runs/,
  ],
])) {
  test(`${JSON.stringify(variables)} is refused in one line`, () => assertRefused(variables, line));
}
