/** Gives each client its own users, so that a client's change to a user affects no other client. */
import { namesOf } from './scenario.js';

/**
 * @typedef {'active' | 'disabled'} Status
 * @typedef {{ name: string, status: Status }} User
 */

/** Every second user is disabled before the load. @param {number} index */
const startsDisabled = (index) => index % 2 === 1;

export class OwnUsers {
  /**
   * @param {string} group part of the users' names
   * @param {number} clients
   * @param {number} each users per client at first
   */
  constructor(group, clients, each) {
    this.nameOf = namesOf(group);
    this.clients = clients;
    this.each = each;
    /** Users of this virtual user, longest waiting first. @type {User[]} */
    this.own = [];
    /** Status that the next switch sets. It alternates, because the two directions have different costs. @type {Status} */
    this.next = 'active';
    this.taken = false;
  }

  /** In setup(): creates the users. @param {import('./panel.js').Panel} panel @param {import('./panel.js').Session} session */
  make(panel, session) {
    const count = this.clients * this.each;
    const names = Array.from({ length: count }, (_, index) => this.nameOf(session.runId, index));
    panel.createAll(session, names);
    panel.disableAll(
      session,
      names.filter((_, index) => startsDisabled(index)),
    );
  }

  /** Assigns the client's users to this virtual user. Call it first in an iteration. @param {number} client @param {string} runId */
  takeOver(client, runId) {
    if (this.taken) return;
    this.taken = true;
    const first = (client % this.clients) * this.each;
    this.own = Array.from({ length: this.each }, (_, index) => ({
      name: this.nameOf(runId, first + index),
      status: startsDisabled(index) ? 'disabled' : 'active',
    }));
    // Half of the clients begin with disabling a user.
    this.next = client % 2 === 0 ? 'disabled' : 'active';
  }

  /** A name for a new user. @param {string} runId @param {number} unique */
  newName(runId, unique) {
    return this.nameOf(runId, this.clients * this.each + unique);
  }

  /** Removes a user from the own ones, preferably one to switch in the other direction than the last one. @returns {User} */
  takeToSwitch() {
    const index = this.own.findIndex(({ status }) => status !== this.next);
    const [user] = this.own.splice(Math.max(0, index), 1);
    this.next = user.status;
    return user;
  }
}
