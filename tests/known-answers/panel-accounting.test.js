/** The reference panel with a fault in how it charges its users, and without one. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';

/**
 * Runs the scenario with the reference panel, or with a panel that has a line of users.py in place of another.
 * @param {[string, string] | null} change @param {(found: { finding: string, result: any, restarts: any[] }) => void} look
 */
async function charged(change, look) {
  const source = mkdtempSync(join(tmpdir(), 'panel-'));
  const [line, other] = change ?? ['', ''];
  cpSync(join(ROOT, 'testbeds/panel/panel'), join(source, 'panel'), { recursive: true });
  const file = join(source, 'panel/users.py');
  const text = readFileSync(file, 'utf8');
  assert.ok(text.includes(line), line);
  writeFileSync(file, text.replace(line, other));
  const bench = startBench({
    PROFILE: 'smoke',
    ONLY: 'panel/users-accounting',
    TESTBED: `panel:traffic_interval_s=1,restarts=true${change ? `,source=${source}` : ''}`,
  });
  try {
    await bench.ended;
    assert.ok(bench.has('panel-users-accounting.json'), bench.output.stdout + bench.output.stderr);
    const result = bench.result('panel-users-accounting');
    look({
      finding: sectionOf(result, 'charges').finding,
      result,
      restarts: rowsOf(sectionOf(result, 'restarts')),
    });
  } finally {
    bench.remove();
    rmSync(source, { recursive: true });
  }
}

const ADD = '] += count';

test('the reference panel charges its users right, and loses nothing by a restart', () =>
  charged(null, ({ finding, result, restarts }) => {
    assert.equal(finding, 'All 10 users are charged right.');
    assert.notEqual(result.verdict, 'fail');
    for (const { what, lost, moved } of restarts) {
      assert.ok(moved > 0, what);
      assert.ok(lost <= 64 * 1024, `${what}: ${lost} of ${moved}`);
    }
    assert.deepEqual(
      restarts.map(({ what }) => what),
      ['core', 'panel'],
    );
  }));

test('a panel that charges twice fails', () =>
  charged([ADD, '] += 2 * count'], ({ finding, result }) => {
    assert.equal(result.verdict, 'fail');
    assert.match(finding, /charged twice: wt_\w+_charged0000000 16,777,216 B of 8,388,608 B/);
  }));
