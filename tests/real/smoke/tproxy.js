/** The transparent proxy, with xray. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayMakeNamespaces, ownNetwork } from '../../support/namespaces.js';
import { smokeRun } from '../../support/smoke-run.js';
import { assertTransparent } from '../../support/tproxy-smoke.js';

const skip = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
/** The network before the run. */
const before = ownNetwork();

test('transparent proxy: smoke passes on xray, and leaves no network behind', { skip }, async () => {
  const { run } = await smokeRun();
  assertTransparent(run, ['proxy'], [0, 4, 16, 64]);
  assert.equal(ownNetwork(), before);
});
