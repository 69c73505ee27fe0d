/** Links from one board to another. Scenarios and operations differ from system to system, so links omit them. */
import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import { described } from './described.js';

/** A board's uid by the name that it has in addresses and files. */
export const uidOf = (/** @type {string} */ board) => `windtunnel-${board}`;

/** Their titles by name. @type {Record<string, string>} */
const BOARDS = {
  overview: 'Overview',
  ...Object.fromEntries(described.map(({ name, title }) => [name, title])),
  dataplane: 'Data plane and protocols',
  trend: 'Trend',
};

/** The board about all runs: it has no run to choose, and it covers months. */
const OF_NO_RUN = 'trend';

/** The board that shows a system, if the names differ; for value mappings. */
export const BOARD_OF_SYSTEM = {
  ...Object.fromEntries(
    described.filter(({ name, system }) => name !== system).map(({ name, system }) => [system, name]),
  ),
  protocols: 'dataplane',
};

/**
 * A link from a table's cell to a board. A value of the row is `${__data.fields.COLUMN}`, of a hidden column
 * too.
 * @param {string} title
 * @param {string} board its name
 * @param {string} parameters
 */
export const linkTo = (title, board, parameters) => ({
  title,
  url: `/d/${uidOf(board)}?${parameters}`,
  targetBlank: false,
});

/** Whether two boards show the same run. @param {string[]} names */
const together = (...names) => !names.includes(OF_NO_RUN);

/**
 * Links to all boards but one. The SDK's default is a menu, which suits links that are seldom used.
 * @param {string} own
 */
export const links = (own) =>
  Object.entries(BOARDS)
    .filter(([name]) => name !== own)
    .map(([name, title]) => {
      const link = new DashboardLinkBuilder(title)
        .type(DashboardLinkType.Link)
        .icon('dashboard')
        .tooltip(together(own, name) ? `The same run on the board ${title}` : `The board ${title}`)
        .url(`/d/${uidOf(name)}${together(own, name) ? '?${testid:queryparam}&${baseline:queryparam}' : ''}`)
        .keepTime(together(own, name))
        .build();
      delete link.placement;
      return { build: () => link };
    });
