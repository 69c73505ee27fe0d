/** The rows that the matrix measures in a smoke run. A program that `make bench` does not build is in none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MATRIX, hasHop } from '../../lib/protocols/matrix.js';
import { smokeRows } from '../../lib/protocols/sides.js';

for (const engine of /** @type {const} */ (['sing-box', 'xray'])) {
  test(`a smoke of ${engine} has a row of each wire, and of each way in without a hop or a rule of the firewall`, () => {
    const names = smokeRows({ engine }).split(',');
    const rows = MATRIX.filter(({ row }) => names.includes(row));
    const able = MATRIX.filter(
      (row) => row.engines[engine] === true && row.since === undefined && row.needs !== 'tun2proxy',
    );
    assert.equal(rows.length, names.length);
    assert.ok(rows.every((row) => able.includes(row)));
    const hops = rows.filter(hasHop);
    const wires = hops.map(({ wire }) => wire);
    assert.deepEqual(
      [...new Set(wires)].sort(),
      [...new Set(able.filter(hasHop).map(({ wire }) => wire))].sort(),
    );
    assert.equal(wires.length, new Set(wires).size, 'one of each');
    const waysIn = (/** @type {typeof MATRIX} */ of) =>
      of.filter((row) => !hasHop(row)).map(({ inbound }) => inbound);
    const byFirewall = ['redirect', 'tproxy'];
    assert.deepEqual(
      waysIn(rows),
      [...new Set(waysIn(able))].filter((way) => !byFirewall.includes(way)),
    );
    assert.ok(byFirewall.every((way) => MATRIX.some(({ inbound }) => inbound === way)));
  });
}
