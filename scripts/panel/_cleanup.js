/**
 * Removes the users that a run (RUN_ID) left: its set-up was interrupted, so that k6 ran no teardown, or the panel was
 * unreachable. It is no scenario. `k6 x bench` runs it after an interrupted set-up.
 */
import { loadPanel } from '../../lib/panel/environment.js';
import { removeExisting } from '../../lib/panel/existing.js';
import { Panel } from '../../lib/panel/panel.js';

const panel = new Panel(loadPanel());

export const options = { setupTimeout: '1800s', maxRedirects: 0, ...panel.environment.connection.options };

export function setup() {
  if (!__ENV.RUN_ID) throw 'RUN_ID is not set: it must hold the id of the run that left something';
  const session = { token: panel.signIn(), runId: __ENV.RUN_ID };
  const seeded = panel.environment.stored ? removeExisting(panel, session) : 0;
  const left = panel.removeRun(session);
  if (left === null) throw `${panel.unread}: users of run ${__ENV.RUN_ID} may be left`;
  if (seeded === null || seeded + left > 0)
    throw `panel: ${seeded === null ? 'seeded users' : `${seeded + left} users`} of run ${__ENV.RUN_ID} could not be removed`;
}

export default function nothing() {}

export const handleSummary = () => ({});
