/** Chains of two rows: the first row's server sends all to the second row's client, and that one's server to the target. */
import { rowNamed } from './sides.js';

/** @typedef {import('./matrix.js').Row} Row */
/** @typedef {import('./sides.js').Engine} Engine */
/** @typedef {{ row: Row, hops: Row[] }} Chain of two hops, or one row alone; `row` is what all hops can do */

/** Why a row cannot send all that it takes to a second hop; null where it can. @param {Row} row @param {Engine} engine */
function endsThere({ variables: { protocol } }, engine) {
  if (protocol === 'ssh')
    return 'ssh cannot be the first hop: its server is sshd, which sends nothing to a proxy';
  if (protocol === 'wireguard' && engine === 'xray')
    return 'wireguard cannot be the first hop with xray: its server would ask the second hop for an address inside the tunnel';
  return null;
}

/** @param {string} chain such as trojan+vless @param {Engine} engine @returns {Row[]} its hops */
function hopsOf(chain, engine) {
  const hops = chain.split('+').map((name) => rowNamed(name.trim(), 'CHAINS'));
  const odd = hops.find(({ variables }) => variables.protocol === 'direct');
  if (hops.length !== 2 || odd)
    throw `CHAINS=${chain}: two rows with a client and a server are wanted, as trojan+vless`;
  const wrong = endsThere(hops[0], engine);
  if (wrong) throw `CHAINS=${chain}: ${wrong}`;
  return hops;
}

/** @param {Row[]} hops @returns {Row} */
const rowOf = ([first, second]) => ({
  ...first,
  row: `${first.row}+${second.row}`,
  udp: first.udp && second.udp,
  since: first.since ?? second.since,
  known: { ...second.known, ...first.known },
  engines: {
    'sing-box': first.engines['sing-box'] === true ? second.engines['sing-box'] : first.engines['sing-box'],
    xray: first.engines.xray === true ? second.engines.xray : first.engines.xray,
  },
});

/**
 * The chains, such as trojan+vless, and each of their rows alone.
 * @param {string[]} list
 * @param {Engine} engine
 * @returns {{ alone: Chain[], chains: Chain[] }}
 */
export function chainsOf(list, engine) {
  const chains = list.map((chain) => hopsOf(chain, engine));
  return {
    alone: [...new Set(chains.flat())].map((row) => ({ row, hops: [row] })),
    chains: chains.map((hops) => ({ row: rowOf(hops), hops })),
  };
}
