/** The boards by their files' names. */
import { dataplane } from './dataplane.js';
import { overview } from './overview.js';
import { panel } from './panel.js';
import { relay } from './relay.js';
import { trend } from './trend.js';

/** @typedef {import('@grafana/grafana-foundation-sdk/dashboard').Dashboard} Dashboard */

/** As they are written to grafana/dashboards. @returns {Record<string, string>} */
export const boards = () =>
  Object.fromEntries(
    Object.entries({ overview, panel, relay, dataplane, trend }).map(([name, board]) => [
      `${name}.json`,
      `${JSON.stringify(board(), null, 2)}\n`,
    ]),
  );
