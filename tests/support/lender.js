/**
 * Lends systems to test files: one sidecar, and one of each system, serve all files of a run. A system has one borrower at a time. The
 * lender checks the system before and after each loan. It replaces a system that died or that has something left.
 */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from './k6.js';
import { isAlive, processOf } from './processes.js';
import { startSidecar } from './sidecar.js';
import { leftOn } from './traces.js';

/**
 * @typedef {[name: string, variables?: Record<string, unknown>]} Wanted a testbed
 * @typedef {object} Trade how the lender gets systems
 * @property {(name: string, variables: object) => Promise<any>} start an instance, as the sidecar answers it
 * @property {(instance: any) => Promise<void>} end
 * @property {(name: string, instance: any) => Promise<string[]>} left what a borrower left there
 * @property {() => Promise<void>} stop ends all
 */

/** Variables of each testbed, as in environments/local.json. @type {Record<string, object>} */
const VARIABLES = { 'pulsar-relay': { rate_limit: false }, panel: { driver: 'sqlite' }, 'sing-box-pair': {} };

/** Systems of one sidecar, which the first loan starts. @param {string} logs @returns {Trade} */
function ofSidecar(logs) {
  /** @type {Promise<Awaited<ReturnType<typeof startSidecar>>> | undefined} */
  let sidecar;
  const running = async () => {
    if (!sidecar || (await sidecar).hasEnded()) {
      sidecar = startSidecar(logs);
      (await sidecar).unref();
    }
    return sidecar;
  };
  return {
    start: async (name, variables) => (await running()).start(name, variables),
    end: async ({ id }) => void (await (await running()).ask('DELETE', `/instances/${id}`)),
    left: leftOn,
    stop: async () => {
      const last = sidecar;
      sidecar = undefined;
      await (await last)?.stop();
    },
  };
}

/** One system, which is started for the first loan. */
class System {
  /** @type {{ instance: any, processes: (import('./processes.js').Process & { name: string })[] } | undefined} */
  #up;
  /** Resolves when the last borrower in the queue has given it back. @type {Promise<void>} */
  #last = Promise.resolve();

  /** @param {Trade} trade @param {string} name @param {object} variables */
  constructor(trade, name, variables) {
    this.trade = trade;
    this.name = name;
    this.variables = variables;
  }

  /** Waits for the borrowers before. @returns {Promise<() => void>} ends the turn */
  async turn() {
    const before = this.#last;
    let end = () => {};
    this.#last = new Promise((resolve) => (end = resolve));
    await before;
    return end;
  }

  /** A clean system. */
  async ready() {
    if ((await this.left()).length > 0) await this.end();
    if (!this.#up) {
      const instance = await this.trade.start(this.name, this.variables);
      const processes = instance.processes.map((/** @type {{ name: string, pid: number }} */ one) => ({
        ...processOf(one.pid),
        name: one.name,
      }));
      this.#up = { instance, processes };
    }
    return this.#up.instance;
  }

  /** Faults of the system now, a line each. @returns {Promise<string[]>} */
  async left() {
    if (!this.#up) return [];
    const { instance, processes } = this.#up;
    const dead = processes.filter((one) => !isAlive(one));
    if (dead.length > 0) return dead.map(({ name, pid }) => `${this.name}: process ${name} (${pid}) ended`);
    try {
      return (await this.trade.left(this.name, instance)).map((line) => `${this.name}: ${line}`);
    } catch (error) {
      return [`${this.name}: does not answer: ${/** @type {Error} */ (error).message}`];
    }
  }

  /** The next borrower gets another one. */
  async end() {
    const up = this.#up;
    this.#up = undefined;
    // A sidecar that was killed has taken its systems along.
    if (up) await this.trade.end(up.instance).catch(() => {});
  }
}

/**
 * Starts to lend. A borrower connects, and writes a line with what it wants. It gets a line with the instances. It has them until it
 * writes another line, which is answered with what is left, or until its connection ends.
 * @param {(logs: string) => Trade} [trade] of its test
 */
export async function startLender(trade = ofSidecar) {
  const folder = temporaryFolder('lender');
  const logs = join(folder.path, 'logs');
  mkdirSync(logs);
  const own = trade(logs);
  const address = join(folder.path, 'socket');
  /** @type {Map<string, System>} */
  const systems = new Map();

  /** @param {Wanted} wanted */
  const keyOf = ([name, variables]) => `${name} ${JSON.stringify({ ...VARIABLES[name], ...variables })}`;
  /** @param {Wanted} wanted */
  const systemOf = (wanted) => {
    const [name, variables] = wanted;
    if (!(name in VARIABLES))
      throw new Error(`${name} is not lent: ${Object.keys(VARIABLES).join(', ')} are`);
    const key = keyOf(wanted);
    const system = systems.get(key) ?? new System(own, name, { ...VARIABLES[name], ...variables });
    systems.set(key, system);
    return system;
  };

  /** @param {import('node:net').Socket} socket */
  const serve = async (socket) => {
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const tell = (/** @type {object} */ answer) =>
      socket.writable && socket.write(`${JSON.stringify(answer)}\n`);
    const first = await lines.next();
    if (first.done) return;
    const { wanted, by } = /** @type {{ wanted: Wanted[], by: string }} */ (JSON.parse(first.value));
    /** @type {(() => void)[]} */
    const turns = [];
    try {
      // All borrowers wait in one order, so that none waits for another one for ever.
      const inOrder = wanted.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b))).map(systemOf);
      for (const system of inOrder) turns.push(await system.turn());
      if (socket.destroyed) return;
      const instances = [];
      for (const one of wanted) instances.push(await systemOf(one).ready());
      tell({ instances });
      const given = await lines.next();
      const left = (await Promise.all(inOrder.map((system) => system.left()))).flat();
      if (left.length > 0)
        for (const system of inOrder) if ((await system.left()).length > 0) await system.end();
      if (!given.done) tell({ left });
      else if (left.length > 0) console.error(`${by} ended, and left ${left.join('; ')}`);
    } catch (error) {
      tell({ error: /** @type {Error} */ (error).message });
    } finally {
      for (const end of turns) end();
      socket.end();
    }
  };

  const server = createServer((socket) => {
    socket.on('error', () => {});
    void serve(socket);
  });
  await new Promise((resolve) => server.listen(address, () => resolve(undefined)));
  process.on('exit', folder.remove);
  return {
    address,
    /** Ends all systems. The next loan starts new ones. */
    clear: async () => {
      systems.clear();
      await own.stop();
    },
    /** The lender does not keep its process alive. Its systems end with the process. */
    unref: () => void server.unref(),
    stop: async () => {
      // The server keeps the process alive until the systems have ended.
      await own.stop();
      server.close();
      process.off('exit', folder.remove);
      folder.remove();
    },
  };
}
