/** Chains of two rows: the first row's server sends its traffic to the second row's client, whose server sends it to the target. */
import { hasHop } from './matrix.js';
import { rowNamed } from './sides.js';

/** @typedef {import('./matrix.js').Row} Row */
/** @typedef {import('./sides.js').Engine} Engine */
/** @typedef {{ row: Row, hops: Row[] }} Chain two hops, or one row alone; `row` has the capabilities that all hops share */

/** @param {string} chain such as trojan+vless @param {Engine} engine @returns {Row[]} its hops */
function hopsOf(chain, engine) {
  const hops = chain.split('+').map((name) => rowNamed(name.trim(), 'CHAINS'));
  if (hops.length !== 2 || !hops.every(hasHop))
    throw `CHAINS=${chain}: two rows with a client and a server are wanted, as trojan+vless`;
  const [{ row, firstHop }] = hops;
  if (firstHop?.[engine])
    throw `CHAINS=${chain}: ${row} cannot be the first hop with ${engine}: ${firstHop[engine]}`;
  return hops;
}

/** @param {Row[]} hops @returns {Row} */
const rowOf = ([first, second]) => ({
  ...first,
  row: `${first.row}+${second.row}`,
  udp: first.udp && second.udp,
  since: first.since ?? second.since,
  known: { ...second.known, ...first.known },
  engines: Object.fromEntries(
    Object.entries(first.engines).map(([engine, runs]) => [
      engine,
      runs === true ? second.engines[engine] : runs,
    ]),
  ),
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
