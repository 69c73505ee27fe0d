/**
 * Every proxy protocol that the testbed `protocols` starts, one row each, and what of sing-box the rows cover.
 * A new protocol is a row here and its users in testbeds/protocols/*.j2.
 */
import { EXTENT } from './extent.js';

/**
 * What may be said of an engine: it runs the row, or why it does not.
 * @typedef {true | string} Runs
 *
 * @typedef {object} Row
 * @property {string} row its name: the protocol, then what carries it
 * @property {string} inbound type of sing-box that the server, or the client where there is no server, takes it with
 * @property {string} outbound type of sing-box that the client sends it with
 * @property {string} transport
 * @property {string} security
 * @property {boolean} multiplex
 * @property {boolean} udp whether datagrams go through
 * @property {{ 'sing-box': Runs, xray: Runs }} engines
 * @property {string} [since] the first version of sing-box that has it, where that is newer than 1.12: an older one refuses it, and says so
 * @property {boolean} [dialsAtStart] its client dials when it starts, and refuses all until it has got through
 * @property {Partial<Record<'sing-box' | 'xray', string>>} [known] what an engine is known to get wrong now and then
 * @property {'namespaces' | 'sshd' | 'naive-client'} [needs] what it needs besides the two engines
 * @property {Record<string, string | number | boolean>} variables of the testbed, besides the engine
 */

/** @typedef {Partial<Pick<Row, 'inbound' | 'outbound' | 'udp' | 'needs' | 'known' | 'since' | 'dialsAtStart'>> & { xray?: string }} Special */

/**
 * @param {string} row
 * @param {Record<string, string | number | boolean>} variables
 * @param {Special} [special] what differs from a pair that both engines run, with UDP
 * @returns {Row}
 */
function entry(row, variables, { xray, ...special } = {}) {
  const protocol = String(variables.protocol);
  return {
    row,
    inbound: protocol,
    outbound: protocol,
    transport: String(variables.transport ?? 'tcp'),
    security: String(variables.security ?? 'none'),
    multiplex: Boolean(variables.multiplex),
    udp: true,
    engines: { 'sing-box': true, xray: xray ?? true },
    ...special,
    variables,
  };
}

const CIPHERS = {
  'shadowsocks-aes-128-gcm': 'aes-128-gcm',
  'shadowsocks-aes-256-gcm': 'aes-256-gcm',
  'shadowsocks-chacha20': 'chacha20-ietf-poly1305',
  'shadowsocks-2022': '2022-blake3-aes-256-gcm',
};
const QUIC_DROPPED = 'xray-core has dropped the transport quic';
const absent = (/** @type {string} */ what) => `xray-core has no ${what}`;
/** Seen with sing-box 1.12.12 and 1.13.14: the server ignores the buffered reader that Hijack returns. */
const UPGRADE_BREAKS =
  'its httpupgrade server loses payload that arrives before it has taken the connection over: about one new tunnel in thirty breaks';
/** Seen with xray-core 26.3.27: "failed to write A request payload > common/buf: buffer is full". */
const TROJAN_BREAKS =
  'its trojan client closes a tunnel that has more than 8 KiB to send before the server is reached: most uploads break';
/** Its header must arrive in one piece; see docs/add-a-testbed.md. */
const SS_2022 = {
  known: {
    'sing-box': 'its shadowsocks 2022 server resets about one new tunnel in a thousand on a busy machine',
  },
};
const TROJAN = { known: { xray: TROJAN_BREAKS } };
const UPGRADE = { known: { 'sing-box': UPGRADE_BREAKS } };
const TLS = { security: 'tls' };
/** Two endpoints of sing-box, which are neither inbound nor outbound. */
const OPENVPN = {
  inbound: 'none',
  outbound: 'none',
  since: '1.14',
  dialsAtStart: true,
  xray: absent('openvpn'),
};

