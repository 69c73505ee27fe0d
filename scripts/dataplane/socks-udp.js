/**
 * How long does a datagram with its answer take through a SOCKS5 UDP association, and how many are lost?
 *
 * quick: 2,000 datagrams of 1,024 bytes, one in flight, in 4 rounds, each beside the same direct. An answer later than TIMEOUT_MS
 * counts as lost. Profiles from full on add an open loop at a fixed RATE.
 */
import { envCount } from '../../lib/profiles.js';
import { singleOperations } from '../../lib/dataplane/single-operations.js';

const payloadBytes = envCount('PAYLOAD_BYTES', 'dataplane/socks-udp');
const window = envCount('WINDOW', 'dataplane/socks-udp');
const timeoutMs = envCount('TIMEOUT_MS', 'dataplane/socks-udp');
if (envCount('CONNECTIONS', 'dataplane/socks-udp') > 1)
  throw 'CONNECTIONS: socks-udp has one association; set WINDOW for more in flight';

const script = singleOperations({
  name: 'socks-udp',
  title: 'UDP round trips through SOCKS5 UDP ASSOCIATE',
  operation: 'udp',
  what: 'UDP round trip',
  latencyIs: 'from the datagram sent to its answer received',
  base: { smoke: 400, quick: 2000, full: 20000 },
  countVariable: 'ROUND_TRIPS',
  p95: 50,
  saturates: window > 1,
  parameters: {
    payload_bytes: payloadBytes,
    window,
    timeout_ms: timeoutMs,
  },
  // In an open loop the window must hold all datagrams sent within one timeout.
  openProbe: (rate) => ({ window: Math.min(4096, Math.max(window, Math.ceil((rate * timeoutMs) / 1000))) }),
  probe: { kind: 'udp', payload_bytes: payloadBytes, window, timeout_ms: timeoutMs },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
