/** All systems of a run at once, and the list of runs. Grafana's home. */
import { boardOf } from './board.js';
import { baselineRow } from './rows/baseline.js';
import { comparisonRow } from './rows/comparisons.js';
import { generatorRow } from './rows/generator.js';
import { liveRow } from './rows/live.js';
import { processRow } from './rows/processes.js';
import { requestRow } from './rows/requests.js';
import { runRow } from './rows/runs.js';
import { resultRow, statusRow } from './rows/status.js';
import { allSystems } from '../parts/variables.js';

export const overview = () =>
  boardOf({
    name: 'overview',
    title: 'Overview',
    description: 'Runs, verdicts and thresholds; each scenario of the chosen run, live.',
    variables: allSystems(),
    rows: [
      statusRow({ whole: true }),
      liveRow({ whole: true }),
      runRow(),
      comparisonRow(),
      resultRow('overview'),
      generatorRow(),
      processRow(),
      // This row repeats for each scenario, so rows that appear once come before it.
      requestRow({ each: 'scenario', line: 'operation' }),
      baselineRow(),
    ],
  });
