/**
 * Every proxy protocol that the testbed `protocols` starts, a row each, and what of sing-box the rows cover. A row is a file
 * in testbeds/protocols/rows; what only a new protocol has, its users and its parts of the configuration, is in the
 * templates beside it.
 */
import { matrix } from 'k6/x/windtunnel/protocols';
import { pathOf } from '../file.js';
import { EXTENT } from './extent.js';

/**
 * What may be said of an engine: it runs the row, or why it does not.
 * @typedef {true | string} Runs
 *
 * @typedef {object} Row
 * @property {string} row its name: the protocol, then what carries it
 * @property {number} [order] its place in tables
 * @property {string} inbound type of sing-box that the server, or the client where there is no server, takes it with
 * @property {string} outbound type of sing-box that the client sends it with
 * @property {string} transport
 * @property {string} security
 * @property {boolean} multiplex
 * @property {boolean} udp whether datagrams go through
 * @property {{ 'sing-box': Runs, xray: Runs }} engines
 * @property {string} [since] the first version of sing-box that has it, where that is newer than 1.12: an older one refuses it, and says so
 * @property {boolean} [dialsAtStart] its client dials when it starts, and refuses all until it has got through
 * @property {boolean} encrypts whether nobody in between may read what goes through its hop
 * @property {Partial<Record<'sing-box' | 'xray', string>>} [known] what an engine is known to get wrong now and then
 * @property {'namespaces' | 'sshd' | 'naive-client'} [needs] what it needs besides the two engines
 * @property {Record<string, string | number | boolean>} variables of the testbed, besides the engine
 */

/** @typedef {{ faults: Record<string, string>, inbounds: string[], outbounds: string[], uncovered: Record<'inbound' | 'outbound', Record<string, string>>, instead: Record<string, string> }} Engine */

/** @type {{ rows: { name: string, row: any }[], engines: Record<'sing-box' | 'xray', Engine> }} */
const { rows, engines: byEngine } = JSON.parse(
  matrix(pathOf(import.meta.resolve('../../testbeds/protocols'))),
);

/** The texts of the faults that a row names. @param {Record<'sing-box' | 'xray', string>} known */
const faultsOf = (known) =>
  Object.fromEntries(
    Object.entries(known).map(([engine, fault]) => [
      engine,
      byEngine[/** @type {'sing-box' | 'xray'} */ (engine)].faults[fault],
    ]),
  );

/** @param {{ name: string, row: any }} file @returns {Row} */
function rowOf({ name, row: { without, known, encrypts = false, dials_at_start: dialsAtStart, ...own } }) {
  const { protocol, transport = 'tcp', security = 'none', multiplex = false } = own.variables;
  return {
    row: name,
    inbound: protocol,
    outbound: protocol,
    transport,
    security,
    multiplex,
    udp: true,
    encrypts: encrypts || security !== 'none',
    engines: { 'sing-box': true, xray: true, ...without },
    ...(known ? { known: faultsOf(known) } : {}),
    ...(dialsAtStart ? { dialsAtStart } : {}),
    ...own,
  };
}

export const MATRIX = rows.map(rowOf);

const { inbounds, outbounds, uncovered, instead } = byEngine['sing-box'];

/**
 * @param {'inbound' | 'outbound'} side
 * @param {string[]} types
 */
const coverageOf = (side, types) =>
  types.map((type) => {
    const covered = MATRIX.filter((row) => row[side] === type).map(({ row }) => row);
    return {
      type,
      rows: covered,
      reason: covered.length > 0 ? null : uncovered[side][type],
      instead: instead[type] ?? null,
    };
  });

/** Whether a row has a hop: a client and a server. @param {Pick<Row, 'variables'>} row */
export const hasHop = ({ variables }) => variables.protocol !== 'direct' && variables.protocol !== 'block';

/** A row's protocol: its name's first word. @param {Row} row */
export const protocolOf = ({ row }) => row.split('-')[0];

/**
 * Each inbound and outbound type of sing-box 1.12 to 1.14 with the rows that cover it, or why none does; and each protocol
 * with what it needs besides a plain sing-box, and which of its ways no row measures, and why.
 */
export const coverage = {
  inbound: coverageOf('inbound', inbounds),
  outbound: coverageOf('outbound', outbounds),
  protocols: [...new Set(MATRIX.map(protocolOf))].map((protocol) => ({
    protocol,
    rows: MATRIX.filter((row) => protocolOf(row) === protocol).map(({ row }) => row),
    needs: EXTENT[protocol]?.needs ?? null,
    left_out: EXTENT[protocol]?.leftOut ?? [],
  })),
};

/** @param {'sing-box' | 'xray'} engine */
export const rowsOf = (engine) => MATRIX.filter(({ engines }) => engines[engine] === true);
