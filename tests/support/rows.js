/** Starts rows of the protocol matrix, and probes them through the sidecar. */
import { fileURLToPath } from 'node:url';
import { FAR_HOST, entryOf } from '../../lib/protocols/way.js';

export { variablesOf } from '../../lib/protocols/way.js';

/** Our builds of newer versions, by the feature that 1.12 lacks. @type {Record<string, string>} */
const NEWER = { 1.13: 'sing-box-1.13', 1.14: 'sing-box-next' };

/**
 * The program for a row that our sing-box is too old for; '' if our sing-box runs the row.
 * @param {Pick<import('../../lib/protocols/matrix.js').Row, 'since'>} row
 */
export const binaryOf = ({ since }) =>
  since === undefined ? '' : fileURLToPath(new URL(`../../bin/${NEWER[since]}`, import.meta.url));

/** @typedef {Awaited<ReturnType<typeof import('./sidecar.js').startSidecar>>} Sidecar */

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
 * @param {Sidecar} sidecar
 * @param {any} instance
 * @param {{ tcp: string, udp: string }} echo
 * @param {'tcp' | 'udp'} kind
 */
export async function way(sidecar, { id, outputs, secret_outputs: secrets }, echo, kind) {
  const { scheme, address } = entryOf({ outputs });
  const target = echo[kind];
  if (scheme === 'direct') return { target: address };
  if (scheme !== 'socks5') {
    const namespace = { instance: id, name: 'server' };
    const { body: far } = await sidecar.ask('POST', '/echoes', { host: FAR_HOST, namespace });
    return { target: far[kind], namespace: { instance: id, name: 'client' } };
  }
  const user = outputs.DATAPLANE_USERNAME
    ? { username: outputs.DATAPLANE_USERNAME, password: secrets.DATAPLANE_PASSWORD }
    : {};
  return { target, proxy: { address, ...user } };
}
