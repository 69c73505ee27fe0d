/** The probe `nat` through the real sing-box and xray: both are full cone NATs that carry IPv6 and names. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { natOf } from '../../lib/udp/nat-words.js';
import { start } from '../support/k6.js';

const PROBE =
  'exec bin/sidecar probe nat --proxy ${UDP_URL#socks5://} --target 127.0.0.1:9 --payload 64 --idle-s 0.5 --json';

describe('the NAT of', { concurrency: 2 }, () => {
  for (const testbed of ['sing-box', 'xray']) {
    test(testbed, async () => {
      const run = start('bin/sidecar', ['testbed', 'run', testbed, '--', 'sh', '-c', PROBE]);
      assert.equal(await run.ended, 0, run.output.stderr);
      const line = run.output.stdout.split('\n').find((one) => one.startsWith('{')) ?? '';
      const { attempted, succeeded, nat } = JSON.parse(line).outcome;
      assert.equal(succeeded, attempted);
      assert.deepEqual(natOf(nat), { kind: 'full cone', type: 'open' });
      assert.deepEqual([nat.hairpinning, nat.names_sender, nat.ipv6, nat.domain], [true, true, true, true]);
      assert.deepEqual([nat.answers_from, nat.bound.is, nat.bound.works], ['relay', 'proxy', true]);
    });
  }
});
