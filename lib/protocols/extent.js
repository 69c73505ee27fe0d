/** What each protocol needs besides a plain build of its engine, and which of its ways no row of the matrix measures, and why. */

/**
 * @typedef {object} Extent
 * @property {string} [needs] build tags of sing-box, features of the kernel, other programs
 * @property {string[]} [leftOut] what is not measured: why
 */

const NAMESPACES = "the kernel's network namespaces, and root or rights for them; iptables";
const QUIC_TAG = 'sing-box: build tag with_quic';
const V2RAY_TAGS =
  'sing-box: build tag with_quic for quic; none for grpc, whose small implementation is built in';
/** Of trojan, vmess and vless, whose transports are the same code. */
const TRANSPORTS = [
  'ws, grpc and httpupgrade without TLS: less than the rows with it do',
  'ws with early data: saves a round trip of a first reply only',
  'grpc by google.golang.org/grpc: needs build tag with_grpc, and replaces the small implementation',
  "smux and yamux: the rows with mux have the default, h2mux; xray's mux is Mux.Cool, another protocol",
];
const HTTP = 'http: vless-http measures the transport, which carries all three alike';
const REALITY = 'REALITY: vless-reality measures it, where it is in use';

/** By the first word of a row's name. @type {Record<string, Extent>} */
export const EXTENT = {
  socks: { leftOut: ['versions 4 and 4a: no authentication and no UDP'] },
  http: { leftOut: ['forwarding of GET without a tunnel: probes are of tunnels'] },
  mixed: { leftOut: ['HTTP at the same port: the row http measures it'] },
  shadowsocks: {
    leftOut: [
      '2022-blake3-aes-128-gcm and 2022-blake3-chacha20-poly1305: the rows without 2022 measure these ciphers',
      'aes-192-gcm and xchacha20-ietf-poly1305: the kin of ciphers that are measured',
      'plugins obfs-local and v2ray-plugin: sing-box has their client only',
      'UDP over TCP: shadowtls measures it',
    ],
  },
  trojan: { needs: V2RAY_TAGS, leftOut: [HTTP, REALITY, ...TRANSPORTS] },
  vmess: {
    needs: V2RAY_TAGS,
    leftOut: [
      HTTP,
      REALITY,
      'ciphers but aes-128-gcm: named in both engines, as auto is none under TLS in sing-box',
      ...TRANSPORTS,
    ],
  },
  vless: {
    needs: `${V2RAY_TAGS}; build tag with_utls for REALITY`,
    leftOut: [
      "Vision's splice: it leaves inner TLS 1.3 as it is, and the payload here is no TLS, so that the rows with vision measure its padding and TLS",
      'REALITY with grpc: vless-grpc and vless-reality measure the two',
      'xhttp and kcp: transports of xray-core only',
      ...TRANSPORTS,
    ],
  },
  hysteria: {
    needs: QUIC_TAG,
    leftOut: ['obfs: hysteria2-obfs measures such a cover', 'port hopping: it is the same flow'],
  },
  hysteria2: {
    needs: QUIC_TAG,
    leftOut: ['Brutal at a given rate: hysteria measures it', 'port hopping: it is the same flow'],
  },
  tuic: {
    needs: QUIC_TAG,
    leftOut: [
      'udp_relay_mode quic: the row has the default, native',
      'bbr and new_reno: the row has the default, cubic',
      'zero_rtt_handshake: sing-box advises against it',
    ],
  },
  shadowtls: { leftOut: ['versions 1 and 2: replaced by 3'] },
  naive: {
    needs:
      'the program naive-client, which make testbeds builds, as sing-box 1.12 has the inbound only; naive-outbound: sing-box 1.13 or newer, build tag with_naive_outbound and, with with_purego, libcronet.so beside it',
    leftOut: ['HTTP/3: naive-client speaks HTTP/2', 'UDP over TCP: shadowtls measures it'],
  },
  snell: {
    needs: 'sing-box 1.14 or newer',
    leftOut: [
      'obfs_mode http and mode unshaped, unsafe-raw: the rows have the defaults',
      'reuse: the rows have the default, a connection for each tunnel',
    ],
  },
  openvpn: {
    needs: 'sing-box 1.14 or newer: build tags with_openvpn and with_gvisor',
    leftOut: [
      'static_key: deprecated, for one peer',
      'client certificates, tls-auth and tls-crypt: they are part of the greeting alone',
      'by a device of the kernel (system): needs its rights, and TUN',
    ],
  },
  ssh: { needs: 'the program sshd: apt-get install openssh-server' },
  wireguard: {
    needs: 'sing-box: build tags with_wireguard and with_gvisor',
    leftOut: ['by a device of the kernel (system): needs its rights, and a module or TUN'],
  },
  redirect: { needs: `${NAMESPACES} with REDIRECT (nf_nat)`, leftOut: ['UDP: redirect is of TCP'] },
  tproxy: { needs: `${NAMESPACES} with TPROXY (xt_TPROXY); policy routing` },
  tun: {
    needs: `${NAMESPACES}; /dev/net/tun; sing-box: build tag with_gvisor for the stack mixed`,
    leftOut: [
      'stacks system and gvisor: the row has the default, mixed, which takes TCP by the first and UDP by the second',
    ],
  },
};
