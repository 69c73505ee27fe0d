/** How traffic passes an instance of the testbed `protocols`. Both k6 and Node.js use this file. */

/** Address of the far end in the testbed's namespaces. */
export const FAR_HOST = '198.19.0.2';

/** @param {string} address */
export const portOf = (address) => Number(address.split(':').pop());

/**
 * Variables to start a row with. A client that takes no address gets the far end's ports.
 * @param {Pick<import('./matrix.js').Row, 'variables'>} row
 * @param {{ tcp: string, udp: string }} target the far end
 */
export const variablesOf = ({ variables }, { tcp, udp }) => ({
  ...variables,
  ...(variables.inbound === 'direct' ? { target_tcp_port: portOf(tcp), target_udp_port: portOf(udp) } : {}),
});

/** Scheme and address at which an instance takes traffic. @param {{ outputs: Record<string, string> }} instance */
export function entryOf({ outputs }) {
  const [scheme, address] = outputs.DATAPLANE_URL.split('://');
  return { scheme, address };
}

/**
 * Source and target of a direct probe: the two ends of the instance's link, or the run's far end.
 * @param {any} instance
 * @param {{ target: (kind: 'tcp' | 'udp') => string }} plane
 * @param {'tcp' | 'udp'} kind
 */
export const reachOf = ({ ends }, plane, kind) =>
  ends ? { target: ends.far[kind], ...ends.near } : { target: plane.target(kind) };

/** The same for a probe through the proxy, with the far end's address at the proxy's server. @param {any} instance @param {{ target: (kind: 'tcp' | 'udp') => string }} plane @param {'tcp' | 'udp'} kind */
export const reachThrough = (instance, plane, kind) => ({
  ...reachOf(instance, plane, kind),
  ...(instance.ends ? { target: instance.ends.home[kind] } : {}),
});
