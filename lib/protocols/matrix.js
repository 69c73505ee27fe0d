/**
 * Every proxy protocol that the testbed `protocols` starts, a row each, and what of sing-box the rows cover. A protocol is a
 * file in testbeds/protocols/rows, with its rows; an engine is a file in testbeds/protocols/engines.
 */
import { matrix } from 'k6/x/windtunnel/protocols';
import { pathOf } from '../file.js';

/**
 * What may be said of an engine: it runs the row, or why it does not.
 * @typedef {true | string} Runs
 * @typedef {'sing-box' | 'xray'} Engine whose configuration a program reads
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
 * @property {Record<Engine, Runs>} engines
 * @property {string} [since] the first version of sing-box that has it, where that is newer than 1.12: an older one refuses it, and says so
 * @property {boolean} [dialsAtStart] its client dials when it starts, and refuses all until it has got through
 * @property {boolean} encrypts whether nobody in between may read what goes through its hop
 * @property {'plain' | 'tls' | 'quic' | 'random' | 'ssh' | 'wireguard' | 'openvpn'} wire what an observer of its hop must see
 * @property {Partial<Record<Engine, string>>} [known] what an engine is known to get wrong now and then
 * @property {Partial<Record<Engine, string>>} [firstHop] why it cannot be the first hop of a chain with an engine
 * @property {'namespaces'} [needs] what of the machine it needs
 * @property {string} [told] its variable that is the rate, in Mbit/s, which both ends are told to send at
 * @property {{ client?: string, server?: string }} [foreign] the program that is an end of it, in place of any engine
 * @property {Record<string, string | number | boolean>} variables of the testbed, besides the engine
 */

/** @typedef {{ needs?: string, carried_by?: string, left_out?: string[], alone?: boolean }} Protocol */
/** @typedef {{ faults: Record<string, string>, carriers: Record<string, Protocol>, types: Record<'inbound' | 'outbound', string[]>, uncovered: Record<'inbound' | 'outbound', Record<string, string>>, instead: Record<string, string>, parts: { reads: Engine, program: string } }} EngineFile */

/** @type {{ rows: { name: string, protocol: string, row: any }[], protocols: Record<string, Protocol>, engines: Record<string, EngineFile> }} */
const {
  rows,
  protocols,
  engines: byEngine,
} = JSON.parse(matrix(pathOf(import.meta.resolve('../../testbeds/protocols'))));

/** The texts of the faults that a row names. @param {Record<Engine, string>} known */
const faultsOf = (known) =>
  Object.fromEntries(
    Object.entries(known).map(([engine, fault]) => [engine, byEngine[engine].faults[fault]]),
  );

/** What a hop shows that its row says nothing else of. @param {string} security @param {boolean} encrypts @returns {Row['wire']} */
function wireOf(security, encrypts) {
  if (security !== 'none') return 'tls';
  return encrypts ? 'random' : 'plain';
}

/** @param {{ name: string, row: any }} file @returns {Row} */
function rowOf({ name, row }) {
  const { without, known, encrypts = false, dials_at_start: dialsAtStart, first_hop: firstHop, ...own } = row;
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
    wire: wireOf(security, encrypts),
    engines: { 'sing-box': true, xray: true, ...without },
    ...(known ? { known: faultsOf(known) } : {}),
    ...(dialsAtStart ? { dialsAtStart } : {}),
    ...(firstHop ? { firstHop } : {}),
    ...own,
  };
}

export const MATRIX = rows.map(rowOf);

/**
 * The program of an engine's file that no target of ours builds as bin/NAME: whose configuration it reads, and its path.
 * @param {string} name
 * @returns {{ engine: Engine, binary: string } | null} null where there is no such file; binary is '' of our own builds
 */
export function programNamed(name) {
  const found = byEngine[name]?.parts;
  if (!found) return null;
  const root = pathOf(import.meta.resolve('../..')).replace(/\/$/, '');
  const binary = name === found.reads ? '' : found.program.replace(/\{\{ *root *\}\}/, root);
  return { engine: found.reads, binary };
}

const { carriers, types, uncovered, instead } = byEngine['sing-box'];

/** @param {'inbound' | 'outbound'} side */
const coverageOf = (side) =>
  types[side].map((type) => {
    const covered = MATRIX.filter((row) => row[side] === type).map(({ row }) => row);
    return {
      type,
      rows: covered,
      reason: covered.length > 0 ? null : uncovered[side][type],
      instead: instead[type] ?? null,
    };
  });

/** Whether a row has a hop: a client and a server. @param {Pick<Row, 'variables'>} row */
export const hasHop = ({ variables }) => !protocols[String(variables.protocol)].alone;

/** @param {string} protocol */
function extentOf(protocol) {
  const { needs, carried_by: carriedBy, left_out: leftOut = [] } = protocols[protocol];
  const carrier = carriedBy ? carriers[carriedBy] : {};
  const all = [carrier.needs, needs].filter(Boolean);
  return {
    protocol,
    rows: rows.filter((row) => row.protocol === protocol).map(({ name }) => name),
    needs: all.length > 0 ? all.join('; ') : null,
    left_out: [...leftOut, ...(carrier.left_out ?? [])],
  };
}

/**
 * Each inbound and outbound type of sing-box 1.12 to 1.14 with the rows that cover it, or why none does; and each protocol
 * with what it needs besides a plain sing-box, and which of its ways no row measures, and why.
 */
export const coverage = {
  inbound: coverageOf('inbound'),
  outbound: coverageOf('outbound'),
  protocols: [...new Set(rows.map(({ protocol }) => protocol))].map(extentOf),
};

/** @param {Engine} engine */
export const rowsOf = (engine) => MATRIX.filter(({ engines }) => engines[engine] === true);
