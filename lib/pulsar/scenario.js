/** The common parts of the relay's scenarios: setup() signs in and makes the topics, and teardown() removes them. */
import { loadSystem } from '../environment.js';
import { defineScenario } from '../scenario.js';
import { Relay, topicNames } from './relay.js';

/** @param {Omit<import('../scenario.js').Definition, 'system' | 'environment'> & { topics: number }} spec `topics`: how many */
export function relayScenario({ topics, ...definition }) {
  const environment = loadSystem('pulsar');
  const scenario = defineScenario({ system: 'pulsar', environment, ...definition });
  const relay = new Relay(environment);
  return {
    scenario,
    relay,
    options: scenario.options,
    setup: () => scenario.begin(() => relay.open(topicNames(scenario.runId(), definition.name, topics))),
    /** @param {import('./relay.js').Data} data */
    teardown: (data) => scenario.end(data, () => relay.close(data)),
    handleSummary: scenario.summary,
  };
}
