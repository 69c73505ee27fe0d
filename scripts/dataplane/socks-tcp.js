/**
 * How long does a request with its answer take over TCP through a SOCKS5 proxy, and how much of it is due to the proxy?
 *
 * quick: 2,000 round trips of 1,024 bytes on one connection, in 4 rounds, each beside the same direct. Profiles from full on add
 * an open loop at a fixed RATE.
 */
import { envCount } from '../../lib/profiles.js';
import { HALF_CLOSE } from '../../lib/dataplane/claims.js';
import { singleOperations } from '../../lib/dataplane/single-operations.js';

const payloadBytes = envCount('PAYLOAD_BYTES', 'dataplane/socks-tcp');

const script = singleOperations({
  name: 'socks-tcp',
  title: 'TCP round trips through SOCKS5 CONNECT',
  operation: 'tcp',
  what: 'TCP round trip',
  latencyIs: 'from the first byte sent to the last byte of the answer received',
  base: { smoke: 400, quick: 2000, full: 20000 },
  countVariable: 'ROUND_TRIPS',
  p95: 50,
  check: HALF_CLOSE,
  parameters: { payload_bytes: payloadBytes },
  probe: { kind: 'tcp', payload_bytes: payloadBytes },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
