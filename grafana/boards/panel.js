import { boardOf } from './board.js';
import { baselineRow } from './rows/baseline.js';
import { componentRow } from './rows/components.js';
import { errorRow } from './rows/errors.js';
import { generatorRow } from './rows/generator.js';
import { processRow } from './rows/processes.js';
import { requestRow } from './rows/requests.js';
import { statusRow } from './rows/status.js';
import { oneSystem } from './variables.js';

export const panel = () =>
  boardOf({
    name: 'panel',
    title: 'Panel',
    description: 'The user panel: its requests, where their time goes, its processes.',
    variables: oneSystem('panel'),
    rows: [
      statusRow({ board: 'panel' }),
      componentRow(),
      errorRow(),
      generatorRow(),
      processRow(),
      // As many as there are operations: what is there once comes before.
      requestRow({ each: 'operation', line: 'scenario' }),
      baselineRow(),
    ],
  });
