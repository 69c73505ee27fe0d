/** The common parts of all boards, and the layout of rows. */
import {
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
  TimePickerBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { annotations } from './annotations.js';
import { links, uidOf } from '../parts/links.js';

/**
 * @typedef {import('@grafana/grafana-foundation-sdk/dashboard').Panel} Panel
 * @typedef {import('@grafana/grafana-foundation-sdk/cog').Builder<Panel>} PanelBuilder
 *
 * @typedef {object} Row
 * @property {number} id a hundred; its panels have the numbers after it. Numbers stay, so that links to panels do
 * @property {string} title
 * @property {string} [repeat] variable: a row for each of its values
 * @property {boolean} [collapsed]
 * @property {PanelBuilder[]} panels from left to right
 *
 * @typedef {object} Board
 * @property {string} name of its file, and in its uid
 * @property {string} title
 * @property {string} description
 * @property {import('@grafana/grafana-foundation-sdk/cog').Builder<import('@grafana/grafana-foundation-sdk/dashboard').VariableModel>[]} variables
 * @property {Row[]} rows
 * @property {import('@grafana/grafana-foundation-sdk/dashboard').AnnotationQueryBuilder[]} [marks] replace the marks of a run
 * @property {string} [from] where its time begins
 * @property {string} [refresh] how often it asks
 */

/** A point is one second long, so one second is the least that a graph can show. */
const REFRESH = ['5s', '10s', '30s', '1m', '5m'];

/** @param {Board} board */
export function boardOf({
  name,
  title,
  description,
  variables,
  rows,
  marks = annotations(),
  from = 'now-5m',
  refresh = '5s',
}) {
  const board = new DashboardBuilder(title)
    .uid(uidOf(name))
    .description(description)
    .tags(['windtunnel'])
    .timezone('browser')
    .time({ from, to: 'now' })
    .timepicker(new TimePickerBuilder().refreshIntervals(REFRESH))
    .refresh(refresh)
    .tooltip(DashboardCursorSync.Crosshair)
    .readonly()
    .variables(variables)
    .annotations(marks)
    .links(links(name));
  for (const row of rows) addRow(board, row);
  return board.build();
}

/** @param {DashboardBuilder} board @param {Row} row */
function addRow(board, { id, title, repeat, collapsed = false, panels }) {
  const row = new RowBuilder(title).id(id).collapsed(collapsed);
  if (repeat) row.repeat(repeat);
  // Grafana keeps the panels of a folded row in the row, and the panels of an open row after it.
  if (collapsed) for (const panel of panels) row.withPanel(panel);
  board.withRow(row);
  if (!collapsed) for (const panel of panels) board.withPanel(panel);
}
