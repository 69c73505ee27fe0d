/**
 * Whether two small samples differ: the Wilcoxon-Mann-Whitney rank-sum test, exact also
 * with ties (every split of the ranks is counted), for the few runs of a sweep.
 * k6 x compare has its own engine in Go (k6/internal/difference), which a script cannot use.
 */

/** Ranks from 1, doubled so that the middle rank of a tie is whole. @param {number[]} values */
function doubledRanks(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return values.map((value) => sorted.indexOf(value) + sorted.lastIndexOf(value) + 2);
}

/**
 * How many choices of `size` ranks have each sum.
 * @param {number[]} ranks
 * @param {number} size
 * @returns {Map<number, number>} sum, and how many
 */
function countSums(ranks, size) {
  const ways = Array.from({ length: size + 1 }, () => new Map());
  ways[0].set(0, 1);
  for (const rank of ranks) {
    for (let taken = size; taken > 0; taken -= 1) {
      for (const [sum, count] of ways[taken - 1]) {
        ways[taken].set(sum + rank, (ways[taken].get(sum + rank) ?? 0) + count);
      }
    }
  }
  return ways[size];
}

/**
 * The least that rankSumP can be of samples of these sizes: where they do not overlap at all.
 * @param {number} first
 * @param {number} second
 * @returns {number}
 */
export function leastRankSumP(first, second) {
  let splits = 1;
  for (let taken = 1; taken <= first; taken += 1) splits *= (second + taken) / taken;
  return Math.min(1, 2 / splits);
}

/**
 * The two-sided p-value: how often chance alone would part the samples so far.
 * @param {number[]} first
 * @param {number[]} second
 * @returns {number} 0 to 1; 1 where there is nothing to compare
 */
export function rankSumP(first, second) {
  if (first.length === 0 || second.length === 0) return 1;
  const ranks = doubledRanks([...first, ...second]);
  const own = ranks.slice(0, first.length).reduce((sum, rank) => sum + rank, 0);
  const mean = first.length * (first.length + second.length + 1);
  let all = 0;
  let asFar = 0;
  for (const [sum, count] of countSums(ranks, first.length)) {
    all += count;
    if (Math.abs(sum - mean) >= Math.abs(own - mean)) asFar += count;
  }
  return asFar / all;
}
