/** Rules that make a panel readable. */
import { widthOf } from '../../../grafana/parts/columns.js';
import { readable } from '../../../grafana/parts/panels.js';
import { units } from '../../../grafana/parts/units.js';
import { clashingNames } from './names.js';

/** @typedef {import('./types.js').Panel} Panel */
/** @typedef {(true | string)[]} Findings true where all is well, else what is not */

/** Panels whose points are a second apart. */
const OVER_TIME = ['timeseries', 'heatmap', 'stat'];
/** Width of one of a board's 24 columns, in a window of 1,600 pixels. */
const COLUMN_PX = 64;
/** The least width of a column that shares the remaining space, in pixels. */
const LEAST_SHARE_PX = 90;
/** Units of repeated measurements; a column of such values shows a statistic. */
const OF_MANY = [units.ms, units.mbit, units.mebibytes];
/** Names of statistics in titles of columns. */
const STATISTIC = /\b(P\d+|mean|average|max)\b/i;
/** The least size of letters that is easy to read, in pixels. */
const LEAST_LETTER_PX = 14;

/** @param {string} where @param {Panel} panel @returns {Findings} */
export function ofLook(where, panel) {
  const { title, description, fieldConfig, type, interval, gridPos } = panel;
  const { x, w } = gridPos ?? { x: 0, w: 0 };
  return [
    Boolean(title) || `${where} has no title`,
    Boolean(description) || `${where} has no description`,
    Boolean(fieldConfig.defaults.unit) || `${where} has no unit`,
    !OVER_TIME.includes(type) || interval === '1s' || `${where}: its least interval is not 1s`,
    (w > 0 && x + w <= 24) || `${where} is wider than the board`,
    ...ofLegend(where, panel),
    ...(panel.type === 'table' ? ofTable(where, panel) : []),
    ...(panel.type === 'barchart' ? ofBars(where, panel) : []),
    ...(panel.type === 'stat' ? ofTiles(where, panel) : []),
  ];
}

/** @param {string} where @param {Panel} panel @returns {Findings} */
function ofLegend(where, { options }) {
  const legend = 'legend' in options ? options.legend : undefined;
  if (!legend || !('displayMode' in legend)) return [];
  const beneath = legend.displayMode === 'table' && legend.placement === 'bottom';
  return [!beneath || `${where}: its legend is a table beneath the graph`];
}

/** Properties of a column, by their ids. @param {Panel} panel @param {string} column @returns {Record<string, any>} */
const propertiesOf = ({ fieldConfig }, column) =>
  Object.fromEntries(
    fieldConfig.overrides
      .filter(({ matcher }) => matcher.id === 'byName' && matcher.options === column)
      .flatMap(({ properties }) => properties.map(({ id, value }) => [id, value])),
  );

/** @param {Panel} panel @returns {string[]} its columns in their order, hidden ones too */
const orderOf = ({ transformations }) =>
  Object.keys(transformations?.findLast(({ id }) => id === 'organize')?.options.indexByName ?? {});

/** Grafana's title of each column, hidden ones too. @param {Panel} panel @returns {string[]} */
const titlesOf = (panel) => orderOf(panel).map((name) => propertiesOf(panel, name).displayName ?? name);

/** Columns in sight, from left to right. @param {Panel} panel */
function columnsOf(panel) {
  return orderOf(panel)
    .map((name) => ({ name, of: propertiesOf(panel, name) }))
    .filter(({ of }) => !of['custom.hidden'])
    .map(({ name, of }) => ({ title: of.displayName ?? name, width: of['custom.width'], unit: of.unit }));
}

/** @param {string} where @param {Panel & { type: 'table' }} panel @returns {Findings} */
function ofTable(where, panel) {
  const columns = columnsOf(panel);
  const whole = columns.reduce((sum, { width = LEAST_SHARE_PX }) => sum + width, 0);
  const room = (panel.gridPos?.w ?? 0) * COLUMN_PX;
  return [
    columns.length > 0 || `${where}: its columns have no order`,
    whole <= room || `${where}: its columns take ${whole} pixels of ${room}`,
    columns.filter(({ width }) => width === undefined).length <= 1 ||
      `${where}: more than one column has no width`,
    ...columns.map(({ title, width }) => ofColumn(where, title, width)),
    ...columns.map(
      ({ title, unit }) =>
        !OF_MANY.includes(unit) || STATISTIC.test(title) || `${where}: the title ${title} has no statistic`,
    ),
    ...titlesOf(panel)
      .filter((title, index, all) => all.indexOf(title) !== index)
      .map((title) => `${where}: two columns are titled ${title}: all their cells would show the last one`),
    ...clashingNames(panel).map((name) => `${where}: two of its queries have a column ${name}`),
    ofNothing(where, panel),
    ofCells(where, panel),
  ];
}

/** @param {string} where @param {Panel} panel @returns {true | string} */
const ofNothing = (where, { fieldConfig }) =>
  /\w \w/.test(fieldConfig.defaults.noValue ?? '') || `${where}: it has no words for where it is empty`;

/** @param {string} where @param {Panel} panel @returns {true | string} */
function ofCells(where, { fieldConfig }) {
  const cells = fieldConfig.overrides.find(({ matcher }) => matcher.options === '/.*/')?.properties;
  return (
    cells?.some(({ id, value }) => id === 'noValue' && value === '–') === true ||
    `${where}: a cell without a value shows what a table without rows does`
  );
}

/** @param {string} where @param {string} title @param {number} [width] @returns {true | string} */
const ofColumn = (where, title, width) =>
  width === undefined || width >= widthOf(title) || `${where}: the title ${title} is cut off`;

/** @param {string} where @param {Panel & { type: 'barchart' }} panel @returns {Findings} */
function ofBars(where, panel) {
  const { options, transformations = [], gridPos } = panel;
  const last = transformations.at(-1);
  const most = last?.id === 'limit' ? last.options.limitField : Infinity;
  return [
    ofNothing(where, panel),
    options.orientation === 'horizontal' || `${where}: its bars stand, and names below them overlap`,
    transformations.at(-2)?.id === 'sortBy' || `${where}: its bars are not sorted`,
    most <= readable(gridPos?.h ?? 0) || `${where}: it has no room for ${most} bars`,
  ];
}

/** @param {string} where @param {Panel & { type: 'stat' }} panel @returns {Findings} */
function ofTiles(where, { options }) {
  const { titleSize = 0, valueSize = 0 } = options.text ?? {};
  const small = options.textMode === 'value_and_name' && Math.min(titleSize, valueSize) < LEAST_LETTER_PX;
  return [!small || `${where}: the letters of its tiles may be any size`];
}
