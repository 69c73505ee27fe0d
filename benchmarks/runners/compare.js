/**
 * Do 1, 2 and 4 runners measure the same of one relay? `make benchmark-runners` runs it. Each run has a new relay, and several runners
 * have a coordinator, whose CPU time is in the table.
 */
import { K6, cleanEnvironment } from '../../tests/support/k6.js';
import { resultsOf } from '../asked.js';
import { inTurn } from './turns.js';

const NUMBERS = [1, 2, 4];

const places = NUMBERS.map((runners) => {
  const env = { ...cleanEnvironment(), RUNNERS: String(runners), AGAIN: '0', BESIDE: '1' };
  return [String(runners), { command: [K6, 'x', 'bench'], env: () => env }];
});
await inTurn(resultsOf('runners').id, Object.fromEntries(places));
