/**
 * The rows of the testbed `protocols`, and how they cover the types of sing-box. Each file in testbeds/protocols/rows is a
 * protocol with its rows. Each file in testbeds/protocols/engines is an engine.
 */
import { matrix } from 'k6/x/windtunnel/protocols';
import { pathOf } from '../file.js';

/**
 * true: the engine runs the row; a text: why it does not.
 * @typedef {import('../../types/protocol-row.d.ts').Row} RowOfFile
 * @typedef {Pick<Row, 'transport' | 'security' | 'multiplex'>} Given variables of a row that has others than the defaults
 * @typedef {true | string} Runs
 * @typedef {string} Engine a format of configurations, which programs read: sing-box, xray, mihomo or another of testbeds/protocols/engines
 *
 * @typedef {object} Row
 * @property {string} row its name: the protocol, then its transport
 * @property {number} [order] its place in tables
 * @property {string} inbound sing-box type of the server, or of the client if there is no server
 * @property {string} outbound sing-box type of the client
 * @property {string} transport
 * @property {string} security
 * @property {boolean} multiplex
 * @property {boolean} udp whether it carries datagrams
 * @property {Record<Engine, Runs>} engines by engine: both ends
 * @property {Record<Engine, Runs>} clients by engine: the client alone
 * @property {Record<Engine, Runs>} servers by engine: the server alone
 * @property {string} [since] first version of sing-box that has it, if newer than 1.12; older versions refuse it with a message
 * @property {boolean} [dialsAtStart] its client connects when it starts, and refuses traffic until it is connected
 * @property {boolean} encrypts whether an observer of its hop must not be able to read the traffic
 * @property {NonNullable<RowOfFile['wire']>} wire what an observer of its hop must see
 * @property {Partial<Record<Engine, string>>} [known] known intermittent fault of an engine
 * @property {Partial<Record<Engine, string>>} [knownOfDatagrams] known fault of an engine with large datagrams: `panics`,
 *   `garbles` or `merges`, then its text
 * @property {Partial<Record<Engine, string>>} [firstHop] why it cannot be the first hop of a chain with an engine
 * @property {RowOfFile['needs']} [needs] what it needs that a machine may lack; tun2proxy: namespaces and this program
 * @property {string} [told] its variable for the sending rate of both ends, in Mbit/s
 * @property {RowOfFile['foreign']} [foreign] program that is always one of its ends
 * @property {Record<string, string | number | boolean>} variables of the testbed, apart from the engine
 */

/** @typedef {{ needs?: string, carried_by?: string, left_out?: string[], alone?: boolean }} Protocol */
/** @typedef {Record<'inbound' | 'outbound', string[]>} Types */
/** @typedef {Record<'inbound' | 'outbound', Record<string, string>>} Uncovered */
/** @typedef {{ reads: Engine, mux?: string }} EngineParts */
/**
 * @typedef {{ faults: Record<string, string>, carriers: Record<string, Protocol>, types: Types, uncovered: Uncovered,
 *   instead: Record<string, string>, parts: EngineParts }} EngineFile
 */

/** @type {{ rows: { name: string, protocol: string, row: RowOfFile }[], protocols: Record<string, Protocol>, engines: Record<string, EngineFile> }} */
const {
  rows,
  protocols,
  engines: byEngine,
} = JSON.parse(matrix(pathOf(import.meta.resolve('../../testbeds/protocols'))));

/** All programs with a file, and the programs whose configurations others read, too. */
export const PROGRAMS = Object.keys(byEngine);
export const ENGINES = PROGRAMS.filter((name) => byEngine[name].parts.reads === name);

/** The texts of the faults that a row names. @param {Record<Engine, string>} known @param {boolean} [named] the name before the text */
const faultsOf = (known, named = false) =>
  Object.fromEntries(
    Object.entries(known).map(([engine, fault]) => [
      engine,
      (named ? `${fault}: ` : '') + byEngine[engine].faults[fault],
    ]),
  );

/** @returns {Record<Engine, Runs>} every engine, in the order of their names */
const all = () => Object.fromEntries(ENGINES.map((name) => [name, /** @type {const} */ (true)]));

/** Default of a row's `wire`. @param {string} security @param {boolean} encrypts @returns {Row['wire']} */
function wireOf(security, encrypts) {
  if (security !== 'none') return 'tls';
  return encrypts ? 'random' : 'plain';
}

/** @param {{ name: string, row: RowOfFile }} file @returns {Row} */
function rowOf({ name, row }) {
  const {
    without,
    without_server: withoutServer,
    without_client: withoutClient,
    known,
    known_of_datagrams: knownOfDatagrams,
    encrypts = false,
    dials_at_start: dialsAtStart,
    first_hop: firstHop,
    variables: given,
    ...rest
  } = row;
  // matrix() has put the protocol there.
  const variables = /** @type {Row['variables'] & Record<'protocol', string> & Partial<Given>} */ (given);
  const { protocol, transport = 'tcp', security = 'none', multiplex = false } = variables;
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
    engines: { ...all(), ...withoutServer, ...withoutClient, ...without },
    clients: { ...all(), ...withoutClient, ...without },
    servers: { ...all(), ...withoutServer, ...without },
    ...(known ? { known: faultsOf(known) } : {}),
    ...(knownOfDatagrams ? { knownOfDatagrams: faultsOf(knownOfDatagrams, true) } : {}),
    ...(dialsAtStart ? { dialsAtStart } : {}),
    ...(firstHop ? { firstHop } : {}),
    variables,
    ...rest,
  };
}

export const MATRIX = rows.map(rowOf);

/**
 * Whether a program runs a row, or its two programs if it has another one as its server.
 * @param {Pick<Row, 'engines' | 'clients' | 'servers'>} row
 * @param {{ engine: Engine, server?: { engine: Engine } }} side
 * @returns {Runs}
 */
export function runs({ engines, clients, servers }, { engine, server }) {
  if (!server) return engines[engine];
  return clients[engine] === true ? servers[server.engine] : clients[engine];
}

/** The protocol by which an engine multiplexes: only programs with the same protocol understand each other. @param {Engine} engine */
export const muxOf = (engine) => byEngine[engine].parts.mux ?? 'none';

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
  const needed = [carrier.needs, needs].filter(Boolean);
  return {
    protocol,
    rows: rows.filter((row) => row.protocol === protocol).map(({ name }) => name),
    needs: needed.length > 0 ? needed.join('; ') : null,
    left_out: [...leftOut, ...(carrier.left_out ?? [])],
  };
}

/**
 * Each inbound and outbound type of sing-box 1.12 to 1.14 with the rows that cover it, or the reason why no row does. Each
 * protocol with its requirements beyond a plain sing-box, and with its variants that no row measures.
 */
export const coverage = {
  inbound: coverageOf('inbound'),
  outbound: coverageOf('outbound'),
  protocols: [...new Set(rows.map(({ protocol }) => protocol))].map(extentOf),
};

/** @param {Engine} engine */
export const rowsOf = (engine) => MATRIX.filter(({ engines }) => engines[engine] === true);
