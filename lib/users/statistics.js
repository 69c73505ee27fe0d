/** Reads the bytes of each user from a server's statistics: xray's StatsService, or sing-box's, which is V2Ray's. */
import { StatusOK } from 'k6/net/grpc';
import { clientOf } from './grpc.js';

/** @typedef {import('./charges.js').Charged} Charged */

const SERVICES = {
  xray: 'xray.app.stats.command.StatsService',
  'sing-box': 'v2ray.core.app.stats.command.StatsService',
};
/** Before a user's name, and between it and the way. */
const NAME = /^user>>>(.+)>>>traffic>>>(uplink|downlink)$/;
const TIMEOUT = '2s';

/** Create it in the init phase. */
export class Statistics {
  constructor() {
    this.client = clientOf('stats.proto', 'stats-sing-box.proto');
    this.method = '';
  }

  /** @param {string} address HOST:PORT @param {string} engine */
  connect(address, engine) {
    this.client.close();
    this.client.connect(address, { plaintext: true, timeout: TIMEOUT });
    this.method = `${SERVICES[/** @type {keyof typeof SERVICES} */ (engine)]}/QueryStats`;
  }

  /** The bytes of each user since the start of the server, by name. @returns {Map<string, Charged> | null} null: no answer */
  read() {
    const { status, message } = this.client.invoke(
      this.method,
      { pattern: 'user>>>', reset: false },
      { timeout: TIMEOUT },
    );
    if (status !== StatusOK) return null;
    /** @type {Map<string, { up: number, down: number }>} */
    const found = new Map();
    for (const { name, value } of /** @type {any} */ (message).stat ?? []) {
      const [, user, way] = NAME.exec(name) ?? [];
      if (!user) continue;
      const ways = found.get(user) ?? { up: 0, down: 0 };
      // An int64 is a text in JSON.
      ways[way === 'uplink' ? 'up' : 'down'] += Number(value ?? 0);
      found.set(user, ways);
    }
    return found;
  }
}
