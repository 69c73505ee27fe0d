/** The table of TUN devices: only rows with a device, and an unknown one is no device without GSO. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MATRIX } from '../../lib/protocols/matrix.js';
import { tunSections } from '../../lib/protocols/tun.js';
import { rowsOf } from '../support/sections.js';

/** @param {import('../../lib/protocols/tun.js').Device | null} tun */
const noted = (tun) => ({ baseline: { turns: [], outcomes: [], version: null, tun } });

test('each row with a device shows what the kernel granted', () => {
  const names = ['trojan', 'tun', 'tun-gvisor-1500', 'tun2proxy'];
  const rows = MATRIX.filter(({ row }) => names.includes(row));
  const [section] = tunSections(rows, {
    trojan: noted(null),
    tun: noted({ name: 'tun0', mtu: 65_535, gso: false }),
    'tun-gvisor-1500': noted({ name: 'tun0', mtu: 1500, gso: true }),
    tun2proxy: noted(null),
  });
  assert.deepEqual(
    rowsOf(section).map(({ row, stack, mtu, gso }) => [row, stack, mtu, gso]),
    [
      ['tun', 'mixed', 65_535, 'off'],
      ['tun-gvisor-1500', 'gvisor', 1500, 'on'],
      ['tun2proxy', 'tun2proxy', null, 'unknown'],
    ],
  );
});

test('without such a row there is no table', () => {
  const rows = MATRIX.filter(({ row }) => row === 'trojan');
  assert.deepEqual(tunSections(rows, { trojan: noted(null) }), []);
});
