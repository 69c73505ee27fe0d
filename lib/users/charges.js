/** Compares what users were charged with what the far end counted, and names the kind of each error. */
import { grouped, named } from '../section.js';

/** A user is charged wrongly if off by more than this share and by more than these bytes. */
const SHARE = 0.02;
const BYTES = 64 * 1024;

/**
 * @typedef {{ up: number, down: number }} Ways bytes from the user to the far end, and back
 * @typedef {{ name: string, traffic: string, tcp: Ways, udp: Ways }} Moved by the far end's count, of one user
 * @typedef {Ways | { total: number }} Charged what a system reports for a user: both ways, or only their sum
 * @typedef {object} Row
 * @property {string} name
 * @property {string} traffic
 * @property {number} moved bytes of both ways
 * @property {number | null} charged bytes of both ways; null: unknown
 * @property {number | null} error bytes too many, below 0 too few. With both ways the sum of both, unless one way is further off
 * @property {boolean} wrong
 */

const NOTHING = { up: 0, down: 0 };

/** @param {Ways} ways */
const sumOf = ({ up, down }) => up + down;

/** @param {Charged} charged */
export const totalOf = (charged) => ('total' in charged ? charged.total : sumOf(charged));

/** Bytes by which a user's charge may be off. @param {number} moved */
export const slackOf = (moved) => Math.max(SHARE * moved, BYTES);

/** @param {number} error @param {number} moved */
const isOff = (error, moved) => Math.abs(error) > slackOf(moved);

/** Bytes of both transports, each way. @param {Moved} moved @returns {Ways} */
const waysOf = ({ tcp, udp }) => ({ up: tcp.up + udp.up, down: tcp.down + udp.down });

/** @param {Moved} moved */
export const movedBy = (moved) => sumOf(waysOf(moved));

/** @param {Moved} moved @param {Charged | null | undefined} charged null: not told; undefined: without an entry, which means 0 @returns {Row} */
function rowOf(moved, charged = NOTHING) {
  const { name, traffic } = moved;
  const ways = waysOf(moved);
  const all = sumOf(ways);
  if (charged === null) return { name, traffic, moved: all, charged: null, error: null, wrong: true };
  const errors = [totalOf(charged) - all];
  if ('up' in charged) errors.push(charged.up - ways.up, charged.down - ways.down);
  // Without traffic, any charge is another user's.
  const wrong = all === 0 ? errors[0] !== 0 : errors.some((error) => isOff(error, all));
  return { name, traffic, moved: all, charged: totalOf(charged), error: errors[0], wrong };
}

/**
 * @param {Moved[]} all
 * @param {Map<string, Charged> | null} charges by name of the user; null: unknown
 * @returns {Row[]}
 */
export const rowsOf = (all, charges) =>
  all.map((moved) => rowOf(moved, charges === null ? null : charges.get(moved.name)));

/** Whether a charge is within the bound of what it should be. @param {number} charged @param {number} due */
const isAbout = (charged, due) => !isOff(charged - due, due);

/** @param {number} bytes */
export const bytesOf = (bytes) => `${grouped(Math.round(Math.abs(bytes)))} B`;

/**
 * The user whose error is the opposite of this one's, if there is one.
 * @param {Row} row @param {Row[]} wrong all wrong users
 */
const partnerOf = ({ name, error, moved }, wrong) =>
  error !== null && isOff(error, 0)
    ? wrong.find((other) => other.name !== name && other.error !== null && !isOff(other.error + error, moved))
    : undefined;

/** Kinds of an error, the first that fits: its name, and whether it fits. @type {[string, (row: { charged: number, error: number, moved: number }, moved: Moved) => boolean][]} */
const KINDS = [
  ['charged without traffic', ({ moved }) => moved === 0],
  ['right in sum, but not each way', ({ charged, moved }) => isAbout(charged, moved)],
  ['charged twice', ({ charged, moved }) => isAbout(charged, 2 * moved)],
  ['charged too much', ({ error }) => error > 0],
  ['UDP is not charged', ({ charged }, { tcp, udp }) => isOff(sumOf(udp), 0) && isAbout(charged, sumOf(tcp))],
  ['TCP is not charged', ({ charged }, { tcp, udp }) => isOff(sumOf(tcp), 0) && isAbout(charged, sumOf(udp))],
];

/**
 * The kind of a wrong user's error, and its words. Users with the same kind are named together.
 * @param {Row} row @param {Moved} user @param {Row[]} wrong all wrong users
 * @returns {[kind: string, words: string]}
 */
function kindOf(row, user, wrong) {
  const { name, charged, error, moved } = row;
  if (charged === null || error === null) return ['no charge is known', name];
  const partner = partnerOf(row, wrong);
  if (partner)
    return error < 0
      ? ['charged to another user', `${name}'s ${bytesOf(error)} to ${partner.name}`]
      : ['charged for another user', `${name} for ${bytesOf(error)} of ${partner.name}`];
  const found = KINDS.find(([, fits]) => fits({ charged, error, moved }, user));
  return [found?.[0] ?? 'charged too little', `${name} ${bytesOf(charged)} of ${bytesOf(moved)}`];
}

/**
 * A sentence for each kind of error, with the names of its users.
 * @param {Row[]} rows @param {Moved[]} all of these users, in this order
 */
export function faultsOf(rows, all) {
  if (rows.every(({ charged }) => charged === 0) && rows.some(({ wrong }) => wrong))
    return ['nobody is charged'];
  const wrong = rows.filter((row) => row.wrong);
  /** @type {Map<string, string[]>} */
  const byKind = new Map();
  rows.forEach((row, index) => {
    if (!row.wrong) return;
    const [kind, words] = kindOf(row, all[index], wrong);
    byKind.set(kind, [...(byKind.get(kind) ?? []), words]);
  });
  return [...byKind].flatMap(([kind, words]) => named(kind, words));
}
