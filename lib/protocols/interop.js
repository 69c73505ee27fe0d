/** Compatibility of programs. */
import { hasHop, muxOf, runs } from './matrix.js';

/**
 * @typedef {import('./programs.js').Program} Program
 * @typedef {import('./matrix.js').Row} Row
 * @typedef {{ client: string, server: string, outcome: import('./hop.js').Name, detail: string | null }} Cell
 * @typedef {{ client: Program, server: Program, name: string }} Pair
 */

/**
 * Why two programs are not tested with each other, or null.
 * @param {Row} row
 * @param {Pick<Pair, 'client' | 'server'>} pair
 * @returns {string | null}
 */
export function untried(row, { client, server }) {
  const lack = runs(row, { ...client, server });
  if (lack !== true) return lack;
  if (client === server) return null;
  for (const [end, program] of Object.entries(row.foreign ?? {}))
    return `its ${end} is ${program} with every program at the other end`;
  const [near, far] = [muxOf(client.engine), muxOf(server.engine)];
  if (row.multiplex && near !== far)
    return `${near} of ${client.engine} and ${far} of ${server.engine} are two protocols`;
  return null;
}

/** The rows with a hop. @param {Row[]} rows */
export const withHop = (rows) => rows.filter(hasHop);

/** All pairs of a client and a server. @param {Program[]} programs @returns {Pair[]} */
export const pairsOf = (programs) =>
  programs.flatMap((client) =>
    programs.map((server) => ({ client, server, name: `${client.name}-to-${server.name}` })),
  );

/** The result of a row that the run did not reach. */
const NOT_REACHED = /** @type {const} */ ({ outcome: 'not reached', detail: null, version: null });

/**
 * The cells of all rows.
 * @param {Record<string, import('./hop.js').Heard[]>} notes results of the tested pairs, by row
 * @param {{ rows: Row[], programs: Program[], digests: (string | null)[] }} asked `digests` of the programs' files
 */
export function interopOf(notes, { rows, programs, digests }) {
  /** @type {Record<string, string | null>} */
  const versions = {};
  const cellsOf = (/** @type {Row} */ row) => {
    const results = [...(notes[row.row] ?? [])];
    return pairsOf(programs).map((pair) => {
      const [client, server] = [pair.client.name, pair.server.name];
      const reason = untried(row, pair);
      if (reason !== null)
        return { client, server, outcome: /** @type {const} */ ('impossible here'), detail: reason };
      const { outcome, detail, version } = results.shift() ?? NOT_REACHED;
      versions[client] ??= version;
      return { client, server, outcome, detail };
    });
  };
  const all = rows.map((row) => ({ row: row.row, cells: cellsOf(row) }));
  return {
    programs: programs.map(({ name, engine, binary }, index) => ({
      name,
      engine,
      binary: binary.split('/').pop() || engine,
      version: versions[name] ?? null,
      sha256: digests[index],
    })),
    rows: all,
  };
}

/**
 * Which end of the candidate is at fault, if both programs work with themselves.
 * @param {{ outcome: import('./hop.js').Name, detail: string | null }} toServer the baseline's client with the candidate's server
 * @param {{ outcome: import('./hop.js').Name, detail: string | null }} toClient the candidate's client with the baseline's server
 * @returns {{ outcome: 'does not interoperate' | 'not encrypted' | 'killed for memory', detail: string } | null} null if they are compatible
 */
export function atFault(toServer, toClient) {
  const [server, client] = [toServer, toClient].map((one) => (one.outcome === 'interoperates' ? null : one));
  if (!server && !client) return null;
  const clearer = /** @type {const} */ (['not encrypted', 'killed for memory']);
  const outcome =
    clearer.find((name) => [server, client].some((one) => one?.outcome === name)) ?? 'does not interoperate';
  const reasonOf = (/** @type {{ outcome: string, detail: string | null }} */ { outcome: name, detail }) =>
    detail ?? name;
  if (server && client)
    return {
      outcome,
      detail: `its server with the baseline's client: ${reasonOf(server)}; its client with the baseline's server: ${reasonOf(client)}`,
    };
  if (server) return { outcome, detail: `its server, with the baseline's client: ${reasonOf(server)}` };
  return {
    outcome,
    detail: `its client, with the baseline's server: ${reasonOf(/** @type {any} */ (client))}`,
  };
}
