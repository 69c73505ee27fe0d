/** A mix of request kinds, and their order. */

/**
 * @template {Record<string, number>} T
 * @param {string | undefined} text such as read:80,create:20
 * @param {T} kinds default mix; its keys are all kinds
 * @returns {T} the weight of each kind; 0 if the text omits the kind
 */
export function parseMix(text, kinds) {
  if (!text) return kinds;
  const wrong = `MIX=${text}: write it as read:80,create:20; there are ${Object.keys(kinds).join(', ')}, and whole numbers up to 1000`;
  const given = text.split(',').map((part) => {
    const [, kind, weight] = /^\s*([a-z]+):(\d{1,4})\s*$/.exec(part) ?? [];
    if (!(kind in kinds) || Number(weight) > 1000) throw wrong;
    return [kind, Number(weight)];
  });
  if (new Set(given.map(([kind]) => kind)).size < given.length || given.every(([, weight]) => weight === 0))
    throw wrong;
  const none = Object.keys(kinds).map((kind) => [kind, 0]);
  return Object.fromEntries([...none, ...given]);
}

/**
 * One round of the kinds. Each kind occurs as often as its weight says, evenly spread (smooth weighted round robin).
 * @param {Record<string, number>} mix
 * @returns {string[]}
 */
export function patternOf(mix) {
  const kinds = Object.keys(mix).filter((kind) => mix[kind] > 0);
  const total = kinds.reduce((sum, kind) => sum + mix[kind], 0);
  const credit = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  return Array.from({ length: total }, () => {
    for (const kind of kinds) credit[kind] += mix[kind];
    const next = kinds.reduce((best, kind) => (credit[kind] > credit[best] ? kind : best));
    credit[next] -= total;
    return next;
  });
}

/** A mix as text. @param {Record<string, number>} mix */
export const textOf = (mix) =>
  Object.entries(mix)
    .map(([kind, weight]) => `${kind}:${weight}`)
    .join(',');

/** The order of the kinds of all requests. Each client gets a part of the sequence. */
export class Sequence {
  /**
   * @param {Record<string, number>} mix
   * @param {number} [each] requests per client, if their number is fixed
   */
  constructor(mix, each) {
    this.pattern = patternOf(mix);
    this.each = each;
    /** Requests of this virtual user so far. */
    this.turns = 0;
  }

  /** Number of requests until the pattern repeats. */
  get length() {
    return this.pattern.length;
  }

  /** The client's next kind. Different clients are at different places of the pattern. @param {number} client */
  next(client) {
    const { each, turns } = this;
    this.turns += 1;
    const place = each ? client * each + ((turns + client) % each) : turns + client;
    return this.pattern[place % this.length];
  }
}
