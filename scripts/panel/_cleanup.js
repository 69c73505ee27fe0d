/**
 * Removes the users of a run (RUN_ID) whose set-up was cut short: k6 runs no teardown
 * then. No scenario; `k6 x bench` runs it by itself.
 */
import { loadPanel } from '../../lib/panel/environment.js';
import { removeExisting } from '../../lib/panel/existing.js';
import { Panel } from '../../lib/panel/panel.js';

const panel = new Panel(loadPanel());

export const options = { setupTimeout: '1800s', ...panel.environment.connection.options };

export function setup() {
  const session = { token: panel.signIn(), runId: __ENV.RUN_ID };
  const seeded = panel.environment.database ? removeExisting(panel, session) : 0;
  const made = panel.removeRun(session);
  if (seeded !== 0 || made !== 0) throw `users of run ${__ENV.RUN_ID} could not be removed`;
}

export default function nothing() {}

export const handleSummary = () => ({});
