/** The hop between a row's client and server, seen from outside, and other clients of the same server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort } from './free-port.js';
import { ROOT } from './k6.js';
import { until } from './processes.js';

const ESTABLISHED = '01';

/** How many TCP connections to a port of 127.0.0.1 are established, seen from their clients. @param {number} port */
export function connectionsTo(port) {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return lines.filter((line) => {
    const [, , to, state] = line.trim().split(/\s+/);
    return to === remote && state === ESTABLISHED;
  }).length;
}

/** SHA-256 of the certificate that a TLS client sees at a port of 127.0.0.1. @param {number} port */
export async function certificateAt(port) {
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    servername: 'windtunnel.test',
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

/** A file of an instance, such as client.json. @param {any} instance @param {string} name */
export const fileOf = ({ processes }, name) =>
  JSON.parse(readFileSync(`/proc/${processes[0].pid}/cwd/${name}`, 'utf8'));

/** @param {number} port */
const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => resolve(true));
    socket.on('close', () => socket.destroy());
    socket.on('connect', () => socket.destroy());
  });

/**
 * Starts another client of an instance's server, with keys, certificate and engine of the instance's own.
 * @param {any} instance
 * @param {string} folder for its configuration
 * @param {(hop: any) => void} change of the configuration of the outbound `hop`
 */
export async function otherClient(instance, folder, change) {
  const config = fileOf(instance, 'client.json');
  change(config.outbounds.find((/** @type {any} */ { tag }) => tag === 'hop'));
  const port = await freePort();
  const { engine } = instance.variables;
  config.inbounds[0][engine === 'xray' ? 'port' : 'listen_port'] = port;
  const path = join(folder, 'other-client.json');
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const child = spawn(join(ROOT, 'bin', engine), ['run', engine === 'xray' ? '-config' : '-c', path], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await until(async () => child.exitCode !== null || (await accepts(port)), 'the other client');
  if (child.exitCode !== null) throw new Error(`the other client ended: exit status ${child.exitCode}`);
  return {
    proxy: { address: `127.0.0.1:${port}` },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
