/** Faults of a relay that restarts, or that has a subscriber who reads nothing; tests/fakes/relay.js takes them. */

/**
 * @typedef {object} RestartFaults
 * @property {number} [downMs] how long a restart takes, in which the relay refuses all.
 * @property {number} [losesBack] deliveries to subscribers that are back are not sent.
 * @property {number} [doublesBack] such deliveries are sent twice.
 * @property {boolean} [waitsForSlow] it sends nothing while a subscriber's connection is full, as the real relay does.
 */

const LOOK_MS = 10;
/** Deliveries after a restart that are right, until all subscribers are back. */
const SETTLED = 60;

export class Restarts {
  /** @param {RestartFaults} faults */
  constructor(faults) {
    this.faults = faults;
    this.down = false;
    this.times = 0;
    this.truth = { back: 0, lost: 0, doubled: 0, heldMs: 0 };
  }

  /** Kills all connections, and refuses new ones for a while. @param {Set<import('node:net').Socket>} connections */
  begin(connections) {
    this.times += 1;
    this.down = true;
    for (const connection of connections) connection.resetAndDestroy();
    setTimeout(() => (this.down = false), this.faults.downMs ?? 300);
  }

  /** How often a delivery is sent. */
  copies() {
    const { losesBack = 0, doublesBack = 0 } = this.faults;
    if (this.times === 0 || (this.truth.back += 1) <= SETTLED) return 1;
    if (this.truth.lost < losesBack) {
      this.truth.lost += 1;
      return 0;
    }
    if (this.truth.doubled >= doublesBack) return 1;
    this.truth.doubled += 1;
    return 2;
  }

  /** Waits until no connection is full. @param {() => Iterable<import('ws').WebSocket>} sockets */
  async pass(sockets) {
    if (!this.faults.waitsForSlow) return;
    while ([...sockets()].some(({ bufferedAmount }) => bufferedAmount > 0)) {
      this.truth.heldMs += LOOK_MS;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
