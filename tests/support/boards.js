/** The boards as they are committed, and parts of them. */
import { committed } from '../../grafana/generate.js';

/** @returns {Record<string, any>} */
export const boards = () =>
  Object.fromEntries(Object.entries(committed()).map(([name, text]) => [name, JSON.parse(text)]));

/** @param {any} board @param {number} id */
export const panelOf = (board, id) =>
  [...board.panels, ...board.panels.flatMap((/** @type {any} */ { panels = [] }) => panels)].find(
    (panel) => panel.id === id,
  );

/** @param {any} board @param {number} id @param {string} column @returns {any[]} */
export const propertiesOf = (board, id, column) =>
  panelOf(board, id).fieldConfig.overrides.find(
    (/** @type {any} */ { matcher }) => matcher.options === column,
  ).properties;

/** @param {any} board @param {number} id @param {string} column @param {string} property */
export const propertyOf = (board, id, column, property) =>
  propertiesOf(board, id, column).find((one) => one.id === property);
