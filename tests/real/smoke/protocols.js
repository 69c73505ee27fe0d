/** A row of the matrix, a chain of two, and a row over a link. */
import { before, test } from 'node:test';
import { mayMakeNamespaces } from '../../support/namespaces.js';
import { assertChain, assertTrips, assertTunnels } from '../../support/protocols-smoke.js';
import { smokeRun } from '../../support/smoke-run.js';

const noLink = mayMakeNamespaces() ? false : 'no rights to make network namespaces';

/** @type {import('../../support/smoke-run.js').Smoke['run']} */
let run;
before(async () => {
  ({ run } = await smokeRun());
});

test('protocols: a row of each side has its figures', () => assertTunnels(run, 'trojan'));

test('protocols: a chain of two rows carries payload, and each row alone beside it', () =>
  assertChain(run, 'trojan', 'socks'));

test('link: a row over a link takes the round trips that its protocol has', { skip: noLink }, () =>
  assertTrips(run),
);
