/** The boards by their files' names. */
import { dataplane } from './dataplane.js';
import { described } from '../parts/described.js';
import { overview } from './overview.js';
import { systemBoard } from './system.js';
import { trend } from './trend.js';

/** @typedef {import('@grafana/grafana-foundation-sdk/dashboard').Dashboard} Dashboard */

/** As they are written to grafana/dashboards. @returns {Record<string, string>} */
export const boards = () =>
  Object.fromEntries(
    [
      ['overview', overview()],
      ['dataplane', dataplane()],
      ['trend', trend()],
      ...described.map((one) => [one.name, systemBoard(one)]),
    ].map(([name, board]) => [`${name}.json`, `${JSON.stringify(board, null, 2)}\n`]),
  );
