/** The relay or panel whose requests and WebSocket subscribers `footprint/leak` repeats. */
import http from 'k6/http';
import { loadSystem } from '../environment.js';
import { loadPanel } from '../panel/environment.js';
import { Panel } from '../panel/panel.js';
import { Relay, topicNames } from '../pulsar/relay.js';
import { Subscriber } from '../pulsar/subscriber.js';

/** @typedef {import('../requests.js').Response} Response */

/**
 * @typedef {object} Client
 * @property {import('../environment.js').SystemEnvironment | import('../panel/environment.js').PanelEnvironment} environment
 * @property {string} reads its request, in words
 * @property {(runId: string) => object} open in setup()
 * @property {(data: any) => void} close in teardown()
 * @property {(data: any, own: boolean) => Response} read sends the request, on the kept connection or on its own
 * @property {((data: any, index: number) => Subscriber) | null} subscribe null: the system has no subscribers
 */

/** Parameters of a request with its own connection. @template {{ headers: object }} P @param {P} params @returns {P} */
const alone = (params) => ({ ...params, headers: { ...params.headers, Connection: 'close' } });

/** @returns {Client} */
function relayClient() {
  const relay = new Relay(loadSystem('pulsar'));
  const { environment, url } = relay;
  const path = environment.topics === 'managed' ? '/api/v1/topics' : '/health';
  return {
    environment,
    reads: `GET ${path}`,
    open: (runId) => relay.open(topicNames(runId, 'leak', 1)),
    close: (data) => relay.close(data),
    read: ({ session }, own) =>
      relay.login.request(session, (token) => {
        const { none } = relay.load(token);
        return http.get(url + path, own ? alone(none) : none);
      }),
    subscribe: ({ session, topics }, index) =>
      new Subscriber(environment, relay.current(session), `leak-${index}`, topics),
  };
}

/** @returns {Client} */
function panelClient() {
  const panel = new Panel(loadPanel());
  return {
    environment: panel.environment,
    reads: 'GET 1 user',
    open: (runId) => ({ token: panel.signIn(), runId }),
    close: () => {},
    read: (data, own) => {
      const address = panel.url('list', { offset: 0, limit: 1 });
      return panel.request(data, 'list', (params) => http.get(address, own ? alone(params) : params));
    },
    subscribe: null,
  };
}

/** The client of the testbed; null: the testbed is a SOCKS5 proxy. @returns {Client | null} */
export function clientOf() {
  const url = __ENV.FOOTPRINT_URL ?? '';
  if (!/^https?:/.test(url)) return null;
  return url === __ENV.PULSAR_URL ? relayClient() : panelClient();
}
