import { boardOf } from './board.js';
import { baselineRow } from './rows/baseline.js';
import { throughputRow } from './rows/dataplane.js';
import { generatorRow } from './rows/generator.js';
import { linkRow } from './rows/link.js';
import { liveRow } from './rows/live.js';
import { processRow } from './rows/processes.js';
import { protocolRow } from './rows/protocols.js';
import { requestRow } from './rows/requests.js';
import { resultRow, statusRow } from './rows/status.js';
import { dataplanes } from '../parts/variables.js';

export const dataplane = () =>
  boardOf({
    name: 'dataplane',
    title: 'Data plane and protocols',
    description: 'SOCKS data planes and proxy protocols: latency, throughput and loss beside their controls.',
    variables: dataplanes(['dataplane', 'protocols']),
    rows: [
      statusRow(),
      liveRow(),
      resultRow('dataplane'),
      throughputRow(),
      protocolRow(),
      generatorRow(),
      processRow(),
      linkRow(),
      // This row repeats for each operation, so rows that appear once come before it.
      requestRow({ each: 'operation', line: 'scenario' }),
      baselineRow(),
    ],
  });
