import { boardOf } from './board.js';
import { baselineRow } from './rows/baseline.js';
import { deliveryRow } from './rows/deliveries.js';
import { errorRow } from './rows/errors.js';
import { generatorRow } from './rows/generator.js';
import { processRow } from './rows/processes.js';
import { requestRow } from './rows/requests.js';
import { statusRow } from './rows/status.js';
import { oneSystem } from './variables.js';

export const relay = () =>
  boardOf({
    name: 'relay',
    title: 'Relay',
    description: 'The message relay: requests, deliveries, its process.',
    variables: oneSystem('pulsar'),
    rows: [
      statusRow({ board: 'relay' }),
      deliveryRow(),
      errorRow(),
      generatorRow(),
      processRow(),
      // As many as there are operations: what is there once comes before.
      requestRow({ each: 'operation', line: 'scenario' }),
      baselineRow(),
    ],
  });
