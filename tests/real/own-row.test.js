/** A row of the protocol matrix is one file, and so is a protocol, and an engine. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ON_ANY_MACHINE } from '../support/bench.js';
import { copyCheckout } from '../support/checkout.js';
import { cleanEnvironment, start, temporaryFolder } from '../support/k6.js';
import { protocolRows, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('own-row');
after(folder.remove);
const checkout = join(folder.path, 'checkout');
copyCheckout(checkout);

/** @param {string} scenario @param {Record<string, string>} variables */
async function run(scenario, variables) {
  const started = start('make', [`protocols-${scenario}`], {
    cwd: checkout,
    env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, TUNNELS: '10', ...variables },
  });
  await started.ended;
  const written = (/** @type {string} */ name) =>
    readFileSync(join(checkout, 'results', variables.RUN_ID, name), 'utf8');
  return {
    result: JSON.parse(written(`protocols-${scenario}.json`)),
    report: written('report.md'),
    printed: started.output.stdout + started.output.stderr,
  };
}

test('a file makes a row that is measured, multiplexed trojan over WebSocket', async () => {
  writeFileSync(
    join(checkout, 'testbeds/protocols/rows/trojan-ws-mux.toml'),
    `[rows.trojan-ws-mux]
order = 115
variables = { protocol = "trojan", security = "tls", transport = "ws", multiplex = true }
`,
  );
  const { result, report, printed } = await run('matrix', { RUN_ID: 'own', PROTOCOL: 'trojan-ws-mux' });
  const [row, ...others] = protocolRows(result);
  assert.equal(others.length, 0);
  assert.deepEqual([row.row, row.baseline.outcome], ['trojan-ws-mux', 'measured'], printed);
  assert.ok(row.baseline.figures.rtt_ms.median > 0);
  assert.match(report, /trojan-ws-mux/);
});

test('a file makes a protocol, with a variable of its own, and another a fork that understands ours', async () => {
  writeFileSync(
    join(checkout, 'testbeds/protocols/rows/unheard-of.toml'),
    `left_out = ["the rest: it is trojan by another name"]

[rows.unheard-of]
variables = { security = "tls", unheard_of_words = 2 }

[variables.unheard_of_words]
type = "integer"
default = 1
description = "How often the password is said."

[parts.sing-box]
client.outbound = { type = "trojan", password = "{{ generated.keys.password * vars.unheard_of_words }}" }
server.inbound = { type = "trojan", users = [{ password = "{{ generated.keys.password * vars.unheard_of_words }}" }] }
`,
  );
  writeFileSync(
    join(checkout, 'testbeds/protocols/engines/fork.toml'),
    `[parts]
reads = "sing-box"
program = "{{ root }}/bin/sing-box"
config_option = "-c"
version = '"$0" version --name'
`,
  );
  const validate = start('bin/k6', ['x', 'validate'], { cwd: checkout, env: cleanEnvironment() });
  assert.equal(await validate.ended, 0, validate.output.stderr);
  const own = { PROTOCOL: 'unheard-of', PROGRAMS: 'sing-box', CANDIDATE: 'fork' };
  const { result, printed } = await run('interop', { RUN_ID: 'fork', ...own });
  const understood = sectionOf(result, 'interop').rows;
  assert.deepEqual(understood, [['unheard-of', true, true, true, true]], printed);
});
