/** Checks of a smoke run of footprint/…: a busy machine may make it inconclusive. */
import assert from 'node:assert/strict';
import { reasonsOf } from './reasons.js';
import { rowsOf, sectionOf } from './sections.js';

/** Numbers of rules in smoke. */
export const LEVELS = [0, 1000];

/** @param {any} result */
export function assertSound(result) {
  assert.notEqual(result.verdict, 'fail', reasonsOf(result).join('\n'));
}

/** Each level has all figures, and a reload ends each tunnel in one of two ways. @param {any} result @param {RegExp} reload its finding */
export function assertStart(result, reload) {
  assertSound(result);
  const starts = rowsOf(sectionOf(result, 'start'));
  assert.deepEqual(
    starts.map(({ rules }) => rules),
    LEVELS,
  );
  for (const {
    start_ms: start,
    listen_ms: listen,
    own_mib: own,
    connect_ms: address,
    name_ms: name,
  } of starts)
    for (const one of [start, listen, own, address, name]) assert.ok(one.value > 0, JSON.stringify(starts));
  const reloads = sectionOf(result, 'reload');
  assert.match(reloads.finding, reload);
  const rows = rowsOf(reloads);
  assert.equal(rows.length, LEVELS.length);
  for (const { ends, tunnels, dropped, reloads: times } of rows) {
    // The end of a program resets a connection with unread bytes.
    assert.match(ends, /^\d+ × (closed|connection_reset)(, \d+ × (closed|connection_reset))?$/);
    const counts = [...ends.matchAll(/(\d+) ×/g)].map(([, count]) => Number(count));
    const all = counts.reduce((sum, count) => sum + count, 0);
    assert.deepEqual([dropped.value, all], [tunnels, tunnels * times]);
  }
}
