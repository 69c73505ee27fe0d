/**
 * Which programs and versions are compatible with each other?
 *
 * Each row of lib/protocols/matrix.js with a client and a server runs with the client of each program and the server of each
 * program: 30 round trips and 30 datagrams with a known payload, and an inspection of the hop. If a row must be encrypted,
 * neither the payload nor the requested address may be readable there.
 */
import { said, say } from 'k6/x/windtunnel/record';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { chunked } from '../../lib/lists.js';
import { sizesOf } from '../../lib/profiles.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { AT_ONCE, hearAll } from '../../lib/protocols/hop.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { interopOf, pairsOf, untried, withHop } from '../../lib/protocols/interop.js';
import { interopSections } from '../../lib/protocols/interop-sections.js';
import { programsOf } from '../../lib/protocols/programs.js';
import { operationOf, rowOperation } from '../../lib/protocols/row-operation.js';
import { baselineLeft, selectedRows } from '../../lib/protocols/sides.js';

sizesOf(
  { smoke: {}, quick: {}, full: {} },
  'who understands whom is asked once, so that shapes do not apply',
);
const programs = programsOf('protocols/interop');
const digests = programs.map((program) => digestOf(program));
const unbuilt = programs.find((_, index) => digests[index] === null);
if (unbuilt) throw `PROGRAMS: ${unbuilt.name} is not there: make bin/${unbuilt.name} builds it`;
const rows = withHop(selectedRows('protocols/interop'));
const pairs = pairsOf(programs);
/** Rows per round: as many as fit into the number of pairs that run at once. */
const rowsAtOnce = Math.max(1, Math.floor(AT_ONCE / pairs.length));
const groups = chunked(rows, rowsAtOnce);

const script = planeScenario({
  ...startsRows,
  name: 'interop',
  title: 'Who understands whom',
  load: roundsLoad(equalRounds(groups.length), baselineLeft()),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    programs: programs.map(({ name }) => name).join(','),
    ...programs.at(-1)?.settings,
  },
  operations: Object.fromEntries(
    rows
      .filter((row) => pairs.some((pair) => untried(row, pair) === null))
      .map(({ row }) => [
        operationOf(row),
        rowOperation(
          row,
          'from a request sent to its echo received, of all pairs that understand each other',
        ),
      ]),
  ),
  round(_round, index, plane) {
    const hops = groups[index].flatMap((row) =>
      pairs
        .filter((pair) => untried(row, pair) === null)
        .map((pair) => ({ row, pair, operation: operationOf(row.row) })),
    );
    const results = hearAll(hops, plane);
    for (const row of groups[index])
      say(
        row.row,
        results.filter((_, place) => hops[place].row === row),
      );
  },
  more() {
    const found = interopOf(said(), { rows, programs, digests });
    return { interop: found.rows, sections: interopSections(found) };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