/** @type {Row[]} */
export const MATRIX = [
  entry('socks', { protocol: 'socks' }),
  entry('http', { protocol: 'http' }, { udp: false }),
  entry('http-tls', { protocol: 'http', ...TLS }, { udp: false }),
  entry('mixed', { protocol: 'mixed' }, { outbound: 'socks' }),
  ...Object.entries(CIPHERS).map(([row, cipher]) =>
    entry(row, { protocol: 'shadowsocks', cipher }, cipher.startsWith('2022') ? SS_2022 : {}),
  ),
  entry(
    'shadowsocks-2022-mux',
    {
      protocol: 'shadowsocks',
      cipher: CIPHERS['shadowsocks-2022'],
      multiplex: true,
    },
    SS_2022,
  ),
  entry('trojan', { protocol: 'trojan', ...TLS }, TROJAN),
  entry('trojan-ws', { protocol: 'trojan', ...TLS, transport: 'ws' }, TROJAN),
  entry('trojan-grpc', { protocol: 'trojan', ...TLS, transport: 'grpc' }, TROJAN),
  entry(
    'trojan-httpupgrade',
    { protocol: 'trojan', ...TLS, transport: 'httpupgrade' },
    { known: { ...UPGRADE.known, ...TROJAN.known } },
  ),
  entry('trojan-quic', { protocol: 'trojan', ...TLS, transport: 'quic' }, { xray: QUIC_DROPPED }),
  entry('trojan-mux', { protocol: 'trojan', ...TLS, multiplex: true }),
  entry('vmess', { protocol: 'vmess' }),
  entry('vmess-tls', { protocol: 'vmess', ...TLS }),
  entry('vmess-ws', { protocol: 'vmess', ...TLS, transport: 'ws' }),
  entry('vmess-grpc', { protocol: 'vmess', ...TLS, transport: 'grpc' }),
  entry('vmess-httpupgrade', { protocol: 'vmess', ...TLS, transport: 'httpupgrade' }, UPGRADE),
  entry('vmess-quic', { protocol: 'vmess', ...TLS, transport: 'quic' }, { xray: QUIC_DROPPED }),
  entry('vmess-mux', { protocol: 'vmess', multiplex: true }),
  entry('vless', { protocol: 'vless' }),
  entry('vless-tls', { protocol: 'vless', ...TLS }),
  entry('vless-ws', { protocol: 'vless', ...TLS, transport: 'ws' }),
  entry('vless-grpc', { protocol: 'vless', ...TLS, transport: 'grpc' }),
  entry('vless-httpupgrade', { protocol: 'vless', ...TLS, transport: 'httpupgrade' }, UPGRADE),
  entry(
    'vless-http',
    { protocol: 'vless', ...TLS, transport: 'http' },
    { xray: 'xray-core has replaced the transport http by xhttp, which sing-box does not speak' },
  ),
  entry('vless-quic', { protocol: 'vless', ...TLS, transport: 'quic' }, { xray: QUIC_DROPPED }),
  entry('vless-mux', { protocol: 'vless', ...TLS, multiplex: true }),
  entry('vless-reality', { protocol: 'vless', security: 'reality' }),
  entry('vless-vision', { protocol: 'vless', ...TLS, vision: true }),
  entry('vless-reality-vision', { protocol: 'vless', security: 'reality', vision: true }),
  entry(
    'hysteria',
    { protocol: 'hysteria', ...TLS, hysteria_mbps: 1000 },
    { xray: absent('hysteria before version 2') },
  ),
  entry('hysteria2', { protocol: 'hysteria2', ...TLS }),
  entry('hysteria2-obfs', { protocol: 'hysteria2', ...TLS, obfs: true }),
  entry('tuic', { protocol: 'tuic', ...TLS }, { xray: absent('tuic') }),
  entry('shadowtls', { protocol: 'shadowtls', ...TLS }, { xray: absent('shadowtls') }),
  entry('shadowtls-mux', { protocol: 'shadowtls', ...TLS, multiplex: true }, { xray: absent('shadowtls') }),
  entry('anytls', { protocol: 'anytls', ...TLS }, { xray: absent('anytls') }),
  entry(
    'naive',
    { protocol: 'naive', ...TLS },
    { outbound: 'none', udp: false, needs: 'naive-client', xray: absent('naive') },
  ),
  entry(
    'naive-outbound',
    { protocol: 'naive', ...TLS, naive_outbound: true },
    { udp: false, since: '1.13', xray: absent('naive') },
  ),
  entry('snell', { protocol: 'snell' }, { since: '1.14', xray: absent('snell') }),
  entry('snell-v4', { protocol: 'snell', snell_version: '4' }, { since: '1.14', xray: absent('snell') }),
  entry('ssh', { protocol: 'ssh' }, { inbound: 'none', udp: false, needs: 'sshd', xray: absent('ssh') }),
  entry('wireguard', { protocol: 'wireguard' }, { inbound: 'none' }),
  entry('openvpn', { protocol: 'openvpn', ...TLS }, OPENVPN),
  entry('openvpn-tcp', { protocol: 'openvpn', ...TLS, openvpn_network: 'tcp' }, OPENVPN),
  entry('direct', { protocol: 'direct', inbound: 'direct' }),
  ...['redirect', 'tproxy', 'tun'].map((inbound) =>
    entry(
      inbound,
      { protocol: 'direct', inbound },
      {
        inbound,
        udp: inbound !== 'redirect',
        needs: 'namespaces',
        ...(inbound === 'tun' ? { xray: 'its tun inbound makes no routes' } : {}),
      },
    ),
  ),
  entry(
    'selector',
    { protocol: 'shadowsocks', group: 'selector' },
    { outbound: 'selector', xray: absent('selector') },
  ),
  entry(
    'urltest',
    { protocol: 'shadowsocks', group: 'urltest' },
    { outbound: 'urltest', xray: 'xray-core has no urltest: its observatory only feeds balancers' },
  ),
];

