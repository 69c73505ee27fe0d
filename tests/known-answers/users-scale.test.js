/** Many users: a server whose lookup is a scan, and one with a table and a known amount of memory for each user. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { within } from '../support/faulty.js';
import { ROOT } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely } from '../support/timely.js';

/** @param {string} words of the fake server @param {boolean} tls @param {(section: any, result: any) => void} look */
async function measured(words, tls, look) {
  const folder = mkdtempSync(join(tmpdir(), 'users-'));
  const binary = join(folder, 'server');
  const script = `#!/bin/sh\nexec python3 '${join(ROOT, 'tests/fixtures/many-users.py')}' ${words} "$@"\n`;
  writeFileSync(binary, script, { mode: 0o755 });
  const bench = startBench({
    PROFILE: 'smoke',
    ONLY: 'users/scale',
    LEVELS: '1,200,400',
    TESTBED: `users:tls=${tls},binary=${binary}`,
  });
  try {
    await bench.ended;
    assert.ok(bench.has('users-scale.json'), bench.output.stdout + bench.output.stderr);
    const result = bench.result('users-scale');
    look(sectionOf(result, 'scale'), result);
  } finally {
    bench.remove();
    rmSync(folder, { recursive: true });
  }
}

test('a scan is found by the last user, and the first user pays nothing', () =>
  measured('scan 0', false, (section) => {
    // Others on the CPUs hide that the growth is linear.
    const isFound = /First byte of the last user: grows by .*the lookup is a scan/.test(section.finding);
    timely(isFound, section.finding);
    const rows = rowsOf(section);
    // 393 to 400 steps of 50 us, and 197 to 204 in the middle.
    assert.ok(rows[2].last_ms.value - rows[0].last_ms.value >= 19, JSON.stringify(rows));
    assert.ok(rows[2].middle_ms.value >= 9.8 && rows[2].middle_ms.value < rows[2].last_ms.value);
    assert.ok(rows[2].first_ms.low < rows[2].last_ms.low / 2, 'the first user pays nothing');
    assert.ok(rows[2].cpu_ms.value > 5, `the scan is CPU time of the server: ${rows[2].cpu_ms.value}`);
  }));

test('memory of 64 KiB a user is found, and a table is no scan, in TLS', () =>
  measured('table 64', true, (section) => {
    const [, , most] = rowsOf(section);
    within(most.kib_each, 64, 0.1);
    assert.match(section.finding, /Memory: grows by \d+ KiB a user \(\d+ to \d+\), linear/);
    // A scan of 400 steps would take 20 ms.
    assert.ok(most.last_ms.low < 20, JSON.stringify(most));
  }));
