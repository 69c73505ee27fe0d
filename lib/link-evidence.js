/** A run's evidence on its link: for the judge, and tables of requested and measured settings. */
import { linkUses } from 'k6/x/windtunnel/record';
import { sectionOf } from './section.js';

/**
 * @typedef {import('./link.js').Calibrated} Calibrated
 * @typedef {import('k6/x/windtunnel/record').LinkUse} LinkUse
 * @typedef {Calibrated & { uses: LinkUse[] }} LinkEvidence
 */

/** In handleSummary. @param {Calibrated | null | undefined} link of the run's data @returns {LinkEvidence | null} */
function linkEvidence(link) {
  return link ? { ...link, uses: linkUses(__ENV.INSTANCE ?? '') } : null;
}

/** The link as a parameter: two runs are comparable only if it is equal. @param {string | undefined} text @returns {Record<string, string>} */
export const linkParameter = (text) => (text ? { link: text } : {});

/**
 * Adds the link's tables after the scenario's tables.
 * @template {import('./section.js').More} More
 * @param {More} more
 * @param {Calibrated | null | undefined} calibrated
 */
export function withLink(more, calibrated) {
  const link = linkEvidence(calibrated);
  const sections = [...more.sections, ...(link ? [calibrationSection(link), usesSection(link)] : [])].filter(
    (one) => one !== null,
  );
  return { ...more, ...(link && { link }), sections };
}

/** @param {LinkEvidence} link */
function calibrationSection({ about, calibration }) {
  const rows = /** @type {const} */ (['up', 'down']).flatMap((direction) => {
    const found = calibration[direction];
    /** @param {string} what @param {string} of @param {import('./link.js').Figure | null} figure */
    const row = (what, of, figure) => (figure ? [{ direction, what, of, ...figure }] : []);
    const none = { asked: 0, measured: found.own_lost, within: 0, ok: found.own_lost === 0 };
    return [
      ...row('delay', 'ms', found.delay_ms),
      ...row('rate', 'Mbit/s', found.rate_mbit_s),
      ...row('delay of the full queue', 'ms', found.queue_ms),
      ...row('lost of 1,000', 'packets', found.loss.per_1000),
      ...row('lost by the link itself', 'packets', none),
    ];
  });
  const { mbit_s: mbit, packets_s: packets } = calibration.carries;
  return sectionOf({
    name: 'link',
    title: `The link ${about.text}${about.title ? ` (${about.title})` : ''}`,
    columns: [
      ['ok', '', 'ok'],
      ['direction', 'Direction', 'text'],
      ['what', 'What', 'text'],
      ['of', 'Unit', 'text'],
      ['asked', 'Asked', 'number', { digits: 3 }],
      ['measured', 'Measured', 'number', { digits: 3 }],
      ['within', 'Within', 'number', { digits: 3 }],
    ],
    rows,
    notes: [
      `Measured before the load, on another link with the same settings; seed ${about.seed}. Without delay, rate limit and loss, a link on this machine carries ${mbit.toFixed(0)} Mbit/s in full packets, and ${packets.toFixed(0)} of the smallest packets per second.`,
      ...calibration.wrong,
    ],
  });
}

/** @param {LinkEvidence} link */
function usesSection({ uses }) {
  if (uses.length === 0) return null;
  const rows = uses.flatMap(({ name, up, down }) => [
    { name, direction: 'up', ...up },
    { name, direction: 'down', ...down },
  ]);
  return sectionOf({
    name: 'link_carried',
    title: 'What the link carried',
    columns: [
      ['name', 'For', 'text'],
      ['direction', 'Direction', 'text'],
      ['sent', 'Packets', 'count'],
      ['sent_bytes', 'Sent', 'bytes'],
      ['queue_dropped', 'Dropped, queue full', 'count'],
      ['lost', 'Lost, as asked', 'count'],
      ['dead', 'Lost, link dead', 'count'],
      ['queued_bytes_most', 'Most queued', 'bytes'],
      ['own', 'Lost by itself', 'count', (row) => ownLosses(row)],
      [
        'late_ms',
        'Late, mean',
        'ms',
        (row) => (row.delivered > 0 ? row.late_sum_ns / row.delivered / 1e6 : null),
      ],
    ],
    rows: /** @type {any[]} */ (rows),
  });
}

/** Packets that the link lost unintentionally; null if one of the counts is unknown. @param {LinkUse['up']} counts */
const ownLosses = ({ own_overrun: overrun = 0, own_refused: refused = 0, own_unread: unread = 0 }) =>
  overrun === null || refused === null || unread === null ? null : overrun + refused + unread;
