/** The statistics of sing-box charge each user right. tests/real/smoke/users.js checks xray's statistics. */
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { assertCharged } from '../support/users-smoke.js';

test('users/accounting: sing-box charges each user right', async () => {
  const bench = startBench({ PROFILE: 'smoke', ONLY: 'users/accounting', TESTBED: 'users:engine=sing-box' });
  try {
    await bench.ended;
    assertCharged(bench);
  } finally {
    bench.remove();
  }
});
