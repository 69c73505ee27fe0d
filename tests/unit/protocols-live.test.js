/** Live metrics of a run of protocols. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../fakes/k6-record.js';
import { showTurns } from '../../lib/protocols/live.js';

test('each turn is shown once, a start that failed by its outcome alone', () => {
  /** @type {import('../../lib/protocols/result.js').Notes} */
  const notes = {
    turns: [{ handshake_ms: 0.5, rtt_ms: 0.1, mbit_64k: 900, cpu_s_per_gib: null, peak_anon_mib: 50 }],
    outcomes: [{ outcome: 'measured', detail: null }],
    version: null,
  };
  showTurns('trojan', notes);
  showTurns('trojan', notes);
  notes.outcomes.push({ outcome: 'crashed at start', detail: 'signal 11' });
  showTurns('trojan', notes);
  assert.deepEqual(
    samples.map(({ metric, value, tags }) => [metric, value, tags]),
    [
      ['protocol_turns', 1, { operation: 'trojan', outcome: 'measured' }],
      ['protocol_handshake_ms', 0.5, { operation: 'trojan' }],
      ['protocol_mbit_per_s', 900, { operation: 'trojan' }],
      ['protocol_peak_anon_mib', 50, { operation: 'trojan' }],
      ['protocol_turns', 1, { operation: 'trojan', outcome: 'crashed at start' }],
    ],
  );
});
