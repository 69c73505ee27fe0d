/**
 * How does the panel perform under all kinds of requests at once?
 *
 * quick: 2,000 requests, 50 clients (smoke: 400). The ratio is MIX: of 100 requests, 40 read a user, 10 list users, 10 read the
 * system's figures, 15 create a user, 20 switch a user's status, and 5 delete a user. Each client has its own part of the
 * sequence, so that the total ratio is exact and each client has users to delete. A client with only one user left creates one
 * instead of deleting. Profiles from full on add an open loop at a fixed RATE.
 */
import exec from 'k6/execution';
import { loopOperations } from '../../lib/loops.js';
import { Sequence, parseMix, textOf } from '../../lib/panel/mix.js';
import { OwnUsers } from '../../lib/panel/own-users.js';
import { panelScenario } from '../../lib/panel/scenario.js';
import { envCount, mostVus, requestLoad } from '../../lib/profiles.js';
import { defaultNumber } from '../../lib/variables.js';

const OWN_USERS = 4;
const LEAST_FOR_P95 = 20;
const PAGE = 20;

const base = { clients: 50, smoke: 400, quick: 2000, rate: defaultNumber('RATE', 'panel/mixed') };
const load = requestLoad(base, 'REQUESTS');
const kinds = { read: 40, list: 10, system: 10, create: 15, switch: 20, delete: 5 };
const mix = parseMix(__ENV.MIX, kinds);
if (mix.delete > mix.create) throw `MIX=${__ENV.MIX}: at most as many deletes as creates`;
const sequence = new Sequence(mix, load.iterationsEach);
const users = new OwnUsers('mixed', mostVus(load), OWN_USERS);

/** How many requests of a sequence belong to each operation. Half of the switches go each way. */
const OPERATIONS = {
  read: { title: 'GET a user', count: mix.read },
  list: { title: `GET ${PAGE} users`, count: mix.list },
  system: { title: 'GET the system', count: mix.system },
  create: { title: 'POST a user', count: mix.create },
  disable: { title: 'PUT status disabled', count: mix.switch / 2 },
  enable: { title: 'PUT status active', count: mix.switch / 2 },
  delete: { title: 'DELETE a user', count: mix.delete },
};

/** @param {string} name @param {{ title: string, count: number }} operation */
function rowsOf(name, { title, count }) {
  const few = load.iterations && Math.floor(load.iterations * (count / sequence.length)) < LEAST_FOR_P95;
  return loopOperations(load, name, { title, least: 1, bounds: few ? {} : { 'p(95)': 5000 } });
}

/**
 * Judges the first page: it must be full, if there are enough users. The panel may list and count at different times, and each
 * client may create or delete one user in between.
 * @param {import('../../lib/panel/panel.js').Panel} panel
 * @param {import('../../lib/panel/panel.js').Response} response
 */
function listed(panel, response) {
  const page = panel.pageOf(response, PAGE);
  if (typeof page === 'string') return page;
  const wanted = Math.min(PAGE, page.total - mostVus(load));
  return page.names.length >= Math.max(1, wanted) ? 1 : 'fewer users than the page has';
}

/** @type {Record<string, (turn: import('../../lib/panel/scenario.js').Turn) => void>} */
const requests = {
  read: ({ panel, data, measure }) =>
    measure('read', () => panel.read(data, users.own[0].name), panel.holds('username', users.own[0].name)),
  list: ({ panel, data, measure }) =>
    measure(
      'list',
      () => panel.page(data, 0, PAGE),
      (response) => listed(panel, response),
    ),
  system: ({ panel, data, measure }) =>
    measure(
      'system',
      () => panel.system(data),
      (response) => panel.systemFault(response),
    ),
  create({ panel, data, unique, measure }) {
    const name = users.newName(data.runId, unique);
    if (measure('create', () => panel.create(data, name), panel.holds('username', name)))
      users.own.push({ name, status: 'active' });
  },
  switch({ panel, data, measure }) {
    const user = users.takeToSwitch();
    const status = user.status === 'active' ? 'disabled' : 'active';
    const switched = measure(
      status === 'active' ? 'enable' : 'disable',
      () => panel.setStatus(data, user.name, status),
      panel.holds('status', status),
    );
    users.own.push(switched ? { ...user, status } : user);
  },
  delete(turn) {
    // The client keeps its last user, which other kinds of requests need, and creates one instead.
    if (users.own.length === 1) {
      requests.create(turn);
      return;
    }
    const [user] = users.own.splice(0, 1);
    const deleted = turn.measure('delete', () => turn.panel.remove(turn.data, user.name, user.status));
    if (!deleted) users.own.push(user);
  },
};

const script = panelScenario({
  name: 'mixed',
  title: 'Mixed requests',
  load,
  clients: envCount('CLIENTS', base.clients),
  parameters: { mix: textOf(mix) },
  operations: Object.assign(
    {},
    ...Object.entries(OPERATIONS)
      .filter(([, { count }]) => count > 0)
      .map(([name, operation]) => rowsOf(name, operation)),
  ),
  prepare: (panel, session) => users.make(panel, session),
  iterate(turn) {
    const client = exec.vu.idInTest - 1;
    users.takeOver(client, turn.data.runId);
    requests[sequence.next(client)](turn);
  },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
