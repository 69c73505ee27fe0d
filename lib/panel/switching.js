/**
 * Switches users from one status to the other. Each virtual user has its own users, so that every request changes a status:
 * disabling a disabled user would cost less. If time ends the run, users that are all done are switched back, as a separate
 * operation.
 */
import exec from 'k6/execution';
import { envCount, mostVus } from '../profiles.js';
import { namesOf } from './scenario.js';
import { singleRequests } from './single-scenario.js';

const LEAST_USERS = 500;

/** @typedef {'active' | 'disabled'} Status */

/** @param {Status} status */
const verbOf = (status) => (status === 'active' ? 'enable' : 'disable');

/**
 * The scenario's spec for panelScenario().
 * @param {string} name of the scenario
 * @param {Status} to
 */
export function switching(name, to) {
  const from = to === 'active' ? 'disabled' : 'active';
  const common = singleRequests(name, { smoke: 100, quick: 500 }, ({ iterations }) => ({
    [verbOf(to)]: `PUT status ${to}`,
    // With a fixed number of iterations there is one user per iteration.
    ...(iterations ? {} : { [verbOf(from)]: `PUT status ${from}, on the way back` }),
  }));
  const { load } = common;
  const vus = mostVus(load);
  const usersEach = load.iterationsEach ?? Math.ceil(envCount('USERS', LEAST_USERS) / vus);
  const nameOf = namesOf(verbOf(to));
  /** Statuses of this virtual user's users. @type {Status[]} */
  const statuses = Array.from({ length: usersEach }, () => from);
  /** @type {Status} */
  let wanted = to;
  let next = 0;

  /** Index of the next user without the wanted status; -1 if all have it. @returns {number} */
  function nextUser() {
    const order = statuses.map((_, index) => (next + index) % usersEach);
    return order.find((index) => statuses[index] !== wanted) ?? -1;
  }

  return {
    ...common,
    name,
    title: `SWITCH ${from} -> ${to}`,
    tried: verbOf(to),
    parameters: { users: vus * usersEach },

    /** @param {import('./panel.js').Panel} panel @param {import('./panel.js').Session & { runId: string }} session */
    prepare(panel, session) {
      const names = Array.from({ length: vus * usersEach }, (_, index) => nameOf(session.runId, index));
      panel.createAll(session, names);
      if (from === 'disabled') panel.disableAll(session, names);
    },

    /** @param {import('./scenario.js').Turn} turn */
    iterate({ panel, data, measure }) {
      if (nextUser() < 0) wanted = wanted === to ? from : to;
      const index = nextUser();
      const status = wanted;
      next = index + 1;
      const user = nameOf(data.runId, ((exec.vu.idInTest - 1) % vus) * usersEach + index);
      const switched = measure(
        verbOf(status),
        () => panel.setStatus(data, user, status),
        panel.holds('status', status),
      );
      if (switched) statuses[index] = status;
    },
  };
}
