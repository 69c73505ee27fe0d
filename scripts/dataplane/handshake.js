/**
 * How long does it take from dialling a SOCKS5 proxy to a usable tunnel, and how long does each step take? A tunnel is usable
 * when 64 bytes of the far end have come back through it: some proxies report an open tunnel before they dial.
 *
 * quick: 1,000 tunnels, one after the other, in 4 rounds, each beside as many plain TCP connections. Profiles from full on add
 * an open loop at a fixed RATE per second.
 */
import { EARLY_ANSWER } from '../../lib/dataplane/claims.js';
import { singleOperations } from '../../lib/dataplane/single-operations.js';
import { loadPlane } from '../../lib/dataplane/environment.js';

const { username, tls } = loadPlane().proxy;
const withAuth = username !== null;

/** @param {string} series @param {string} title @param {string} latencyIs */
const stage = (series, title, latencyIs) => ({ title, latencyIs, series, bounds: {} });

const script = singleOperations({
  name: 'handshake',
  title: 'Opening tunnels through SOCKS5 CONNECT',
  operation: 'handshake',
  what: 'Open a tunnel',
  latencyIs: 'from dialling to the last byte of the first answer of the far end',
  base: { smoke: 100, quick: 1000, full: 5000 },
  countVariable: 'HANDSHAKES',
  p95: 100,
  series: 'total',
  againstControl: true,
  check: EARLY_ANSWER,
  parameters: { auth: withAuth, first_reply: true },
  probe: { kind: 'handshake', first_reply: true, payload_bytes: 64 },
  stages: {
    dial: stage('dial', '… dial', 'TCP connection to the proxy'),
    ...(tls ? { tls: stage('tls', '… TLS', 'the whole handshake of TLS with the proxy') } : {}),
    greeting: stage('greeting', '… greeting', 'from the greeting to the chosen method'),
    ...(withAuth
      ? { auth: { ...stage('auth', '… auth', 'from user and password to their answer'), optional: true } }
      : {}),
    connect: stage('connect', '… connect', 'from CONNECT to its reply'),
    first_reply: stage(
      'first_reply',
      '… first reply',
      'from the first 64 bytes sent to the last one received',
    ),
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
