/**
 * How fast does the panel page through its users?
 *
 * quick: 500 pages of LIMIT users, 10 clients, over 10,000 users seeded by SQL (smoke: 2,000). A panel that was running before is
 * paged through as it is. If it has no users, they are seeded too, or 500 are created through the API if no database is
 * configured. Each request takes the next page, so that early and late pages occur equally often. The pages are read before
 * the load: an answer is right if it has the users of its page.
 */
import { loopOperations } from '../../lib/loops.js';
import { judgePage, readPages } from '../../lib/panel/pages.js';
import { panelScenario } from '../../lib/panel/scenario.js';
import { currentProfile, envCount, requestLoad } from '../../lib/profiles.js';
import { defaultNumber } from '../../lib/variables.js';

const base = { clients: 10, smoke: 100, quick: 500, rate: defaultNumber('RATE', 'panel/users-list') };
const load = requestLoad(base, 'PAGES');
const limit = envCount('LIMIT');

const script = panelScenario({
  name: 'users-list',
  title: 'Paging through users',
  load,
  clients: envCount('CLIENTS', base.clients),
  parameters: { limit },
  existing: currentProfile() === 'smoke' ? 2000 : 10_000,
  operations: loopOperations(load, 'page', {
    title: `GET ${limit} users`,
    least: load.iterations ?? 1,
    items: 'users',
    bounds: { 'p(95)': 5000 },
  }),
  prepare: (panel, session) => ({ known: readPages(panel, session, limit) }),
  iterate({ panel, data, index, measure }) {
    const place = index % data.known.pages;
    const send = () => panel.page(data, place * limit, limit);
    measure('page', send, (response) => judgePage(panel, response, data.known, place, send));
  },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
