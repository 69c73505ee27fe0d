/**
 * The tier of each test file under Node.js. `make test` runs `first`, and `make test-all` then runs `rest`. The tier of a folder holds
 * for all its files, except for files that the other tier names.
 * @type {Record<'first' | 'rest', { folders: string[], files: string[] }>}
 */
export const TIERS = {
  first: {
    folders: ['unit', 'known-answers'],
    files: [
      // One smoke run of each system.
      'real/smoke-few',
      // Seconds each.
      'real/bad-input',
      'real/builds',
      'real/comment',
      'real/gate-policy',
      'real/marzban-tables',
      'real/own-system',
      'real/panel-seed',
    ],
  },
  rest: {
    folders: ['real', 'alone'],
    files: [
      // Half a minute and more each.
      'known-answers/breakpoint',
      'known-answers/footprint-idle',
      'known-answers/inner-tls',
      'known-answers/outage',
      'known-answers/outage-dataplane',
      'known-answers/panel-accounting',
      'known-answers/panel-live',
      'known-answers/panel-profiles',
      'known-answers/row-footprint',
      'known-answers/tproxy',
      'known-answers/tunnel-memory',
      'known-answers/users-accounting',
      'known-answers/users-live',
    ],
  },
};

/** Files of the first tier that the rest runs again, at their full size: TEST_FULL is set there. */
export const AT_FULL_SIZE = ['unit/comparison-laws'];

/** Files of the first tier whose checks a file of the rest repeats on more cases: they are left out if the rest runs, too. */
export const IN_THE_REST = { 'real/smoke-few': 'real/smoke' };

/** Files that take 40 s and more beside others: they start first, the longest before the others. */
export const LONGEST = [
  'real/smoke',
  'real/smoke-few',
  'real/protocols-matrix',
  'real/protocols-judged',
  'real/protocols',
  'real/runners-each',
  'real/protocols-wire',
  'real/gate',
  'real/tutorials',
  'real/tproxy',
  'real/dataplane',
  'real/compare-two-builds',
  'real/protocols-cross',
  'real/evidence',
  'real/panel',
  'real/relay',
  'known-answers/footprint-leak',
  'known-answers/panel-live',
  'known-answers/footprint-idle',
  'real/streaming',
  'known-answers/users-accounting',
  'real/protocols-dns',
  'real/link-scenarios',
  'real/runners-limit',
  'real/odd-path',
  'known-answers/users-scale',
  'real/link-known',
  'real/compare-link',
  'known-answers/outage-dataplane',
  'real/panel-api',
  'known-answers/inner-tls',
  'real/panel-data-plane',
  'known-answers/ingest',
  'known-answers/dataplane',
  'real/link-run',
  'real/runners-faults',
  'real/link',
  'known-answers/websocket',
  'known-answers/panel-profiles',
  'real/protocols-hop',
  'real/link-repeat',
  'known-answers/footprint-start',
];

/** @param {'first' | 'rest'} tier @param {string} name such as real/relay */
export const isOf = (tier, name) => tierOf(name) === tier || (tier === 'rest' && AT_FULL_SIZE.includes(name));

/** @param {string} name @returns {'first' | 'rest'} */
function tierOf(name) {
  const named = Object.entries(TIERS).filter(([, { files }]) => files.includes(name));
  const folder = name.split('/')[0];
  const tiers =
    named.length > 0 ? named : Object.entries(TIERS).filter(([, { folders }]) => folders.includes(folder));
  if (tiers.length !== 1) throw new Error(`${name} has ${tiers.length} tiers in tests/tiers.js`);
  return /** @type {'first' | 'rest'} */ (tiers[0][0]);
}
