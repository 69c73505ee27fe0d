/** A separate link, and probes from one end to a far end at the other end. Probes go through the link's pair, or past the pair. */
import { entryOf } from '../../lib/protocols/way.js';
import { patientMs } from './patience.js';
import { probe } from './rows.js';

/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;
/** Each probe over a link of these tests takes less time, ms. */
const PATIENT_MS = patientMs(20_000);
const PATIENCE = { timeout_ms: PATIENT_MS, handshake_timeout_ms: PATIENT_MS };
/** The far end listens at all addresses of its end of the link. A server reaches loopback. */
const [EVERYWHERE, HOME] = ['0.0.0.0', '127.0.0.1'];

/** @typedef {import('./rows.js').Sidecar} Sidecar */

export class Link {
  /** @param {Sidecar} sidecar @param {any} instance */
  constructor(sidecar, instance) {
    this.sidecar = sidecar;
    this.instance = instance;
    /** @type {Record<string, any>} far ends by their engine */
    this.far = {};
  }

  /**
   * @param {Sidecar} sidecar
   * @param {string} text
   * @param {object} [variables] of the row with the link's pair
   * @returns {Promise<Link | null>} null if this machine cannot have a link
   */
  static async start(sidecar, text, variables = { protocol: 'socks' }) {
    const { status, body } = await sidecar.ask('POST', '/testbeds/protocols/start', {
      variables,
      link: { text },
    });
    if (status === CANNOT) return null;
    if (status !== 201) throw new Error(`${text}: ${status} ${JSON.stringify(body)}`);
    return new Link(sidecar, body);
  }

  /** @param {object} change sidecar/README.md */
  async change(change) {
    const { status, body } = await this.sidecar.ask('POST', `/instances/${this.instance.id}/link`, change);
    if (status !== 200) throw new Error(`${JSON.stringify(change)}: ${JSON.stringify(body)}`);
  }

  /** @param {string} items such as loss:2% */
  async set(items) {
    await this.change({ set: items });
  }

  /** The settings at the start. */
  async restart() {
    await this.change({ restart: true });
  }

  /** The link's counts so far. */
  async counts() {
    return (await this.sidecar.ask('GET', `/instances/${this.instance.id}/link`)).body;
  }

  /**
   * Runs a probe directly over the link, and returns the samples of one series.
   * @param {any} spec
   * @param {string} [series]
   */
  async probe(spec, series = 'total') {
    return this.taken(spec, series, { address: this.instance.link.far.address, way: {} });
  }

  /**
   * The same through the pair.
   * @param {any} spec
   * @param {string} [series]
   */
  async through(spec, series = 'total') {
    return this.taken(spec, series, {
      address: HOME,
      way: { proxy: { address: entryOf(this.instance).address } },
    });
  }

  /** The far end that a probe needs. @param {any} spec */
  async farOf({ kind }) {
    const engine = kind === 'flow' ? 'blocking' : 'events';
    const { id, link } = this.instance;
    this.far[engine] ??= (
      await this.sidecar.ask('POST', '/echoes', {
        host: EVERYWHERE,
        namespace: { instance: id, name: link.far.namespace },
        engine,
      })
    ).body;
    return this.far[engine][kind === 'udp' ? 'udp' : 'tcp'].split(':').pop();
  }

  /** @param {any} spec @param {string} series @param {{ address: string, way: object }} to */
  async taken(spec, series, { address, way }) {
    const { id, link } = this.instance;
    const ended = await probe(this.sidecar, {
      target: `${address}:${await this.farOf(spec)}`,
      namespace: { instance: id, name: link.near.namespace },
      ...way,
      ...PATIENCE,
      ...spec,
    });
    if (ended.state !== 'done') throw new Error(JSON.stringify(ended));
    const kept = ended.outcome.series.some(
      (/** @type {any} */ { name, count }) => name === series && count > 0,
    );
    const { body } = kept
      ? await this.sidecar.ask('GET', `/probes/${ended.id}/series/${series}?from=0&limit=100000`)
      : { body: { values: [], ends_unix_us: [] } };
    return {
      outcome: ended.outcome,
      values: body.values,
      ends: body.ends_unix_us.map((/** @type {number} */ us) => us / 1000),
    };
  }

  async stop() {
    await this.sidecar.ask('DELETE', `/instances/${this.instance.id}`);
  }
}
