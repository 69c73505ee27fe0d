/** Ports that tests give to programs (tests/support/free-port.js). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../support/free-port.js';

test('a free port can be bound, and lies below the ports of outgoing connections and of testbeds', async () => {
  const [ephemeral] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/).map(Number);
  const held = [];
  try {
    for (let count = 0; count < 50; count += 1) {
      const port = await freePort();
      assert.ok(port < ephemeral && port < 20_000, `${port}`);
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      held.push(server);
    }
  } finally {
    for (const server of held) server.close();
  }
});
