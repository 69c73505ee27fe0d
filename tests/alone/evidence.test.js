/**
 * Faults of cost (tests/fakes/proxy) get their verdict in a comparison and in a gate. Such a fault is many times the cost. A single run has
 * nothing to compare the cost with. tests/real/evidence.test.js has the faults of content.
 */
import { after, test } from 'node:test';
import { TCP, assertFails, measured, removeEvidence } from '../support/evidence.js';
import { timely, undisturbed } from '../support/timely.js';

after(removeEvidence);

/** @type {Record<string, import('../support/evidence.js').Fault & { why: RegExp }>} by what it does */
const FAULTS = {
  'uses many times the CPU later, while nothing is sent': {
    mode: 'defer --us 200',
    scenario: TCP,
    // All of its CPU counts, not only the part that fell between the first and the last request.
    why: /CPU per operation is worse by more than 10 %: \+\d{3,}\./,
  },
  'never frees the memory of its connections': {
    // More than ten descriptors that stay open fail the run itself.
    mode: 'leak --kib 2048',
    scenario: TCP,
    variables: { CONNECTIONS: '16' },
    why: /own memory/,
  },
  'is fast for 480 requests, and slow after them': {
    mode: 'slow-later --after 480 --us 1000',
    scenario: TCP,
    why: /throughput|CPU per operation/,
  },
};

for (const [what, fault] of Object.entries(FAULTS)) {
  test(
    `a proxy that ${what} fails against another one and in a gate`,
    undisturbed(async (t) => {
      const found = await measured(t, fault);
      timely(found.told.code !== '3', found.reasons.join('\n'));
      assertFails(found, fault.why);
    }),
  );
}
