/**
 * Which programs and versions understand each other?
 *
 * Each row of lib/protocols/matrix.js that has a client and a server, with the client of each program and the server of each:
 * 30 round trips and 30 datagrams of a known payload, and a look at the hop: where a row is to be encrypted, neither the
 * payload nor the address that is asked for may be readable there.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { sizesOf } from '../../lib/profiles.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { hear } from '../../lib/protocols/hop.js';
import { instanceIds, stopAllBut } from '../../lib/protocols/instances.js';
import { pairsOf, rowCells, untried, verdictOf, withHop } from '../../lib/protocols/interop.js';
import { programsOf } from '../../lib/protocols/programs.js';
import { selectedRows } from '../../lib/protocols/sides.js';

sizesOf(
  { smoke: {}, quick: {}, full: {} },
  'who understands whom is asked once, so that shapes do not apply',
);
const programs = programsOf();
const digests = programs.map((program) => digestOf(program));
const unbuilt = programs.find((_, index) => digests[index] === null);
if (unbuilt) throw `PROGRAMS: ${unbuilt.name} is not there: make bin/${unbuilt.name} builds it`;
const rows = withHop(selectedRows('protocols/interop'));
const pairs = pairsOf(programs);

/** @param {string} row */
const operationOf = (row) => row.replace(/[^a-z0-9]/g, '_');

const script = planeScenario({
  system: 'protocols',
  name: 'interop',
  title: 'Who understands whom',
  load: roundsLoad(rows.map(() => ({ loop: 'closed', count: 1, factor: 1 }))),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    programs: programs.map(({ name }) => name).join(','),
  },
  operations: Object.fromEntries(
    rows.map(({ row }) => [
      operationOf(row),
      {
        title: row,
        latencyIs: 'from a request sent to its echo received, of all pairs that understand each other',
        optional: true,
        bounds: { failed: 1, errors: undefined },
      },
    ]),
  ),
  ownInstances: true,
  prepare() {
    return { instances: instanceIds() };
  },
  round(_round, index, plane) {
    const row = rows[index];
    const tried = pairs.filter((pair) => untried(row, pair) === null);
    say(row.row, hear(row, tried, plane, { operation: operationOf(row.row) }));
  },
  end(data) {
    stopAllBut(/** @type {any} */ (data).instances);
  },
  more: () => ({ interop: interopOf(said()) }),
  judge: (result) => verdictOf(result, result.interop.rows),
});

/** @param {Record<string, import('../../lib/protocols/hop.js').Heard[]>} notes */
function interopOf(notes) {
  /** @type {Record<string, string | null>} */
  const versions = {};
  const cellsOf = rows.map((row) => {
    const heard = [...(notes[row.row] ?? [])];
    const cells = pairs.map((pair) => {
      const [client, server] = [pair.client.name, pair.server.name];
      const reason = untried(row, pair);
      if (reason !== null)
        return { client, server, outcome: /** @type {const} */ ('impossible here'), detail: reason };
      const { outcome, detail, version } = heard.shift() ?? notReached;
      versions[client] ??= version;
      return { client, server, outcome, detail };
    });
    return rowCells(row, cells);
  });
  return {
    programs: programs.map(({ name, engine, binary }, index) => ({
      name,
      engine,
      binary: binary.split('/').pop() || engine,
      version: versions[name] ?? null,
      sha256: digests[index],
    })),
    rows: cellsOf,
  };
}

/** Of a row that the run did not come to. */
const notReached = {
  outcome: /** @type {const} */ ('not reached'),
  detail: null,
  version: null,
  roundTrips: null,
};

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
