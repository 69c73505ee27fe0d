/** Engines that make builds only for a run that names them: each understands itself and the others. `make test-engines` builds them first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { assertVerdict } from '../support/verdict.js';

test('mihomo as client and server understands itself, sing-box and xray', async () => {
  const bench = startBench({
    ONLY: 'protocols/interop',
    PROGRAMS: 'mihomo,sing-box,xray',
    PROTOCOL: 'socks,trojan-grpc,vless-reality-vision,shadowsocks-2022,hysteria,hysteria2',
  });
  try {
    const code = await bench.ended;
    const result = bench.result('protocols-interop');
    assertVerdict(result, 'pass', Number(code));
    const all = [true, true, true, true, true, true, true, true, true];
    assert.deepEqual(sectionOf(result, 'interop').rows, [
      ['socks', ...all],
      ['shadowsocks-2022', ...all],
      ['trojan-grpc', ...all],
      ['vless-reality-vision', ...all],
      ['hysteria', null, true, null, null, true, null, null, null, null],
      ['hysteria2', ...all],
    ]);
  } finally {
    bench.remove();
  }
});

for (const protocol of ['vless', 'trojan'])
  test(`mihomo serves many users of ${protocol} in TLS`, async () => {
    const bench = startBench({
      ONLY: 'users/scale',
      LEVELS: '1,1000',
      TESTBED: `users:engine=mihomo,tls=true,protocol=${protocol}`,
    });
    try {
      const code = await bench.ended;
      const result = bench.result('users-scale');
      assertVerdict(result, 'pass', Number(code));
      for (const row of rowsOf(sectionOf(result, 'scale')))
        assert.ok(row.mib_per_s.value > 0, JSON.stringify(row));
    } finally {
      bench.remove();
    }
  });

/** Engines of one protocol, and all rows that they have. */
const OWN_ROWS = {
  'shadowsocks-rust': [
    'shadowsocks-aes-128-gcm',
    'shadowsocks-aes-256-gcm',
    'shadowsocks-chacha20',
    'shadowsocks-2022',
  ],
  hysteria: ['hysteria2', 'hysteria2-brutal'],
};
for (const [engine, rows] of Object.entries(OWN_ROWS))
  test(`${engine} as client and server understands itself, sing-box and xray`, async () => {
    const bench = startBench({
      ONLY: 'protocols/interop',
      PROGRAMS: `${engine},sing-box,xray`,
      PROTOCOL: rows.join(','),
    });
    try {
      const code = await bench.ended;
      const result = bench.result('protocols-interop');
      assertVerdict(result, 'pass', Number(code));
      const understood = rows.map((row) => [row, ...Array.from({ length: 9 }, () => true)]);
      assert.deepEqual(sectionOf(result, 'interop').rows, understood);
    } finally {
      bench.remove();
    }
  });

/** Rows that shoes runs at both ends, and rows that it only serves. */
const OF_SHOES = {
  both: 'http,http-tls,vmess,vmess-tls,vmess-ws,vless,vless-tls,vless-ws,vless-reality',
  served: 'socks,mixed,vless-vision,vless-reality-vision,hysteria2',
};

test('shoes understands itself, sing-box and xray, and serves rows without its client', async () => {
  const bench = startBench({
    ONLY: 'protocols/interop',
    PROGRAMS: 'shoes,sing-box,xray',
    PROTOCOL: Object.values(OF_SHOES).join(','),
  });
  try {
    const code = await bench.ended;
    const result = bench.result('protocols-interop');
    assertVerdict(result, 'pass', Number(code));
    const served = OF_SHOES.served.split(',');
    for (const [row, ...cells] of sectionOf(result, 'interop').rows) {
      const ofClient = served.includes(row) ? null : true;
      assert.deepEqual(cells, [ofClient, ofClient, ofClient, true, true, true, true, true, true], row);
    }
  } finally {
    bench.remove();
  }
});
