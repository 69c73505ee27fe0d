/** Names of a run: its id, its tags and its files. */
import exec from 'k6/execution';
import { pathOf } from './file.js';
import { currentProfile } from './profiles.js';

const newId = () => `local-${Date.now().toString(36)}`;

/**
 * In setup(): the run's id, from RUN_ID or options.tags. A --tag of the command line replaces options.tags; then the id is new.
 * @returns {string}
 */
export const idOfRun = () => __ENV.RUN_ID || exec.test.options.tags?.testid || newId();

/** The tags of all samples of a run. @param {{ system: string, name: string }} definition */
export const tagsOf = ({ system, name }) => ({
  testid: __ENV.RUN_ID || newId(),
  system,
  scenario: name,
  profile: currentProfile(),
});

/** The path of a run's files, without an extension. @param {string} runId @param {{ system: string, name: string }} definition */
export function filesOf(runId, definition) {
  const name = `${definition.system}-${definition.name}`;
  if (__ENV.RESULT_DIR) return `${__ENV.RESULT_DIR}/${name}`;
  return pathOf(import.meta.resolve(`../results/${runId}-${name}`));
}

/**
 * k6's scenarios. A k6 scenario that runs only one operation tags its samples with the operation.
 * @param {import('./scenario.js').Definition} definition
 * @returns {Record<string, import('k6/options').Scenario>}
 */
export function tagScenarios({ load, operations }) {
  const owners = Object.fromEntries(Object.entries(operations).map(([name, { owns }]) => [owns, name]));
  const tagged = Object.entries(load.scenarios).map(([name, k6Scenario]) => [
    name,
    owners[name] ? { ...k6Scenario, tags: { operation: owners[name] } } : k6Scenario,
  ]);
  return Object.fromEntries(tagged);
}
