import assert from 'node:assert/strict';
import test from 'node:test';
import { together } from '../../lib/link-uses.js';

test('what two links lost is a sum, and unknown if the loss of one is unknown', () => {
  const known = { sent: 5, own_unread: 1, queued_bytes_most: 7 };
  assert.deepEqual(together(known, { sent: 2, own_unread: 3, queued_bytes_most: 4 }), {
    sent: 7,
    own_unread: 4,
    queued_bytes_most: 7,
  });
  const unknown = { sent: 2, own_unread: null, queued_bytes_most: 9 };
  for (const [one, other] of [
    [known, unknown],
    [unknown, known],
  ]) {
    const all = together(one, other);
    assert.deepEqual([all.sent, all.own_unread, all.queued_bytes_most], [7, null, 9]);
  }
  // The first link did not have this count.
  assert.deepEqual(together({}, { sent: 2 }), { sent: 2 });
});
