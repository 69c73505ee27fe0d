/**
 * Metrics of rows for live boards; results do not use them. Tags: `operation`, and `outcome` of turns.
 *
 * | metric                     | type    | unit  | what                                                  |
 * |----------------------------|---------|-------|-------------------------------------------------------|
 * | protocol_turns             | counter | count | turns by outcome                                      |
 * | protocol_handshake_ms      | trend   | ms    | time to a new tunnel's first reply, median of each turn |
 * | protocol_mbit_per_s        | trend   | Mbit/s | throughput of each turn, in writes of 64 KiB         |
 * | protocol_cpu_s_per_gib     | trend   | s     | CPU time of client and server per GiB of these transfers |
 * | protocol_peak_anon_mib     | trend   | MiB   | peak anonymous memory of client and server in each turn |
 */
import { Counter, Trend } from 'k6/x/windtunnel/record';

const turns = new Counter('protocol_turns');
/** Trends by the names of a turn's figures. */
const FIGURES = {
  handshake_ms: new Trend('protocol_handshake_ms', true),
  mbit_64k: new Trend('protocol_mbit_per_s'),
  cpu_s_per_gib: new Trend('protocol_cpu_s_per_gib'),
  peak_anon_mib: new Trend('protocol_peak_anon_mib'),
};

/** Numbers of outcomes and turns already reported, by notes of a row's side. @type {WeakMap<object, { outcomes: number, turns: number }>} */
const reported = new WeakMap();

/**
 * Reports the turns since the last call for these notes.
 * @param {string} operation
 * @param {import('./result.js').Notes} notes
 */
export function showTurns(operation, notes) {
  const before = reported.get(notes) ?? { outcomes: 0, turns: 0 };
  for (const { outcome } of notes.outcomes.slice(before.outcomes)) turns.add(1, { operation, outcome });
  for (const figures of notes.turns.slice(before.turns)) {
    for (const [name, trend] of Object.entries(FIGURES)) {
      const value = figures[name];
      if (typeof value === 'number') trend.add(value, { operation });
    }
  }
  reported.set(notes, { outcomes: notes.outcomes.length, turns: notes.turns.length });
}
