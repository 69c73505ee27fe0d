/** Theoretical throughput of one TCP connection. */

/** Bytes of payload in a full packet: an MTU of 1,500 less the headers of IP, of TCP, and its timestamps. */
const MSS_BYTES = 1448;
/** Constant of Mathis' formula if about every segment is acknowledged: the square root of 3/2. */
const MATHIS = Math.sqrt(1.5);

/**
 * Mathis, Semke, Mahdavi and Ott (1997): throughput of reno with random loss.
 * @param {{ rtt_ms: number, loss: number }} path loss is a share
 * @returns {number} Mbit/s; infinite without loss
 */
export const mathisMbit = ({ rtt_ms: rtt, loss }) =>
  ((MSS_BYTES * 8) / (rtt / 1000)) * (MATHIS / Math.sqrt(loss)) * 1e-6;
