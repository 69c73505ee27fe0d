/** The parts of `footprint/leak` for a relay or a panel: k6 itself sends the requests, and opens the WebSockets. */
import { ownData, ownScenario } from '../execution.js';
import { equalRounds, roundsLoad } from '../dataplane/load.js';
import { timed } from '../requests.js';
import { defineScenario } from '../scenario.js';
import { measureLeak } from './leak.js';

/** @typedef {import('./leak.js').Work} Work */
/** @typedef {Work & { title: string, latencyIs: string }} ClientWork */

const OF_A_REQUEST = 'from the first byte sent to the last byte received';

/**
 * @param {import('./clients.js').Client} client
 * @param {{ requests: number, subscribers: number }} each work of a cycle
 * @returns {ClientWork[]}
 */
export const clientWorksOf = ({ reads, subscribe }, { requests, subscribers }) => [
  {
    name: 'requests',
    operation: 'request',
    title: `${reads}, each on a connection of its own`,
    latencyIs: OF_A_REQUEST,
    unit: 'request',
    of: 1,
    each: requests,
  },
  {
    name: 'kept',
    operation: 'kept_request',
    title: `${reads}, on a kept connection`,
    latencyIs: OF_A_REQUEST,
    unit: 'kept request',
    of: 1,
    each: requests,
  },
  ...(subscribe
    ? [
        {
          name: 'subscribers',
          operation: 'subscriber',
          title: 'Connect, subscribe, close',
          latencyIs: 'from dialling to the frame that confirms the subscription',
          unit: 'subscriber',
          of: 1,
          each: subscribers,
        },
      ]
    : []),
];

/**
 * @param {import('./clients.js').Client} client
 * @param {{ works: ClientWork[], times: import('./leak.js').Times, title: string, prepare: () => object, facts: import('../scenario.js').Definition['facts'],
 *   more: import('../scenario.js').Definition['more'] }} about
 */
export function clientLeak(client, { works, times, title, prepare, facts, more }) {
  const scenario = defineScenario({
    system: 'footprint',
    environment: client.environment,
    name: 'leak',
    title,
    load: roundsLoad(equalRounds(works.length)),
    parameters: {
      cycles: times.cycles,
      ...Object.fromEntries(works.map(({ name, each }) => [name, each])),
    },
    operations: Object.fromEntries(
      works.map(({ operation, title: of, latencyIs, each }) => [
        operation,
        { title: of, latencyIs, least: times.cycles * each },
      ]),
    ),
    facts,
    more,
  });
  /** Subscribers so far, of this VU, the only one. */
  let subscribed = 0;

  /** Connects, subscribes and closes. @param {any} data @param {import('../operations.js').Operation | null} operation null: warm-up */
  async function subscribe(data, operation) {
    operation?.begin();
    const subscriber = /** @type {NonNullable<typeof client.subscribe>} */ (client.subscribe)(
      data,
      subscribed,
    );
    subscribed += 1;
    const { startedAt, endedAt, failure, detail } = await subscriber.outcome;
    operation?.ended(failure, startedAt, endedAt, detail);
    await subscriber.close();
  }

  return {
    options: scenario.options,
    setup: () => scenario.begin(() => ({ ...prepare(), ...client.open(scenario.runId()) })),

    /** @param {any} given */
    async round(given) {
      const data = ownData(given);
      scenario.round(data);
      const work = works[ownScenario().iterationInTest];
      const operation = scenario.operation(work.operation);
      const send = () => client.read(data, work.name === 'requests');
      await measureLeak(data.window, work, times, async (recorded) => {
        for (let done = 0; done < work.each; done++) {
          if (work.name === 'subscribers') await subscribe(data, recorded ? operation : null);
          else if (recorded) timed(operation, null, send);
          else send();
        }
      });
    },

    /** @param {any} data */
    teardown: (data) => scenario.end(data, () => client.close(data)),
    handleSummary: scenario.summary,
  };
}
