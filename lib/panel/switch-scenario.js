/**
 * Users are switched from one status to the other. Each virtual user has users of its own, so that
 * every request changes something: one that is disabled already would cost less. Where time bounds
 * the run, users that are all through are switched back, as an operation of its own.
 */
import exec from 'k6/execution';
import { envCount, mostVus } from '../profiles.js';
import { fieldOf } from './panel.js';
import { namesOf, panelScenario } from './scenario.js';
import { singleRequests } from './single-scenario.js';

const LEAST_USERS = 500;

/** @typedef {'active' | 'disabled'} Status */

/** @param {Status} status */
const verbOf = (status) => (status === 'active' ? 'enable' : 'disable');

/**
 * @param {{ name: string, title: string, to: Status }} spec
 */
export function switchScenario({ name, title, to }) {
  const from = to === 'active' ? 'disabled' : 'active';
  const common = singleRequests(name, { smoke: 100, quick: 500 }, ({ iterations }) => ({
    [verbOf(to)]: `PUT status ${to}`,
    // A fixed number of iterations is one for each user.
    ...(iterations ? {} : { [verbOf(from)]: `PUT status ${from}, on the way back` }),
  }));
  const { load } = common;
  const vus = mostVus(load);
  const usersEach = load.iterationsEach ?? Math.ceil(envCount('USERS', LEAST_USERS) / vus);
  const nameOf = namesOf(verbOf(to));
  /** Of this virtual user's users. @type {Status[]} */
  const statuses = Array.from({ length: usersEach }, () => from);
  /** @type {Status} */
  let wanted = to;
  let next = 0;

  /** The next of them that does not have the status, in turn. @returns {number} -1 where all have it */
  function nextUser() {
    const order = statuses.map((_, index) => (next + index) % usersEach);
    return order.find((index) => statuses[index] !== wanted) ?? -1;
  }

  return panelScenario({
    ...common,
    name,
    title,
    parameters: { users: vus * usersEach },

    prepare(panel, session) {
      const names = Array.from({ length: vus * usersEach }, (_, index) => nameOf(session.runId, index));
      panel.createAll(session, names);
      if (from === 'disabled') panel.disableAll(session, names);
    },

    iterate({ panel, data, measure }) {
      if (nextUser() < 0) wanted = wanted === to ? from : to;
      const index = nextUser();
      const user = nameOf(data.runId, ((exec.vu.idInTest - 1) % vus) * usersEach + index);
      const status = wanted;
      const switched = measure(
        verbOf(status),
        () => panel.setStatus(data, user, status),
        (response) => (fieldOf(response, 'status') === status ? 1 : null),
      );
      if (switched) statuses[index] = status;
      next = index + 1;
    },
  });
}
