/** Users of which each client has some of its own, so that what one does to a user meets no other client. */
import { namesOf } from './scenario.js';

/**
 * @typedef {'active' | 'disabled'} Status
 * @typedef {{ name: string, status: Status }} User
 */

/** Every second one is disabled before the load. @param {number} index */
const startsDisabled = (index) => index % 2 === 1;

export class OwnUsers {
  /**
   * @param {string} group of their names
   * @param {number} clients
   * @param {number} each users that a client has at first
   */
  constructor(group, clients, each) {
    this.nameOf = namesOf(group);
    this.clients = clients;
    this.each = each;
    /** This virtual user's, the one that waited longest first. @type {User[]} */
    this.own = [];
    /** What the next switch is to: one way and the other in turn, since they cost differently. @type {Status} */
    this.next = 'active';
    this.taken = false;
  }

  /** In setup(). @param {import('./panel.js').Panel} panel @param {import('./panel.js').Session} session */
  make(panel, session) {
    const count = this.clients * this.each;
    const names = Array.from({ length: count }, (_, index) => this.nameOf(session.runId, index));
    panel.createAll(session, names);
    panel.disableAll(
      session,
      names.filter((_, index) => startsDisabled(index)),
    );
  }

  /** First in a turn: the client's users are now its own. @param {number} client @param {string} runId */
  takeOver(client, runId) {
    if (this.taken) return;
    this.taken = true;
    const first = (client % this.clients) * this.each;
    this.own = Array.from({ length: this.each }, (_, index) => ({
      name: this.nameOf(runId, first + index),
      status: startsDisabled(index) ? 'disabled' : 'active',
    }));
    // Half of the clients begin with a user to disable.
    this.next = client % 2 === 0 ? 'disabled' : 'active';
  }

  /** The name of one more. @param {string} runId @param {number} unique */
  newName(runId, unique) {
    return this.nameOf(runId, this.clients * this.each + unique);
  }

  get count() {
    return this.own.length;
  }

  get first() {
    return this.own[0];
  }

  /** @param {User} user */
  add(user) {
    this.own.push(user);
  }

  /** Takes the first one. There must be one. @returns {User} */
  take() {
    return this.own.splice(0, 1)[0];
  }

  /** Takes one to be switched the other way than the one before, where there is such a one. @returns {User} */
  takeToSwitch() {
    const index = this.own.findIndex(({ status }) => status !== this.next);
    const [user] = this.own.splice(Math.max(0, index), 1);
    this.next = user.status;
    return user;
  }
}
