/** A script of k6: the laws of a sweep, over random edits of made runs. It prints its findings. */
/* global __ENV */
import { recommend } from '../../../lib/dataplane/sweep.js';
import { copyOf, tried } from './random.js';

/** @typedef {import('./random.js').Lot} Lot */
/** @typedef {{ values: any[], inUse: number, rounds: number }} Sweep */

/** @param {Lot} lot @returns {Sweep} */
function made(lot) {
  const rounds = lot.one([9, 12, 16]);
  const values = Array.from({ length: 2 + lot.below(3) }, (_, value) => {
    const [factor, lost] = [lot.one([0.7, 0.98, 1, 1.02, 1.4]), lot.one([0, 0, 0.001, 0.05])];
    const runs = Array.from({ length: rounds }, (_run, round) => ({
      round,
      mbit_per_s: 30 * factor * lot.about(0.03),
      rtt_p95_ms: 2,
      rtt_p99_ms: 3,
      peak_rss_bytes: 5e7,
      lost_share: lost * Math.min(2, lot.about(0.2)),
    }));
    return { value, runs };
  });
  return { values, inUse: lot.below(values.length), rounds };
}

/** @param {Sweep} sweep */
const told = ({ values, inUse, rounds }) => recommend('queue', values, inUse, rounds);

/** Takes evidence of a value away. @param {Lot} lot @param {Sweep} sweep */
function removed(lot, { values, rounds }) {
  const entry = lot.one(values);
  const at = lot.below(rounds);
  const key = lot.one(['mbit_per_s', 'lost_share']);
  const impossible = [null, -1, NaN, Infinity, 1e300, ...(key === 'mbit_per_s' ? [0] : [1.5])];
  lot.one([
    () => entry.runs.splice(at, 1 + lot.below(3)),
    () => (entry.runs = []),
    () => (entry.runs[at] = copyOf(entry.runs[(at + 1) % rounds])),
    () => (entry.runs[at][key] = lot.one(impossible)),
    () => (entry.runs[at][key] = lot.one(impossible)),
  ])();
  return entry.value;
}

/** @type {Record<string, (lot: Lot) => string | null>} */
const LAWS = {
  'what lacks a round is not recommended, and named': (lot) => {
    const sweep = made(lot);
    const before = told(sweep).recommended;
    const value = removed(lot, sweep);
    const { recommended, reason } = told(sweep);
    const named =
      reason.includes(`queue = ${value} was measured in `) ||
      reason.includes(`queue = ${value}, which is in use`);
    const fine = recommended !== value && named && (before !== null || recommended === null);
    if (value === sweep.inUse && recommended !== null) return `${value}, which is in use: ${reason}`;
    return fine ? null : `${value}: ${before}, then ${recommended}: ${reason}`;
  },
  'what is worse is not recommended for that': (lot) => {
    const sweep = made(lot);
    const before = told(sweep).recommended;
    const entry = lot.one(sweep.values);
    if (entry.value === sweep.inUse) return null;
    const by = lot.one([1.01, 1.3, 50]);
    for (const run of lot.below(2) ? entry.runs : [lot.one(entry.runs)])
      if (lot.below(2)) run.mbit_per_s /= by;
      else run.lost_share = Math.min(0.99, run.lost_share * by);
    const after = told(sweep).recommended;
    return after === entry.value && before !== entry.value ? `${after}, where it was ${before}` : null;
  },
  'of two values not both are better than the other': (lot) => {
    const sweep = made(lot);
    const values = sweep.values.slice(0, 2);
    const both = [0, 1].map((inUse) => told({ ...sweep, values, inUse }).recommended);
    return both[0] === 1 && both[1] === 0 ? 'both' : null;
  },
  'the order of values and of runs is no matter': (lot) => {
    const sweep = made(lot);
    const values = lot.shuffled(sweep.values.map((entry) => ({ ...entry, runs: lot.shuffled(entry.runs) })));
    const [before, after] = [told(sweep).recommended, told({ ...sweep, values }).recommended];
    return before === after ? null : `${before}, then ${after}`;
  },
  'a sweep without power says so': (lot) => {
    const sweep = made(lot);
    for (const entry of sweep.values) entry.runs = entry.runs.slice(0, 8);
    const { recommended, reason } = told({ ...sweep, rounds: 8 });
    return recommended === null && /cannot tell a difference: it takes RUNS=1\d/.test(reason) ? null : reason;
  },
};

export default () => {};
export const handleSummary = () => ({
  stdout: JSON.stringify(tried(LAWS, Number(__ENV.CASES), Number(__ENV.FROM || 1))),
});
