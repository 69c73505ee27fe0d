/** A row's hop is as its name says: a client without the transport, TLS, REALITY, Vision, obfs or right cipher gets no echo. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rowsOf } from '../../lib/protocols/matrix.js';
import { certificateAt, connectionsTo, fileOf, otherClient } from '../support/hop.js';
import { temporaryFolder } from '../support/k6.js';
import { binaryOf, probe } from '../support/rows.js';
import { startSidecar } from '../support/sidecar.js';
import { connectTunnel } from '../support/socks5.js';

/** @typedef {import('../../lib/protocols/matrix.js').Row} Row */

/** Rows at once: each mostly waits for an echo that must not come. */
const AT_ONCE = 5;
const TUNNELS = 8;
const TRIES = 12;

const logs = temporaryFolder('protocols-hop');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
/** @type {{ tcp: string }} */
let echo;

before(async () => {
  sidecar = await startSidecar(logs.path);
  ({ body: echo } = await sidecar.ask('POST', '/echoes', {}));
});

after(async () => {
  await sidecar.stop();
  logs.remove();
});

/**
 * A part of a row's hop, and a client without it.
 * @typedef {{ part: string, has: (row: Row) => boolean, without: Record<string, (hop: any, instance: any) => void> }} Part
 */

const QUIC = ['hysteria', 'hysteria2', 'tuic'];
/** @param {Row} row */
const isDatagrams = ({ variables, transport }) =>
  transport === 'quic' || variables.http3 || [...QUIC, 'wireguard'].includes(String(variables.protocol));
/** Whether a row uses the engine's common transport or TLS. @param {Row} row */
const isLayered = (row) =>
  ['http', 'trojan', 'vmess', 'vless'].includes(String(row.variables.protocol)) && !isDatagrams(row);
const site = (/** @type {any} */ instance) => fileOf(instance, 'site.json').inbounds[0].tls.certificate;

/** Other ciphers. A cipher with a key instead of a password keeps the key's size. @type {Record<string, string>} */
const OTHER_CIPHER = {
  'aes-128-gcm': 'aes-256-gcm',
  'aes-256-gcm': 'chacha20-ietf-poly1305',
  'chacha20-ietf-poly1305': 'aes-256-gcm',
  '2022-blake3-aes-256-gcm': '2022-blake3-chacha20-poly1305',
};

/** @type {Part[]} */
const PARTS = [
  {
    part: 'transport',
    has: (row) => isLayered(row) && row.transport !== 'tcp',
    without: {
      'sing-box': (hop) => delete hop.transport,
      xray: ({ streamSettings }) => (streamSettings.network = 'tcp'),
    },
  },
  {
    part: 'TLS',
    has: (row) => isLayered(row) && row.security === 'tls',
    without: {
      'sing-box': (hop) => {
        delete hop.tls;
        delete hop.flow;
      },
      xray: ({ streamSettings, settings }) => {
        streamSettings.security = 'none';
        delete settings.flow;
      },
    },
  },
  {
    part: 'REALITY',
    has: ({ security }) => security === 'reality',
    without: {
      'sing-box': (hop, instance) => {
        delete hop.tls.reality;
        hop.tls.certificate = site(instance);
      },
      xray: ({ streamSettings }, instance) => {
        const { serverName } = streamSettings.realitySettings;
        const certificates = [{ usage: 'verify', certificate: site(instance) }];
        streamSettings.security = 'tls';
        streamSettings.tlsSettings = { serverName, certificates, disableSystemRoot: true };
      },
    },
  },
  {
    part: 'Vision',
    has: ({ variables }) => Boolean(variables.vision),
    without: { 'sing-box': (hop) => delete hop.flow, xray: ({ settings }) => delete settings.flow },
  },
  {
    part: 'obfs',
    has: ({ variables }) => Boolean(variables.obfs),
    without: {
      'sing-box': (hop) => delete hop.obfs,
      xray: ({ streamSettings }) => delete streamSettings.finalmask,
    },
  },
  {
    part: 'its cipher',
    has: ({ variables }) => variables.protocol === 'shadowsocks',
    without: {
      'sing-box': (hop) => (hop.method = OTHER_CIPHER[hop.method]),
      xray: ({ settings }) => (settings.method = OTHER_CIPHER[settings.method]),
    },
  },
  {
    part: 'its encryption',
    has: ({ variables }) => Boolean(variables.encryption),
    without: { xray: ({ settings }) => (settings.encryption = 'none') },
  },
  {
    part: 'ShadowTLS',
    has: ({ variables }) => variables.protocol === 'shadowtls',
    without: {
      'sing-box': (hop, { variables }) => {
        delete hop.detour;
        Object.assign(hop, { server: '127.0.0.1', server_port: variables.server_port });
      },
    },
  },
];

