/**
 * How does the panel do under all kinds of requests at once?
 *
 * quick: 2,000 requests, 50 clients (smoke: 400). The ratio is MIX: of 100 requests, 40 read a user,
 * 10 list, 10 read the system's figures, 15 create, 20 switch a user's status and 5 delete
 * one. Each client has its own part of the sequence, so that the ratio of all is exact and a client
 * has users to delete: where MIX deletes more than it creates, one who runs out creates instead. From
 * full on also in an open loop, at a fixed RATE.
 */
import exec from 'k6/execution';
import { loopOperations } from '../../lib/loops.js';
import { parseMix, patternOf } from '../../lib/panel/mix.js';
import { fieldOf } from '../../lib/panel/panel.js';
import { namesOf, panelScenario } from '../../lib/panel/scenario.js';
import { envCount, mostVus, requestLoad } from '../../lib/profiles.js';
import { defaultNumber } from '../../lib/variables.js';

const base = { clients: 50, smoke: 400, quick: 2000, rate: defaultNumber('RATE', 'panel/mixed') };
const load = requestLoad(base, 'REQUESTS');
const kinds = { read: 40, list: 10, system: 10, create: 15, switch: 20, delete: 5 };
const mix = parseMix(__ENV.MIX, kinds);
if (mix.delete > mix.create) throw `MIX=${__ENV.MIX}: at most as many deletes as creates`;
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

const LEAST_FOR_P95 = 20;

/** How many of all requests are of an operation; of the switches, half go each way. @param {string} name */
function shareOf(name) {
  const switches = name === 'disable' || name === 'enable';
  const weight = switches ? mix.switch / 2 : mix[/** @type {keyof typeof kinds} */ (name)];
  return weight / pattern.length;
}

const operations = Object.assign(
  {},
  ...Object.entries(TITLES)
    .filter(([name]) => shareOf(name) > 0)
    .map(([name, title]) => {
      const few = load.iterations && Math.floor(load.iterations * shareOf(name)) < LEAST_FOR_P95;
      return loopOperations(load, name, { title, least: 1, bounds: few ? {} : { 'p(95)': 5000 } });
    }),
);

/** @typedef {'active' | 'disabled'} Status */
/** @typedef {import('../../lib/panel/scenario.js').Turn} Turn */

/** This virtual user's own users, the one that waited longest first. @type {{ name: string, status: Status }[]} */
let own;
/** What it switches a user to next: one way and the other in turn, since they cost differently. @type {Status} */
let next;
let turns = 0;

/** Every second one is disabled before the load. @param {number} index */
const startsDisabled = (index) => index % 2 === 1;

/** @param {number} client @param {string} runId @returns {typeof own} */
const firstUsers = (client, runId) =>
  Array.from({ length: OWN_USERS }, (_, index) => ({
    name: nameOf(runId, (client % vus) * OWN_USERS + index),
    status: startsDisabled(index) ? 'disabled' : 'active',
  }));

/** Of the sequence, where a client is: no two are at the same kind for long. @param {number} client */
function position(client) {
  const each = load.iterationsEach;
  return each ? client * each + ((turns + client) % each) : turns + client;
}

/** Takes a user whom a switch to this status changes, if there is one. @param {Status} status */
function takeUser(status) {
  const index = own.findIndex((user) => user.status !== status);
  return own.splice(Math.max(0, index), 1)[0];
}

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
    const user = takeUser(next);
    const status = user.status === 'active' ? 'disabled' : 'active';
    next = user.status;
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
    const deleted = turn.measure('delete', () => turn.panel.remove(turn.data, user.name, user.status));
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
    const names = Array.from({ length: vus * OWN_USERS }, (_, index) => nameOf(session.runId, index));
    panel.createAll(session, names);
    panel.disableAll(
      session,
      names.filter((_, index) => startsDisabled(index)),
    );
  },
  iterate(turn) {
    const client = exec.vu.idInTest - 1;
    own ??= firstUsers(client, turn.data.runId);
    // Half of the clients begin with a user to disable.
    next ??= client % 2 === 0 ? 'disabled' : 'active';
    const kind = pattern[position(client) % pattern.length];
    turns += 1;
    requests[kind](turn);
  },
});

export const { options, setup, teardown, handleSummary, openLoop } = script;
export default script.closedLoop;
