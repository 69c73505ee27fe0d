/** The scenarios of many users, on xray. */
import { before, test } from 'node:test';
import { smokeRun } from '../../support/smoke-run.js';
import { assertCharged, assertLive } from '../../support/users-smoke.js';

/** @type {import('../../support/smoke-run.js').Smoke['run']} */
let run;
before(async () => {
  ({ run } = await smokeRun());
});

test('users/live: the API of xray changes users, and no other flow is lost', () => assertLive(run));

test('users/accounting: xray charges each user right', () => assertCharged(run));
