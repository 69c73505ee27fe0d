/** Tests the candidate's ends with the baseline's ends: each client with each server, once per row. */
import { hearAll } from './hop.js';
import { atFault, untried } from './interop.js';
import { hasHop } from './matrix.js';

/**
 * @typedef {object} Crossed
 * @property {import('./outcome.js').Outcome | null} outcome of the candidate; null: no fault, or not tested
 * @property {{ baseline: number | null, candidate: number | null }} roundTrips of the hop until a tunnel has opened,
 *   answered and closed
 */

/** @type {Crossed} */
const NOTHING = { outcome: null, roundTrips: { baseline: null, candidate: null } };

/**
 * Tests whether the candidate is compatible with the baseline, and whether an observer can read its hop. If the candidate's own
 * ends do not work together, the turns report that.
 * @param {import('./matrix.js').Row} row
 * @param {import('./sides.js').Side} baseline
 * @param {import('./sides.js').Side} candidate
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @returns {Crossed}
 */
export function crossed(row, baseline, candidate, plane) {
  if (!hasHop(row) || untried(row, { client: baseline, server: candidate }) !== null) return NOTHING;
  const server = candidate.server ?? candidate;
  const pairs = [
    { client: candidate, server, name: 'candidate-to-candidate' },
    { client: baseline, server, name: 'baseline-to-candidate' },
    { client: candidate, server: baseline, name: 'candidate-to-baseline' },
    { client: baseline, server: baseline, name: 'baseline-to-baseline' },
  ];
  const [ofCandidate, toServer, toClient, ofBaseline] = hearAll(
    pairs.map((pair) => ({ row, pair, countsTrips: true })),
    plane,
  );
  const roundTrips = { baseline: ofBaseline.roundTrips, candidate: ofCandidate.roundTrips };
  if (ofCandidate.outcome === 'not encrypted')
    return { outcome: { outcome: ofCandidate.outcome, detail: ofCandidate.detail }, roundTrips };
  const known = ofCandidate.outcome === 'interoperates' && ofBaseline.outcome === 'interoperates';
  return { outcome: known ? atFault(toServer, toClient) : null, roundTrips };
}
