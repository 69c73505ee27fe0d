/** A link of its own, and probes from its one end to a far end at its other, past the pair that it was made for. */
import { probe } from './rows.js';

/** The sidecar: this machine or user cannot run it. */
const CANNOT = 501;
/** Nothing over a link of these tests takes so long. */
const PATIENCE = { timeout_ms: 20_000, handshake_timeout_ms: 20_000 };

/** @typedef {import('./rows.js').Sidecar} Sidecar */

export class Link {
  /** @param {Sidecar} sidecar @param {any} instance */
  constructor(sidecar, instance) {
    this.sidecar = sidecar;
    this.instance = instance;
    /** @type {Record<string, any>} far ends by their engine */
    this.far = {};
  }

  /** @param {Sidecar} sidecar @param {string} text @returns {Promise<Link | null>} null where there can be none here */
  static async start(sidecar, text) {
    const { status, body } = await sidecar.ask('POST', '/testbeds/protocols/start', {
      variables: { protocol: 'socks' },
      link: { text },
    });
    if (status === CANNOT) return null;
    if (status !== 201) throw new Error(`${text}: ${status} ${JSON.stringify(body)}`);
    return new Link(sidecar, body);
  }

  /** @param {string} items such as loss:2% */
  async set(items) {
    const { status, body } = await this.sidecar.ask('POST', `/instances/${this.instance.id}/link`, {
      set: items,
    });
    if (status !== 200) throw new Error(`${items}: ${JSON.stringify(body)}`);
  }

  /** What it has done so far. */
  async counts() {
    return (await this.sidecar.ask('GET', `/instances/${this.instance.id}/link`)).body;
  }

  /**
   * Runs a probe directly over it, and takes the samples of one series.
   * @param {any} spec
   * @param {string} [series]
   */
  async probe(spec, series = 'total') {
    const engine = spec.kind === 'flow' ? 'blocking' : 'events';
    const { id, link } = this.instance;
    this.far[engine] ??= (
      await this.sidecar.ask('POST', '/echoes', {
        host: link.far.address,
        namespace: { instance: id, name: link.far.namespace },
        engine,
      })
    ).body;
    const ended = await probe(this.sidecar, {
      target: this.far[engine][spec.kind === 'udp' ? 'udp' : 'tcp'],
      namespace: { instance: id, name: link.near.namespace },
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
