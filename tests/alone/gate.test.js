/**
 * The gate's workflow measures two commits of a small proxy that cost the same, and passes. Other tests would disturb its measurements.
 * tests/alone/evidence.test.js has proxies that cost more, and tests/real/gate.test.js the comment of a failed gate.
 */
import { after, test } from 'node:test';
import { assertVerdict, keep, smallProxy } from '../support/small-proxy.js';
import { timely, undisturbed } from '../support/timely.js';

const proxy = smallProxy();
after(proxy.remove);

/** The gate has a verdict, unless others on the machine prevented it. @param {Awaited<ReturnType<typeof proxy.gate>>} measured @param {string} verdict */
function assertTold(measured, verdict) {
  assertVerdict(measured, verdict);
  timely(measured.outputs.verdict === verdict, measured.comment);
}

test(
  'a pull request that is as fast passes',
  undisturbed(async () => {
    const measured = await proxy.gate('merged/equal', 'pull_request', {}, { REST_S: '0', QUIET_S: '0.25' });
    assertTold(measured, 'pass');
    keep('equal', measured);
  }),
);
