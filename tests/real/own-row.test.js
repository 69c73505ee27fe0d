/** A row of the protocol matrix is one file. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ON_ANY_MACHINE } from '../support/bench.js';
import { copyCheckout } from '../support/checkout.js';
import { cleanEnvironment, start, temporaryFolder } from '../support/k6.js';
import { protocolRows } from '../support/sections.js';

const folder = temporaryFolder('own-row');
after(folder.remove);
const checkout = join(folder.path, 'checkout');
copyCheckout(checkout);

test('a file makes a row that is measured, multiplexed trojan over WebSocket', async () => {
  writeFileSync(
    join(checkout, 'testbeds/protocols/rows/trojan-ws-mux.toml'),
    `[rows.trojan-ws-mux]
order = 115
variables = { protocol = "trojan", security = "tls", transport = "ws", multiplex = true }
`,
  );
  const run = start('make', ['protocols-matrix'], {
    cwd: checkout,
    env: {
      ...cleanEnvironment(),
      ...ON_ANY_MACHINE,
      RUN_ID: 'own',
      PROTOCOL: 'trojan-ws-mux',
      TUNNELS: '10',
    },
  });
  await run.ended;
  const result = JSON.parse(readFileSync(join(checkout, 'results/own/protocols-matrix.json'), 'utf8'));
  const [row, ...others] = protocolRows(result);
  assert.equal(others.length, 0);
  assert.deepEqual(
    [row.row, row.baseline.outcome],
    ['trojan-ws-mux', 'measured'],
    run.output.stdout + run.output.stderr,
  );
  assert.ok(row.baseline.figures.rtt_ms.median > 0);
  assert.match(readFileSync(join(checkout, 'results/own/report.md'), 'utf8'), /trojan-ws-mux/);
});
