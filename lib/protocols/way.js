/** How traffic gets through an instance of the testbed `protocols`: what k6 and Node.js both need. */

/** Where the far end is in the testbed's namespaces. */
export const FAR_HOST = '198.19.0.2';

/** @param {string} address */
const portOf = (address) => Number(address.split(':').pop());

/**
 * What a row is started with; where its client takes no address, the far end's ports are among it.
 * @param {Pick<import('./matrix.js').Row, 'variables'>} row
 * @param {{ tcp: string, udp: string }} target the far end
 */
export const variablesOf = ({ variables }, { tcp, udp }) => ({
  ...variables,
  ...(variables.inbound === 'direct' ? { target_tcp_port: portOf(tcp), target_udp_port: portOf(udp) } : {}),
});

/** How traffic comes in, and where. @param {{ outputs: Record<string, string> }} instance */
export function entryOf({ outputs }) {
  const [scheme, address] = outputs.DATAPLANE_URL.split('://');
  return { scheme, address };
}

/**
 * Where a probe is sent from and to: over a link from its one end to the far end at its other, else to the run's.
 * @param {any} instance
 * @param {{ target: (kind: 'tcp' | 'udp') => string }} plane
 * @param {'tcp' | 'udp'} kind
 */
export const reachOf = ({ ends }, plane, kind) =>
  ends ? { target: ends.far[kind], ...ends.near } : { target: plane.target(kind) };

/** The same through the proxy, whose server has the far end at home. @param {any} instance @param {{ target: (kind: 'tcp' | 'udp') => string }} plane @param {'tcp' | 'udp'} kind */
export const reachThrough = (instance, plane, kind) => ({
  ...reachOf(instance, plane, kind),
  ...(instance.ends ? { target: instance.ends.home[kind] } : {}),
});
