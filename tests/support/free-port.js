/** A port for a program that cannot choose one itself. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** The testbeds of the sidecar take ports from 20,000 on (sidecar/src/testbed/ports.rs). */
const LOWEST = 10_000;
const HIGHEST = 19_999;
const TRIES = 100;

/** The kernel's first port for outgoing connections. */
const ephemeralStart = () =>
  Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);

/** @param {number} port of 127.0.0.1 @returns {Promise<boolean>} whether a program can listen there */
async function isFree(port) {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * A port of 127.0.0.1 that is free now. The kernel gives outgoing connections higher ports, so they cannot take the port before the
 * program listens there.
 * @returns {Promise<number>}
 */
export async function freePort() {
  const end = Math.min(HIGHEST + 1, ephemeralStart());
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, end);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${LOWEST} to ${end - 1} is free`);
}
