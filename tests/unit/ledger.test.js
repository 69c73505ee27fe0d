import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ledger } from '../../lib/pulsar/room.js';

test('a ledger tells first arrivals, duplicates and late ones apart', () => {
  const ledger = new Ledger(0);
  assert.deepEqual(
    [0, 2, 1, 2, 3].map((seq) => ledger.note(seq)),
    [true, true, true, false, true],
  );
  assert.deepEqual([ledger.duplicated, ledger.outOfOrder, ledger.seen.size], [1, 1, 4]);
});
