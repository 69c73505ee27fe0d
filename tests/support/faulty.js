/** Runs a test's body against a relay or a panel of known faults. */
import assert from 'node:assert/strict';
import { startPanel } from '../fakes/panel.js';
import { startRelay } from '../fakes/relay.js';
import { timely } from './timely.js';

/**
 * @param {import('../fakes/relay.js').Faults} faults
 * @param {(relay: import('../fakes/relay.js').FakeRelay) => Promise<void>} body
 */
export async function withRelay(faults, body) {
  const relay = await startRelay(faults);
  try {
    await body(relay);
  } finally {
    await relay.stop();
  }
}

/**
 * @param {import('../fakes/panel.js').Faults} faults
 * @param {(panel: import('../fakes/panel.js').FakePanel) => Promise<void>} body
 */
export async function withPanel(faults, body) {
  const panel = await startPanel(faults);
  try {
    await body(panel);
    assert.deepEqual(panel.truth.mistakes, [], 'every request is one that Marzban takes');
    assert.deepEqual(panel.truth.violations, [], 'users of others are left alone');
  } finally {
    await panel.stop();
  }
}

/** @param {number[]} values */
export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Checks a time: a test that is `undisturbed` tries again. @param {number} value @param {number} truth @param {number} share */
export function within(value, truth, share) {
  timely(Math.abs(value - truth) <= truth * share, `${value} is not within ${share * 100} % of ${truth}`);
}
