/** Changes by a proxy's own API: a right server, and one that confirms each change and forgets it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withServer } from '../support/charging-server.js';
import { assertLive } from '../support/users-smoke.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { assertVerdict } from '../support/verdict.js';

const SMALL = { ONLY: 'users/live', OPEN_FLOWS: '5', RATE: '4', SECONDS: '3' };
const TESTBED = 'users-live:protocol=trojan,users=10';

test('a right server passes, and its users come and go', () =>
  withServer('right', TESTBED, SMALL, (bench) => {
    assertLive(bench);
    const result = bench.result('users-live');
    assertVerdict(result, 'pass');
    assert.doesNotMatch(result.notes.join('\n'), /lookup/);
  }));

test('a server that confirms changes and forgets them fails by each change, and a lookup that is a scan is named', () =>
  withServer('deaf', TESTBED, SMALL, (bench) => {
    const result = bench.result('users-live');
    assertVerdict(result, 'fail');
    const [, first, last] =
      /lookup is a scan: .* after (\S+) ms, .* after (\S+) ms/.exec(result.notes.join('\n')) ?? [];
    // The last user comes 14 users after the first one.
    assert.ok(Number(last) >= 65 && Number(first) < 65, `${first} ${last}`);
    const operations = result.operations.filter((/** @type {any} */ { name }) => name.endsWith('_open'));
    assert.deepEqual(Object.assign({}, ...operations.map((/** @type {any} */ { errors }) => errors)), {
      connection_refused: 1,
    });
    // The first changes may come before the fault begins.
    for (const { changes, never } of rowsOf(sectionOf(result, 'effects')))
      assert.ok(never >= 3 && changes - never <= 1, `${never} of ${changes}`);
    for (const words of ['changes without effect', 'took no effect after the load either'])
      assert.match(result.notes.join('\n'), new RegExp(`${words}: (create|delete) \\S+-\\d+, \\w+ `));
  }));
