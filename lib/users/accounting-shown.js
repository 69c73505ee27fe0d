/** Results of `users/accounting`: the charges by user, their errors in words, the delay and the restart. */
import { named, sectionOf } from '../section.js';
import { bytesOf, faultsOf, slackOf } from './charges.js';

/**
 * @typedef {import('./charges.js').Row} Row
 * @typedef {import('./charges.js').Moved} Moved
 */

/** Rows of the table by user: the users furthest off. */
const ROWS_MOST = 20;
const PERCENT = 100;

/** @param {Row} row */
const farOff = ({ error, moved }) => (error === null ? Infinity : Math.abs(error) / slackOf(moved));

/** Whether a user's bytes are known, so that the charge can be judged. @param {{ unknown: string[] }} found */
const isKnown =
  ({ unknown }) =>
  (/** @type {{ name: string }} */ { name }) =>
    !unknown.includes(name);

/** Number of users with a wrong charge, as evidence; null: unknown. @param {{ rows: Row[], unknown: string[] } | undefined} found @returns {number | null} */
function wrongOf(found) {
  if (!found || found.rows.some(({ charged }) => charged === null)) return null;
  const wrong = found.rows.filter((row) => row.wrong && isKnown(found)(row)).length;
  return wrong === 0 && found.unknown.length > 0 ? null : wrong;
}

/** @param {{ rows: Row[], unknown: string[] } | undefined} found @returns {import('k6/x/windtunnel/judge').Fact[]} */
export const chargeFacts = (found) => [
  {
    check: 'users whose charge is wrong',
    source: 'far_end',
    found: { said: wrongOf(found) },
    reported: { said: 0 },
  },
];

/** @param {{ rows: Row[], moved: Moved[], unknown: string[] }} found */
function findingOf({ rows, moved, unknown }) {
  const known = isKnown({ unknown });
  const judged = rows.filter(known);
  const wrong = judged.filter((row) => row.wrong).length;
  const whose = unknown.length > 0 ? ' whose bytes are known' : '';
  return wrong === 0
    ? `All ${judged.length} users${whose} are charged right.`
    : `${wrong} of ${judged.length} users${whose} are charged wrongly. ${faultsOf(judged, moved.filter(known)).join('. ')}.`;
}

/** @param {{ rows: Row[], moved: Moved[], unknown: string[] }} found */
export function chargeSection(found) {
  const { rows, unknown } = found;
  const order = [...rows].sort((a, b) => farOff(b) - farOff(a));
  return sectionOf({
    name: 'charges',
    title: 'Charges by user',
    columns: [
      ['name', 'User', 'text'],
      ['traffic', 'Traffic', 'text'],
      ['moved', 'Bytes moved', 'bytes'],
      ['charged', 'Charged', 'bytes'],
      ['error', 'Error', 'B'],
      [
        'share',
        'Error',
        '%',
        ({ error, moved: bytes }) => (error === null || bytes === 0 ? null : (error / bytes) * PERCENT),
        { digits: 2 },
      ],
      ['right', 'Within the bound', 'ok', (row) => (isKnown(found)(row) ? !row.wrong : null)],
    ],
    rows: rows.length > ROWS_MOST ? order.slice(0, ROWS_MOST) : rows,
    finding: findingOf(found),
    notes: [
      'Bytes moved: payload that our far end received and sent. A charge is wrong if it is off by more than 2 % and by more than 64 KiB, in sum or in one direction, or if a user without traffic is charged at all.',
      ...named('users whose bytes are unknown, since a connection or an association of them failed', unknown),
      rows.length > ROWS_MOST && `The ${ROWS_MOST} users of ${rows.length} that are furthest off.`,
    ],
  });
}

/** @param {number | null} of */
const share = (of) => (of === null ? null : of * PERCENT);

/**
 * Bytes that a restart lost; null: unknown. If nothing moved in mid-transfer, nothing could be lost there.
 * @param {Pick<import('./accounting.js').Restart, 'due' | 'kept'> & { moved?: number | null }} restart
 */
export function lostBy({ due, kept, moved }) {
  const lost = due === null || kept === null ? null : Math.max(0, due - kept);
  return lost === 0 && moved === 0 ? null : lost;
}

/** Restarts in their order: what an earlier one lost, the next one did not lose. A later one does not know what an earlier one did not count. @template {{ due: number | null, kept: number | null }} One @param {One[]} restarts */
export function apart(restarts) {
  let lost = 0;
  let counted = true;
  return restarts.map((one) => {
    counted &&= one.due !== null;
    const own = { ...one, due: counted ? one.due : null, kept: one.kept === null ? null : one.kept + lost };
    lost += lostBy(own) ?? 0;
    return own;
  });
}

/**
 * The loss by a restart, in words.
 * @param {import('./accounting.js').Restart | null} restart @param {string} what was restarted
 */
export function restartWords(restart, what) {
  if (!restart) return `The restart of the ${what} was not tried.`;
  const { due, open } = restart;
  const lost = lostBy(restart);
  if (due === null || lost === null) return `What a restart of the ${what} in mid-transfer loses is unknown.`;
  const part = `${((lost / due) * PERCENT).toFixed(1)} %`;
  const words =
    lost > slackOf(due)
      ? `A restart of the ${what} in mid-transfer lost ${bytesOf(lost)} of ${bytesOf(due)} (${part}).`
      : `A restart of the ${what} in mid-transfer lost nothing.`;
  return open === null
    ? words
    : `${words} ${(open * PERCENT).toFixed(0)} % of an open connection's bytes were charged while it was open.`;
}

/** @param {import('./accounting.js').Figures} figures */
export const accountingSection = ({ delay_ms: delay, wire, restart }) =>
  sectionOf({
    name: 'accounting',
    title: 'Delay, restart and bytes on the wire',
    columns: [
      ['delay', 'All charged after', 'ms', { compare: 'lower' }],
      ['open', 'Charged while open', '%'],
      ['due', 'Moved until the restart', 'bytes'],
      ['lost', 'Lost by the restart', 'bytes', { compare: 'lower' }],
      ['wire_tcp', 'On the wire, TCP', '%', { digits: 2 }],
      ['wire_udp', 'On the wire, UDP', '%', { digits: 2 }],
    ],
    rows: [
      {
        delay,
        open: share(restart?.open ?? null),
        due: restart?.due ?? null,
        lost: restart && lostBy(restart),
        wire_tcp: wire.tcp > 0 ? (wire.tcp - 1) * PERCENT : null,
        wire_udp: wire.udp > 0 ? (wire.udp - 1) * PERCENT : null,
      },
    ],
    finding: restartWords(restart, 'server'),
    notes: [
      'On the wire: what the protocol adds to the payload between client and server, counted by a tap there. The delay has a resolution of 20 ms and one question. A loss by the restart is reported, not judged: a server without a store keeps its statistics in memory.',
    ],
  });
