/**
 * The middle of paired differences and its confidence interval, without any assumption on their distribution but
 * symmetry: Hodges and Lehmann's estimate and the exact interval of Wilcoxon's signed-rank test.
 * Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd edition, section 3.2 and 3.3.
 */

/** How many of the 2^n signs give each sum of positive ranks. @param {number} n */
function signedRankCounts(n) {
  const counts = new Array((n * (n + 1)) / 2 + 1).fill(0);
  counts[0] = 1;
  for (let rank = 1; rank <= n; rank += 1)
    for (let sum = counts.length - 1; sum >= rank; sum -= 1) counts[sum] += counts[sum - rank];
  return counts;
}

/**
 * How many Walsh averages the interval leaves out at each end.
 * @param {number} n
 * @param {number} alpha what the interval may miss, both sides together
 * @returns {number} -1 where n is too small for any interval
 */
function leftOut(n, alpha) {
  const counts = signedRankCounts(n);
  const most = (alpha / 2) * 2 ** n;
  let below = 0;
  let cut = -1;
  while (below + counts[cut + 1] <= most) {
    cut += 1;
    below += counts[cut];
  }
  return cut;
}

/**
 * @param {number[]} differences
 * @param {number} alpha
 * @returns {{ estimate: number, low: number | null, high: number | null } | null} null without any; low and high are
 *   null where there are too few for the confidence
 */
export function pairedShift(differences, alpha) {
  const n = differences.length;
  if (n === 0) return null;
  const walsh = differences
    .flatMap((one, index) => differences.slice(index).map((other) => (one + other) / 2))
    .sort((a, b) => a - b);
  const middle = (walsh.length - 1) / 2;
  const estimate = (walsh[Math.floor(middle)] + walsh[Math.ceil(middle)]) / 2;
  const cut = leftOut(n, alpha);
  if (cut < 0) return { estimate, low: null, high: null };
  return { estimate, low: walsh[cut], high: walsh[walsh.length - 1 - cut] };
}

/** The fewest pairs that can tell anything. @param {number} alpha */
export function fewestPairs(alpha) {
  let n = 1;
  while (leftOut(n, alpha) < 0) n += 1;
  return n;
}
