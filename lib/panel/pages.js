/**
 * The pages of a panel's list before the load. A page of the load is right if it has the same users in the same order. Other
 * people may change the panel during the load; their changes do not make a page wrong.
 */
import crypto from 'k6/crypto';
import { isAccepted, shown } from '../answers.js';
import { chunked } from '../lists.js';

/** The largest number of pages to read before the load. */
const MOST_READ = 500;
const AT_ONCE = 6;
const DIGITS = 12;

/** @typedef {import('./panel.js').Panel} Panel */
/** @typedef {import('./panel.js').Session} Session */
/**
 * @typedef {object} Known part of what setup() returns
 * @property {number} limit
 * @property {number} total
 * @property {number} pages
 * @property {{ first: string, digest: string }[]} read first user and digest of the pages that were read
 * @property {string | null} fault of the list as a whole
 */

/** @param {string[]} names */
const digestOf = (names) => crypto.sha256(names.join('\n'), 'hex').slice(0, DIGITS);

/**
 * In setup(): reads the pages. Throws if the list cannot be read, or has no pages.
 * @param {Panel} panel @param {Session} session @param {number} limit
 * @returns {Known}
 */
export function readPages(panel, session, limit) {
  if (panel.dialect.isWhole)
    throw new Error(`panel: ${panel.dialect.file.title} lists its users without pages`);
  const total = panel.total(session);
  if (total === null)
    throw new Error(
      `panel: ${panel.environment.url} its users cannot be counted, so there is no page to ask for`,
    );
  if (total === 0) throw new Error('panel: there is no user to list, and EXISTING=0 seeds none');
  const pages = Math.ceil(total / limit);
  /** @type {Known} */
  const known = { limit, total, pages, read: [], fault: null };
  /** @type {Set<string>} */
  const seen = new Set();
  const all = Array.from({ length: Math.min(pages, MOST_READ) }, (_, index) => index * limit);
  for (const offsets of chunked(all, AT_ONCE)) {
    if (known.fault !== null) break;
    for (const response of panel.pages(session, offsets, limit)) {
      const page = isAccepted(response) ? panel.pageOf(response, limit) : shown(response);
      known.fault ??= typeof page === 'string' ? page : overlap(page.names, seen, known, page.total);
    }
  }
  return known;
}

/**
 * @param {string[]} names on the next page
 * @param {Set<string>} seen names on earlier pages
 * @param {Known} known
 * @param {number} total in the page's answer
 */
function overlap(names, seen, known, total) {
  const wanted = Math.min(known.limit, known.total - known.read.length * known.limit);
  const repeated = names.filter((name) => seen.has(name)).length;
  for (const name of names) seen.add(name);
  known.read.push({ first: names[0] ?? '', digest: digestOf(names) });
  // Users created or removed between two reads shift the other users.
  if (total !== known.total) return null;
  if (repeated > 0)
    return repeated === names.length
      ? 'the same page again, despite another offset'
      : 'users of another page';
  return names.length < wanted ? 'fewer users than the page has' : null;
}

/**
 * Judges a page of the load.
 * @param {Panel} panel
 * @param {import('./panel.js').Response} response
 * @param {Known} known
 * @param {number} index of the page
 * @param {() => import('./panel.js').Response} again repeats the request, unmeasured
 * @returns {number | string} number of users, or what is wrong with the page
 */
export function judgePage(panel, response, known, index, again) {
  if (known.fault !== null) return known.fault;
  const page = panel.pageOf(response, known.limit);
  if (typeof page === 'string') return page;
  const { names, total } = page;
  const expected = known.read[index];
  if (!expected) return unread(names, total, known, index);
  if (expected.digest === digestOf(names)) return names.length;
  const moved = total !== known.total;
  if (moved && Math.abs(total - known.total) >= known.limit) return names.length;
  if (!isNear(names, known, index) && !(moved && index === known.pages - 1)) return 'users of another page';
  return moved || isSame(panel.pageOf(again(), known.limit), names)
    ? names.length
    : 'the users of the page in another order';
}

/**
 * Judges a page that was not read before the load.
 * @param {string[]} names @param {number} total @param {Known} known @param {number} index
 */
function unread(names, total, known, index) {
  const wanted = Math.min(known.limit, total - index * known.limit);
  if (names.length >= wanted || total !== known.total) return names.length;
  return 'fewer users than the page has';
}

/**
 * Whether other people's changes may have shifted the page: its own first user, or the next page's, is still on it.
 * @param {string[]} names @param {Known} known @param {number} index
 */
const isNear = (names, { read }, index) =>
  names.includes(read[index].first) || names.includes(read[index + 1]?.first ?? '');

/** Whether a repeated request returned the same page. @param {import('./answers.js').Page | string} page @param {string[]} names */
const isSame = (page, names) => typeof page !== 'string' && digestOf(page.names) === digestOf(names);
