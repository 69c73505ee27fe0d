/**
 * What do many users cost a proxy server?
 *
 * A server starts with 1 to 50,000 users. The first, middle and last users of its list connect with their own keys,
 * without a client's process. All levels take turns, each with new processes, so that the growth of each figure has an interval.
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { listOf, note } from '../../lib/notes.js';
import { envCount, envList, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { PLACES, connectOf, measureLevel, tripOf } from '../../lib/users/scale.js';
import { scaleSection } from '../../lib/users/scale-shown.js';
import { baseOf } from '../../lib/users/testbed.js';

const PROFILES = {
  smoke: { turns: 6, users: [1, 1000], connections: 10, round_trips: 50, mib: 8 },
  quick: { turns: 6, users: [1, 100, 1000, 10_000], connections: 30, round_trips: 200, mib: 64 },
  full: { turns: 10, users: [1, 100, 1000, 10_000, 50_000], connections: 100, round_trips: 1000, mib: 256 },
};

const { users: levelsOf, ...sizes } = sizesOf(
  PROFILES,
  'numbers of users take turns under one load, so that its shape does not apply',
);
const turns = envCount('TURNS', sizes.turns);
const levels = [...new Set(envList('LEVELS', levelsOf.join(',')).map(Number))].sort((a, b) => a - b);
if (levels.length < 2) throw 'LEVELS: give two or more numbers of users, separated by commas';
const NOTE = 'levels';

const script = planeScenario({
  ...startsRows,
  system: 'users',
  name: 'scale',
  title: 'A server with many users',
  load: roundsLoad(equalRounds(levels.length * turns)),
  echo: 'events',
  parameters: { levels: levels.join(','), ...sizes, turns },
  operations: Object.fromEntries(
    levels.flatMap((users) => [
      [
        connectOf(users),
        {
          title: `Connect, one of ${users}`,
          latencyIs: 'from the dial to the first byte of our far end',
          series: 'first_byte',
          primary: /** @type {const} */ ('p50'),
          least: turns * PLACES.length * sizes.connections,
        },
      ],
      [
        tripOf(users),
        {
          title: `Round trip, one of ${users}`,
          latencyIs: 'from a request sent to its echo received',
          primary: /** @type {const} */ ('p50'),
          least: turns * PLACES.length * sizes.round_trips,
        },
      ],
    ]),
  ),
  prepare: () => ({ ...startsRows.prepare(), base: baseOf('users/scale') }),
  round(_round, index, plane) {
    const turn = Math.floor(index / levels.length);
    // The order of the levels rotates.
    const users = levels[(index + turn) % levels.length];
    note(
      NOTE,
      plane.part(`${users} users, turn ${turn + 1}`, () => measureLevel(plane, users, turn, sizes)),
    );
  },
  more: () => ({ sections: [scaleSection(listOf(NOTE), levels)] }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
