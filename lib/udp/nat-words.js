/** Words for the findings of the sidecar's probe `nat`. The words come from RFC 4787, from RFC 3489 and from gamers. */

/**
 * @typedef {import('../../types/sidecar.d.ts').Dependence} Dependence
 * @typedef {import('../../types/sidecar.d.ts').Life} Life
 * @typedef {import('../../types/sidecar.d.ts').NatReport} NatReport
 */

export const UNKNOWN = 'unknown';
/** A gamer's NAT types, from the best to the worst. */
export const NAT_TYPES = /** @type {const} */ (['open', 'moderate', 'strict']);

/** Kinds of cone, by the filtering (RFC 3489, 5). @type {Record<Dependence, string>} */
const CONES = {
  endpoint_independent: 'full cone',
  address_dependent: 'restricted cone',
  address_and_port_dependent: 'port restricted cone',
  unstable: 'cone with unstable filtering',
};

/**
 * The kind of NAT (RFC 3489) and its type (consoles).
 * @param {Pick<NatReport, 'mapping' | 'filtering'>} report
 * @returns {{ kind: string, type: 'open' | 'moderate' | 'strict' } | null} null: unknown
 */
export function natOf({ mapping, filtering }) {
  if (mapping === null) return null;
  if (mapping !== 'endpoint_independent') return { kind: 'symmetric', type: 'strict' };
  if (filtering === null) return null;
  return { kind: CONES[filtering], type: filtering === 'endpoint_independent' ? 'open' : 'moderate' };
}

/** The word of RFC 4787. @param {Dependence | null} dependence */
export const rfcWord = (dependence) =>
  dependence?.replaceAll('_', '-').replace('address-and-port', 'address- and port') ?? null;

/** @param {number} seconds */
export const rounded = (seconds) => `${Math.round(seconds * 10) / 10} s`;

/** A life in words. @param {Life | null} life */
export function lifeOf(life) {
  if (!life) return UNKNOWN;
  const { kept_s: kept, forgotten_s: forgotten } = life;
  if (forgotten === null) return kept === null ? UNKNOWN : `at least ${rounded(kept)}`;
  return kept === null
    ? `less than ${rounded(forgotten)}`
    : `between ${rounded(kept)} and ${rounded(forgotten)}`;
}