/** The types of sing-box 1.12 to 1.14, as their documentation lists them. */
const INBOUNDS =
  'direct mixed socks http shadowsocks vmess trojan naive hysteria shadowtls tuic hysteria2 vless anytls snell tun redirect tproxy cloudflared'.split(
    ' ',
  );
const OUTBOUNDS =
  'direct block socks http shadowsocks vmess trojan wireguard hysteria vless shadowtls tuic hysteria2 anytls naive snell tor ssh dns bridge selector urltest'.split(
    ' ',
  );

/** Why no row covers a type. @type {Record<'inbound' | 'outbound', Record<string, string>>} */
const UNCOVERED = {
  inbound: {
    cloudflared: "needs Cloudflare's network, and nothing here leaves this machine",
  },
  outbound: {
    bridge: 'sends packets out of a device of this machine, and none to loopback',
    block: 'moves nothing by design; tests/real/protocols.test.js checks that it refuses',
    tor: 'needs the Tor network, and nothing here leaves this machine',
    dns: 'carries queries only: `make protocols-dns HIJACK=outbound` measures it',
  },
};

/** What is measured in place of a type. @type {Record<string, string>} */
const INSTEAD = {
  wireguard: 'the endpoint of that name, which replaces the outbound since sing-box 1.11',
};

/**
 * @param {'inbound' | 'outbound'} side
 * @param {string[]} types
 */
const coverageOf = (side, types) =>
  types.map((type) => {
    const rows = MATRIX.filter((row) => row[side] === type).map(({ row }) => row);
    return {
      type,
      rows,
      reason: rows.length > 0 ? null : UNCOVERED[side][type],
      instead: INSTEAD[type] ?? null,
    };
  });

/** What encrypts by itself, whatever carries it. */
const ENCRYPTS = ['shadowsocks', 'vmess', 'snell', 'ssh', 'wireguard'];

/** Whether nobody in between may read what goes through a row's hop. @param {Pick<Row, 'security' | 'variables'>} row */
export const isEncrypted = ({ security, variables }) =>
  security !== 'none' || ENCRYPTS.includes(String(variables.protocol));

/** Whether a row has a hop: a client and a server. @param {Pick<Row, 'variables'>} row */
export const hasHop = ({ variables }) => variables.protocol !== 'direct' && variables.protocol !== 'block';

/** A row's protocol: its name's first word. @param {Row} row */
export const protocolOf = ({ row }) => row.split('-')[0];

/**
 * Each inbound and outbound type of sing-box 1.12 to 1.14 with the rows that cover it, or why none does; and each protocol
 * with what it needs besides a plain sing-box, and which of its ways no row measures, and why.
 */
export const coverage = {
  inbound: coverageOf('inbound', INBOUNDS),
  outbound: coverageOf('outbound', OUTBOUNDS),
  protocols: [...new Set(MATRIX.map(protocolOf))].map((protocol) => ({
    protocol,
    rows: MATRIX.filter((row) => protocolOf(row) === protocol).map(({ row }) => row),
    needs: EXTENT[protocol]?.needs ?? null,
    left_out: EXTENT[protocol]?.leftOut ?? [],
  })),
};

/** @param {'sing-box' | 'xray'} engine */
export const rowsOf = (engine) => MATRIX.filter(({ engines }) => engines[engine] === true);
