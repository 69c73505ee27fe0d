/** A proxy with a number of routing rules, which this scenario starts and reloads itself: the testbed `rules`. */
import { ask, tryAsk } from '../meter.js';
import { Controlled, START_MOST_MS } from './controlled.js';

/** Engines whose configuration the testbed writes. */
const ENGINES = ['sing-box', 'xray'];
/** Variables of the run's own testbed that hold for the proxies of this scenario, too. */
const SAME = ['binary', 'gomaxprocs', 'gogc'];

/**
 * @typedef {Record<string, string | number | boolean>} Variables of the testbed
 * @typedef {{ base: Variables }} Prepared
 * @typedef {import('../dataplane/scenario.js').Plane<Prepared>} Plane
 */

/**
 * The testbed's variables for the engine of the run's own testbed.
 * @param {import('../sidecar.js').Instance | null} own @returns {Variables | string} a text is a refusal
 */
export function engineOf(own) {
  const engine = own?.variables.engine ?? own?.testbed ?? '';
  if (!own || !ENGINES.includes(String(engine)))
    return `footprint/start writes rules for ${ENGINES.join(' and ')} only: choose TESTBED=sing-box, xray or rules, each with binary= for another program`;
  const { auth, tls } = own.variables;
  if (auth || tls)
    return 'footprint/start takes SOCKS without a login and without TLS: leave out auth and tls';
  const same = SAME.filter((name) => name in own.variables).map((name) => [name, own.variables[name]]);
  return { engine, ...Object.fromEntries(same) };
}

export class RulesProxy extends Controlled {
  /** @param {Plane} plane @param {number} rules @param {'start' | 'reload'} control @param {string} logName */
  constructor(plane, rules, control, logName) {
    const variables = { ...plane.data.base, rules, control, cpus: plane.environment.placement.system_cpus };
    const body = { log_name: logName, variables };
    const instance = ask('POST', '/testbeds/rules/start', body, START_MOST_MS + 30_000);
    const { FOOTPRINT_URL: url, FOOTPRINT_CONTROL: at } = instance.outputs;
    super(plane, instance, {
      address: url.replace('socks5://', ''),
      control: at,
      log: `${logName}/proxy.log`,
    });
  }

  end() {
    tryAsk('DELETE', `/instances/${this.instance.id}`);
  }
}