/** Whether an echo comes back through a client. @param {{ address: string }} proxy @param {number} [tries] */
async function echoes(proxy, tries = 1) {
  const spec = {
    kind: 'tcp',
    target: echo.tcp,
    proxy,
    count: 1,
    timeout_ms: 1500,
    handshake_timeout_ms: 1500,
  };
  for (let left = tries; left > 0; left -= 1) {
    const { outcome } = await probe(sidecar, spec);
    if (outcome?.succeeded === 1) return true;
  }
  return false;
}

/** @param {any} instance @param {(hop: any) => void} change @param {number} [tries] */
async function echoesFor(instance, change, tries) {
  const client = await otherClient(instance, logs.fresh(), change);
  try {
    return await echoes(client.proxy, tries);
  } finally {
    await client.stop();
  }
}

/** Connections to the server while tunnels are open through the client. Each tunnel has carried payload. @param {any} instance */
async function connectionsOfTunnels({ variables }) {
  const [host, port] = echo.tcp.split(':');
  const proxy = { host: '127.0.0.1', port: variables.socks_port };
  const tunnels = [];
  try {
    for (let opened = 0; opened < TUNNELS; opened += 1) {
      const tunnel = await connectTunnel(proxy, { host, port: Number(port) });
      tunnels.push(tunnel);
      await tunnel.roundTrip(Buffer.from('windtunnel'));
    }
    return connectionsTo(variables.server_port);
  } finally {
    for (const tunnel of tunnels) tunnel.close();
  }
}

/** The fewest and the most connections; null if one connection of the transport may carry several tunnels. @param {Row} row */
function connectionsWanted(row) {
  if (isDatagrams(row)) return [0, 0];
  if (row.multiplex) return [1, TUNNELS - 1];
  return isLayered(row) && ['tcp', 'ws'].includes(row.transport) ? [TUNNELS, Infinity] : null;
}

describe('a hop', { concurrency: AT_ONCE }, () => {
  for (const engine of /** @type {const} */ (['sing-box', 'xray'])) {
    for (const row of rowsOf(engine)) {
      const parts = PARTS.filter(({ has }) => has(row));
      const wanted = connectionsWanted(row);
      if (parts.length === 0 && !wanted) continue;

      test(`${row.row} on ${engine}: its hop is what it says`, async () => {
        const instance = await sidecar.start('protocols', {
          ...row.variables,
          engine,
          binary: binaryOf(row),
        });
        try {
          const alike = () => echoesFor(instance, () => {}, row.known?.[engine] ? TRIES : 1);
          assert.ok(parts.length === 0 || (await alike()), 'another client like it');
          for (const { part, without } of parts)
            assert.ok(
              !(await echoesFor(instance, (hop) => without[engine](hop, instance))),
              `a client without ${part} gets an echo`,
            );
          const { server_port: server, site_port: borrowed } = instance.variables;
          if (row.security === 'reality' || row.variables.protocol === 'shadowtls')
            assert.equal(await certificateAt(server), await certificateAt(borrowed));
          if (!wanted) return;
          const connections = await connectionsOfTunnels(instance);
          const [least, most] = wanted;
          assert.ok(connections >= least && connections <= most, `${connections} connections`);
        } finally {
          await sidecar.ask('DELETE', `/instances/${instance.id}`);
        }
      });
    }
  }
});
