/** Starts rows of the protocol matrix, and probes them through the sidecar. */

/** @typedef {Awaited<ReturnType<typeof import('./sidecar.js').startSidecar>>} Sidecar */
/** @typedef {import('../../lib/protocols/matrix.js').Row} Row */

/** What a row is started with. @param {Row} row @param {{ tcp: string, udp: string }} echo */
export const variablesOf = ({ variables }, { tcp, udp }) => ({
  ...variables,
  ...(variables.inbound === 'direct'
    ? { target_tcp_port: Number(tcp.split(':')[1]), target_udp_port: Number(udp.split(':')[1]) }
    : {}),
});

/**
 * Runs a probe to its end.
 * @param {Sidecar} sidecar
 * @param {object} spec
 */
export async function probe(sidecar, spec) {
  const { status, body } = await sidecar.ask('POST', '/probes', spec);
  if (status !== 201) throw new Error(JSON.stringify(body));
  for (;;) {
    const { body: state } = await sidecar.ask('GET', `/probes/${body.id}?wait_s=20`);
    if (state.state !== 'running') return state;
  }
}

/**
 * How a probe gets to the far end through an instance.
 * @param {any} instance
 * @param {string} target address of the echo server
 */
export function way({ outputs, secret_outputs: secrets }, target) {
  const [scheme, address] = outputs.DATAPLANE_URL.split('://');
  if (scheme === 'direct') return { target: address };
  const user = outputs.DATAPLANE_USERNAME
    ? { username: outputs.DATAPLANE_USERNAME, password: secrets.DATAPLANE_PASSWORD }
    : {};
  return { target, proxy: { address, ...user } };
}
