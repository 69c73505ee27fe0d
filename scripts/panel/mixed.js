/**
 * How does the panel do under all kinds of requests at once?
 *
 * quick: 2,000 requests, 50 clients. The ratio is MIX: of 100 requests, 40 read a user,
 * 10 list, 10 read the system's figures, 15 create, 20 switch a user's status and 5 delete
 * one. The n-th request has its kind by n, so the ratio is exact. From full on also in an
 * open loop, at a fixed RATE.
 * Variables: REQUESTS, MIX, CLIENTS, RATE, DURATION, EXISTING.
 */
import exec from 'k6/execution';
import { loopOperations } from '../../lib/loops.js';
import { parseMix, patternOf } from '../../lib/panel/mix.js';
import { fieldOf } from '../../lib/panel/panel.js';
import { mostVus, namesOf, panelScenario } from '../../lib/panel/scenario.js';
import { envCount, requestLoad } from '../../lib/profiles.js';

const base = { clients: 50, smoke: 200, quick: 2000, rate: 40 };
const load = requestLoad(base, 'REQUESTS');
const kinds = { read: 40, list: 10, system: 10, create: 15, switch: 20, delete: 5 };
const mix = parseMix(__ENV.MIX, kinds);
const pattern = patternOf(mix);
const vus = mostVus(load);
const nameOf = namesOf('mixed');
const OWN_USERS = 4;

const TITLES = {
  read: 'GET a user',
  list: 'GET 20 users',
  system: 'GET the system',
  create: 'POST a user',
  disable: 'PUT status disabled',
  enable: 'PUT status active',
  delete: 'DELETE a user',
};

/** A kind that the ratio leaves out has no row. @param {string} name */
const used = (name) =>
  (mix[/** @type {keyof typeof kinds} */ (name)] ?? (['disable', 'enable'].includes(name) ? mix.switch : 0)) >
  0;

const operations = Object.assign(
  {},
  ...Object.entries(TITLES)
    .filter(([name]) => used(name))
    .map(([name, title]) => loopOperations(load, name, { title, least: 1, bounds: { 'p(95)': 5000 } })),
);

/** This virtual user's own users, the one that waited longest first. @type {{ name: string, status: 'active' | 'disabled' }[]} */
let own;

/** @typedef {import('../../lib/panel/scenario.js').Turn} Turn */

/** @param {string} runId @returns {typeof own} */
const firstUsers = (runId) =>
  Array.from({ length: OWN_USERS }, (_, index) => ({
    name: nameOf(runId, ((exec.vu.idInTest - 1) % vus) * OWN_USERS + index),
    status: 'active',
  }));

/** @type {Record<string, (turn: Turn) => void>} */
const requests = {
  read: ({ panel, data, measure }) => measure('read', () => panel.read(data, own[0].name)),
  list: ({ panel, data, measure }) => measure('list', () => panel.page(data, 0, 20)),
  system: ({ panel, data, measure }) => measure('system', () => panel.system(data)),
  create: ({ panel, data, unique, measure }) => {
    const name = nameOf(data.runId, vus * OWN_USERS + unique);
    if (measure('create', () => panel.create(data, name))) own.push({ name, status: 'active' });
  },
  switch: ({ panel, data, measure }) => {
    const user = /** @type {typeof own[0]} */ (own.shift());
    const status = user.status === 'active' ? 'disabled' : 'active';
    const verb = status === 'active' ? 'enable' : 'disable';
    const switched = measure(
      verb,
      () => panel.setStatus(data, user.name, status),
      (response) => (fieldOf(response, 'status') === status ? 1 : null),
    );
    own.push({ ...user, status: switched ? status : user.status });
  },
  delete: (turn) => {
    // The last one stays, for the other kinds; then there is one more to create.
    if (own.length === 1) {
      requests.create(turn);
      return;
    }
    const user = /** @type {typeof own[0]} */ (own.shift());
    const deleted = turn.measure('delete', () => turn.panel.remove(turn.data, user.name));
    if (!deleted) own.push(user);
  },
};

const script = panelScenario({
  name: 'mixed',
  title: 'Mixed requests',
  load,
  clients: envCount('CLIENTS', base.clients),
  parameters: {
    mix: Object.entries(mix)
      .map(([kind, weight]) => `${kind}:${weight}`)
      .join(','),
  },
  operations,
  prepare(panel, session) {
    panel.createAll(
      session,
      Array.from({ length: vus * OWN_USERS }, (_, index) => nameOf(session.runId, index)),
    );
    return {};
  },
  iterate(turn) {
    own ??= firstUsers(turn.data.runId);
    requests[pattern[turn.index % pattern.length]](turn);
  },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
