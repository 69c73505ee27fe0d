/**
 * What happens to users who talk while a proxy's own API adds and removes others?
 *
 * quick: 50 flows of users whom nobody touches stay open. After 10 s in quiet xray's HandlerService adds and removes other users, 8 a
 * second for 40 s, in an open loop. Each change is tried at the inbound until it takes effect. panel/users-live does it with a panel.
 */
import crypto from 'k6/crypto';
import { now } from '../../lib/clock.js';
import { systemEntry } from '../../lib/environment.js';
import { ownData, ownScenario, stop } from '../../lib/execution.js';
import { tellLeft } from '../../lib/leftovers.js';
import { loadParameters } from '../../lib/loops.js';
import { defineScenario } from '../../lib/scenario.js';
import { Handler, inboundAt } from '../../lib/users/handler.js';
import { LivePlan, liveLoad, liveParameters, liveSizes } from '../../lib/users/live-plan.js';
import { LiveShown } from '../../lib/users/live-shown.js';
import { Live, knownUser } from '../../lib/users/live.js';
import { keyOf } from '../../lib/users/testbed.js';

const URL = /^(vless|trojan|shadowsocks):\/\/([^/?#@\s]+:\d+)$/;

const environment = systemEntry('users', URL, 'the URL of an inbound, such as vless://127.0.0.1:443');
const [, protocol, address] = URL.exec(environment.url) ?? [];
const sizes = liveSizes('users/live');
const plan = new LivePlan(sizes, ['create', 'delete'], (runId, index) => `${runId}-${index}`);
const live = new Live(plan);
const shown = new LiveShown(plan);
const api = __ENV.USERS_API ?? '';
const handler = new Handler(api, protocol);
const load = liveLoad(sizes);

const scenario = defineScenario({
  system: 'users',
  environment,
  name: 'live',
  title: 'Users change by the API of the proxy while others talk',
  load,
  parameters: { ...loadParameters(load), ...liveParameters(sizes) },
  operations: shown.operations(),
  notes: [
    'the API of xray knows no disabled user: to remove a user is to disable it, and to add it again is to enable it',
  ],
  leftovers: (runId) => `users whose names begin with ${runId}`,
  facts: () => shown.facts(),
  remarks: () => shown.notes(),
  more: () => ({ sections: shown.sections() }),
});

export const { options } = scenario;

/** Draws a new key. @param {string} name @returns {import('../../lib/users/live-tries.js').User} */
function newUser(name) {
  const digits = crypto.sha256(crypto.randomBytes(16), 'hex').slice(0, 32);
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return { name, key: protocol === 'vless' ? uuid : digits };
}

export const setup = () =>
  scenario.begin(() => {
    if (!api) stop('users/live: set USERS_API to HOST:PORT of xray’s API, or run it by `make`');
    live.check();
    const runId = scenario.runId();
    const from = [...plan.kept(runId), ...plan.of(runId, 'delete')].map(newUser);
    handler.connect();
    for (const user of from) {
      const fault = handler.add(user);
      if (!fault) continue;
      // k6 runs no teardown() if setup() fails.
      handler.removeAll(from.map(({ name }) => name));
      stop(`users/live: the API at ${api} does not add a user: ${fault.status}: ${fault.text}`);
    }
    const created = plan.of(runId, 'create').map(newUser);
    // xray's list has the users in the order in which they came.
    const first = __ENV.USERS_SEED ? keyOf(__ENV.USERS_SEED, 'user-0') : undefined;
    return live.prepare(runId, inboundAt(protocol, address), [...from, ...created], first);
  });

/** Keeps the flows open. @param {any} given */
export default (given) => live.follow(ownData(given));

/** One change. @param {any} given */
export function openLoop(given) {
  const intended = scenario.intended();
  const data = ownData(given);
  live.change(data, ownScenario().iterationInTest, (kind, name, timed) => {
    const operation = scenario.operation(`${kind}_open`);
    operation.begin();
    operation.late(now() - intended.at);
    const send = () => (kind === 'create' ? handler.add(knownUser(name)) : handler.remove(name));
    const fault = handler.reach() ?? timed(send);
    operation.ended(fault?.kind, intended.at, now(), fault?.status);
    return fault === null;
  });
}

/** @param {any} given */
export function teardown(given) {
  const data = ownData(given);
  scenario.end(data, () => {
    live.settle(data);
    tellLeft('users', data.runId, 'users of the run', handler.removeAll(plan.all(data.runId)));
  });
}

export const handleSummary = scenario.summary;
