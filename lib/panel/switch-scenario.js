/**
 * Users are switched from one status to the other. Each virtual user has users of its own, so that
 * every request changes something: one that is disabled already would cost less. Where time bounds
 * the run, users that are all through are switched back, as an operation of its own.
 */
import exec from 'k6/execution';
import { envCount } from '../profiles.js';
import { fieldOf } from './panel.js';
import { mostVus, namesOf, panelScenario } from './scenario.js';
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
  const common = singleRequests({ smoke: 100, quick: 500, rate: 20 }, ({ iterations }) => ({
    [verbOf(to)]: `PUT status ${to}`,
    // A fixed number of iterations is one for each user.
    ...(iterations ? {} : { [verbOf(from)]: `PUT status ${from}, on the way back` }),
  }));
  const { load } = common;
  const vus = mostVus(load);
  const usersEach = load.iterationsEach ?? Math.ceil(envCount('USERS', LEAST_USERS) / vus);
  const nameOf = namesOf(verbOf(to));
  let turns = 0;

  return panelScenario({
    ...common,
    name,
    title,
    parameters: { users: vus * usersEach },

    prepare(panel, session) {
      const names = Array.from({ length: vus * usersEach }, (_, index) => nameOf(session.runId, index));
      panel.createAll(session, names);
      if (from === 'disabled') panel.disableAll(session, names);
      return {};
    },

    iterate({ panel, data, measure }) {
      const own = ((exec.vu.idInTest - 1) % vus) * usersEach;
      const back = Math.floor(turns / usersEach) % 2 === 1;
      const user = nameOf(data.runId, own + (turns % usersEach));
      const status = back ? from : to;
      turns += 1;
      measure(
        verbOf(status),
        () => panel.setStatus(data, user, status),
        (response) => (fieldOf(response, 'status') === status ? 1 : null),
      );
    },
  });
}
