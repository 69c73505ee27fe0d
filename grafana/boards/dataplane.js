import { boardOf } from './board.js';
import { baselineRow } from './rows/baseline.js';
import { throughputRow } from './rows/dataplane.js';
import { errorRow } from './rows/errors.js';
import { generatorRow } from './rows/generator.js';
import { linkRow } from './rows/link.js';
import { processRow } from './rows/processes.js';
import { protocolRow } from './rows/protocols.js';
import { requestRow } from './rows/requests.js';
import { statusRow } from './rows/status.js';
import { dataplanes } from './variables.js';

export const dataplane = () =>
  boardOf({
    name: 'dataplane',
    title: 'Data plane and protocols',
    description: 'SOCKS data planes and proxy protocols: latency, throughput and loss beside their controls.',
    variables: dataplanes(['dataplane', 'protocols']),
    rows: [
      statusRow({ board: 'dataplane' }),
      throughputRow(),
      protocolRow(),
      errorRow(),
      generatorRow(),
      processRow(),
      // Few runs have one.
      linkRow({ collapsed: true }),
      // As many as there are operations: what is there once comes before.
      requestRow({ each: 'operation', line: 'scenario' }),
      baselineRow(),
    ],
  });
