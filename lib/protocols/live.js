/**
 * What a run shows of its rows while it lasts; results are not made of these. Tags: `operation`, and `outcome` of turns.
 *
 * | metric                     | type    | unit  | what                                                  |
 * |----------------------------|---------|-------|-------------------------------------------------------|
 * | protocol_turns             | counter | count | turns, by how they ended                              |
 * | protocol_handshake_ms      | trend   | ms    | to a tunnel's first reply, the median of each turn    |
 * | protocol_mbit_per_s        | trend   | Mbit/s | in writes of 64 KiB, of each turn                    |
 * | protocol_cpu_s_per_gib     | trend   | s     | CPU time of client and server for each GiB of these   |
 * | protocol_peak_anon_mib     | trend   | MiB   | most memory of their own that both held in each turn  |
 */
import { Counter, Trend } from 'k6/x/windtunnel/record';

const turns = new Counter('protocol_turns');
/** By the names of a turn's figures. */
const FIGURES = {
  handshake_ms: new Trend('protocol_handshake_ms', true),
  mbit_64k: new Trend('protocol_mbit_per_s'),
  cpu_s_per_gib: new Trend('protocol_cpu_s_per_gib'),
  peak_anon_mib: new Trend('protocol_peak_anon_mib'),
};

/** How many turns of a row's side were shown. @type {WeakMap<object, { outcomes: number, turns: number }>} */
const shown = new WeakMap();

/**
 * The turns since it was last called for these notes.
 * @param {string} operation
 * @param {import('./result.js').Notes} notes
 */
export function showTurns(operation, notes) {
  const before = shown.get(notes) ?? { outcomes: 0, turns: 0 };
  for (const { outcome } of notes.outcomes.slice(before.outcomes)) turns.add(1, { operation, outcome });
  for (const figures of notes.turns.slice(before.turns)) {
    for (const [name, trend] of Object.entries(FIGURES)) {
      const value = figures[name];
      if (typeof value === 'number') trend.add(value, { operation });
    }
  }
  shown.set(notes, { outcomes: notes.outcomes.length, turns: notes.turns.length });
}
