/** The board of one system, as its scripts' folder describes it. */
import { boardOf } from './board.js';
import { baselineRow } from './rows/baseline.js';
import { componentRow } from './rows/components.js';
import { deliveryRow } from './rows/deliveries.js';
import { effectRow } from './rows/effects.js';
import { generatorRow } from './rows/generator.js';
import { linkRow } from './rows/link.js';
import { liveRow } from './rows/live.js';
import { processRow } from './rows/processes.js';
import { requestRow } from './rows/requests.js';
import { resultRow, statusRow } from './rows/status.js';
import { oneSystem } from '../parts/variables.js';

/** Rows of the board, by their names in scripts/SYSTEM/board.json. @type {Record<string, (board: string) => import('./board.js').Row>} */
const ROWS = {
  status: () => statusRow(),
  live: () => liveRow(),
  results: resultRow,
  components: componentRow,
  deliveries: deliveryRow,
  effects: effectRow,
  link: linkRow,
  generator: generatorRow,
  processes: processRow,
  // This row repeats for each operation, so rows that appear once come before it.
  requests: () => requestRow({ each: 'operation', line: 'scenario' }),
  baseline: baselineRow,
};

/** @param {import('../parts/described.js').Described} of */
export function systemBoard({ system, name, title, description, rows }) {
  const unknown = rows.find((row) => !(row in ROWS));
  if (unknown !== undefined)
    throw new Error(
      `scripts/${system}/board.json: rows: there is no row ${unknown}; there are ${Object.keys(ROWS).join(', ')}`,
    );
  return boardOf({
    name,
    title,
    description,
    variables: oneSystem(system),
    rows: rows.map((row) => ROWS[row](name)),
  });
}
