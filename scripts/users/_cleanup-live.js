/**
 * Removes the users that a run (RUN_ID) of users/live left on an xray that stays up: its set-up was interrupted, so that k6 ran no
 * teardown, or the API did not answer. It is no scenario. `k6 x bench` runs it after an interrupted set-up.
 */
import { Handler } from '../../lib/users/handler.js';

const { RUN_ID: runId, USERS_API: api } = __ENV;
const handler = new Handler(api ?? '', '');

export const options = { setupTimeout: '600s' };

/** The run's users. Another run's id may begin with this one's. */
const own = () =>
  handler
    .names()
    .filter((name) => name.startsWith(`${runId}-`) && /^\d+$/.test(name.slice(runId.length + 1)));

export function setup() {
  if (!runId) throw 'RUN_ID is not set: it must hold the id of the run that left something';
  if (!api) throw 'USERS_API is not set: it must hold HOST:PORT of xray’s API';
  handler.connect();
  handler.removeAll(own());
  const left = own().length;
  if (left > 0) throw `users: ${left} users of run ${runId} could not be removed`;
}

export default function nothing() {}

export const handleSummary = () => ({});
