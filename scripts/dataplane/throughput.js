/**
 * How much does a SOCKS5 proxy move, by size of write, direction and number of connections?
 *
 * quick: 32 MiB for each of 1 KiB, 64 KiB, 256 KiB and 1 MiB writes, up, down and both, over 1 and 8 connections, in 3 rounds,
 * each beside the same direct.
 */
import { currentProfile, envCount, envList } from '../../lib/profiles.js';
import { repeatedLoad } from '../../lib/dataplane/load.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';

const MIB = 1024 * 1024;

const writes = envList('WRITES', currentProfile() === 'smoke' ? '64' : '1,64,256,1024').map(Number);
const directions = envList('DIRECTIONS');
const many = envCount('MANY');
const load = repeatedLoad(
  {
    smoke: { rounds: 1, count: envCount('TRANSFER_MIB', 4) },
    quick: { rounds: 3, count: envCount('TRANSFER_MIB', 32) },
    full: { rounds: 10, count: envCount('TRANSFER_MIB', 128) },
  },
  'a transfer goes as fast as it can and has no rate to vary: the shape varies the size of each transfer',
);

const cases = writes.flatMap((write) =>
  directions.flatMap((direction) =>
    [...new Set([1, many])].map((connections) => ({
      name: `${direction}_${write}k_x${connections}`,
      write,
      direction,
      connections,
    })),
  ),
);

/** The case of the report's headline. Most programs write 64 KiB on several connections. */
const LEADING = cases.find(({ write, connections }) => write === 64 && connections === many) ?? cases[0];

/** @param {typeof cases[number]} one */
const row = ({ name, write, direction, connections }) =>
  withControl(name, {
    title: `${direction === 'both' ? 'both, the sum of up and down' : direction}, writes of ${write} KiB, ${connections === 1 ? '1 connection' : `${connections} connections`}`,
    latencyIs:
      'from the first byte sent to the confirmation of the last one, of one connection and direction',
    series: 'transfer',
    saturates: true,
    bounds: {},
    ...(name === LEADING.name ? { headline: 'mbit_per_s' } : {}),
  });

const script = planeScenario({
  name: 'throughput',
  title: 'Bulk transfer through SOCKS5 CONNECT',
  reaches: ['tcp'],
  connections: many,
  load,
  parameters: {
    transfer_mib: load.rounds[0].count,
    rounds: load.rounds.length,
    writes_kib: writes.join(','),
    directions: directions.join(','),
    many,
  },
  operations: Object.assign({}, ...cases.map(row)),
  round(round, index, plane) {
    const mib = round.count * round.factor;
    for (const { name, write, direction, connections } of cases) {
      plane.pair(index, [name], {
        kind: 'throughput',
        count: connections * (direction === 'both' ? 2 : 1),
        warmup: 0,
        connections,
        transfer: {
          bytes: Math.ceil((mib * MIB) / connections / (write * 1024)) * write * 1024,
          write_bytes: write * 1024,
          direction,
        },
      });
    }
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
