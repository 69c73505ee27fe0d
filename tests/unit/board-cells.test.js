/** The cells of the boards' tables: Grafana identifies cells by the titles of their columns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { committed } from '../../grafana/generate.js';
import { panelsOf } from '../support/grafana/lint.js';
import { namesOf } from '../support/grafana/names.js';
import { cellsOf } from '../support/grafana/stand-in-table.js';

/** @returns {[string, any][]} */
const boards = () => Object.entries(committed()).map(([name, text]) => [name, JSON.parse(text)]);

/** @param {any} board @param {number} id */
const panelOf = (board, id) =>
  /** @type {import('../support/grafana/types.js').Panel} */ (
    panelsOf(board).find((panel) => panel.id === id)
  );

/** A result of an operation, with a different value for each figure. @param {number} first */
const figures = (first) =>
  Object.fromEntries(['Rate', 'Average', 'P50', 'P95', 'P99'].map((name, index) => [name, first + index]));

test('each cell of the figures of two runs shows its own figure', () => {
  for (const [name, board] of boards().filter(([file]) => file !== 'trend.json')) {
    const beside = Object.entries(figures(200)).map(([figure, value]) => [`${figure} base`, value]);
    const [cells] = cellsOf(panelOf(board, 601), {
      run: [{ Time: 1, operation: 'publish', ...figures(100) }],
      baseline: [{ Time: 2, operation: 'publish', ...Object.fromEntries(beside) }],
    });
    for (const [figure, value] of Object.entries(figures(100))) {
      assert.equal(cells[figure], value, name);
      assert.equal(cells[`${figure} base`], value + 100, name);
      assert.equal(cells[`${figure} Δ`], value / (value + 100) - 1, name);
    }
  }
});

test('each cell of a candidate shows its own figure', () => {
  const targets = ['throughput', 'latency', 'memory'];
  const ends = ['', ', low', ', high', ', judged'];
  const row = Object.fromEntries(
    targets.flatMap((target) => ends.map((end) => [`${target}${end}`, `${target}${end}`])),
  );
  const [cells] = cellsOf(panelOf(Object.fromEntries(boards())['dataplane.json'], 804), {
    A: [{ Time: 1, row: 'vless', ...row }],
  });
  assert.equal(cells.row, 'vless');
  assert.deepEqual(new Set(Object.values(cells)), new Set(['vless', ...Object.values(row)]));
});

/** A row for each query of a table, with a different value in each column except the column that joins the queries. @param {any} panel */
function distinct({ targets, transformations = [] }) {
  const by = transformations.find((/** @type {any} */ { id }) => id === 'joinByField')?.options.byField;
  let last = 0;
  const valueOf = (/** @type {string} */ name) => (name === by ? 'joined' : (last += 1));
  return Object.fromEntries(
    targets.map((/** @type {any} */ target) => [
      target.refId,
      [Object.fromEntries(namesOf(target).map((name) => [name, valueOf(name)]))],
    ]),
  );
}

test('each cell of each table shows its own column', () => {
  for (const [name, board] of boards())
    for (const panel of panelsOf(board).filter(({ type }) => type === 'table')) {
      const columns = Object.keys(panel.transformations?.at(-1)?.options.indexByName ?? {});
      const [cells] = cellsOf(panel, distinct(panel));
      const where = `${name}: ${panel.title}: ${JSON.stringify(cells)}`;
      assert.equal(Object.keys(cells).length, columns.length, where);
      assert.equal(new Set(Object.values(cells)).size, columns.length, where);
    }
});
