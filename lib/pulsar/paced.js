/**
 * Subscribers of one topic, and a publisher that sends at a fixed pace whatever the relay does (open loop). Each message has a
 * number, so that each can be accounted for on each subscriber. Latencies count from the intended time.
 */
import { detailOf, isAccepted } from '../answers.js';
import { now } from '../clock.js';
import { ofResponse } from '../errors.js';
import { sleep } from '../sleep.js';
import { messageBody } from './relay.js';
import { Ledger } from './room.js';
import { Subscriber } from './subscriber.js';

/** A missing message counts as lost this long after the last arrival, ms. */
const DRAIN_MS = 1_500;
/** Between two attempts to come back, ms. */
const AGAIN_MS = 50;

/**
 * @typedef {import('../operations.js').Operation} Operation
 * @typedef {object} PacedPlan
 * @property {import('./relay.js').Relay} relay
 * @property {import('./relay.js').Session} session
 * @property {string} topic
 * @property {string} name of the group, which no other group of the topic has
 * @property {number} subscribers
 * @property {number} rate messages a second
 * @property {string} filler additional payload fields
 * @property {Operation} publish
 * @property {Operation} deliver
 * @property {(index: number, kind: import('../errors.js').ErrorKind, detail?: string) => boolean} [gone] hears of the end of a
 *   subscriber's connection. True: the subscriber comes back; false: the end is an error
 * @property {(index: number, startedAt: number) => void} [back] hears of its new subscription
 *
 * @typedef {{ sentAt: number, answeredAt: number, accepted: boolean, failure: import('../errors.js').ErrorKind | null, detail?: string }} Sent
 *   times on now()'s clock; sentAt is the intended time
 */

export class Paced {
  /** @param {PacedPlan} plan */
  constructor(plan) {
    this.plan = plan;
    /** @type {Sent[]} by number of the message */
    this.sent = [];
    /** The received messages of each subscriber. */
    this.ledgers = Array.from({ length: plan.subscribers }, () => new Ledger(0));
    /** @type {Subscriber[]} */
    this.clients = [];
    this.joined = 0;
    this.lastArrivalAt = 0;
    this.unexpected = 0;
    this.ending = false;
    /** Whether lateness is recorded. Not while log-ins and connections take the virtual user's time. */
    this.punctual = true;
    /** @type {Promise<void>[]} of requests that were sent */
    this.requests = [];
  }

  /** @param {number} index */
  connect(index) {
    const { relay, session, topic, name } = this.plan;
    const client = new Subscriber(relay.environment, relay.current(session), `${name}-${index}`, [topic], {
      message: (payload, receivedAt) => this.arrived(this.ledgers[index], payload, receivedAt),
      lost: (kind, detail) => this.left(index, kind, detail),
    });
    this.clients[index] = client;
    return client.outcome;
  }

  /** @param {number} index @param {import('../errors.js').ErrorKind} kind @param {string} [detail] */
  left(index, kind, detail) {
    if (this.ending) return;
    if (this.plan.gone?.(index, kind, detail)) void this.rejoin(index);
    else this.plan.deliver.anomaly(kind, 1, detail);
  }

  /** Connects until a subscription is confirmed. A publish renews the token, if the relay forgot it. @param {number} index */
  async rejoin(index) {
    while (!this.ending) {
      const { failure, endedAt } = await this.connect(index);
      if (!failure) return this.plan.back?.(index, endedAt);
      await sleep(AGAIN_MS);
    }
    return undefined;
  }

  /** Subscribes all. A refusal is an error of the deliveries. */
  async join() {
    const outcomes = await Promise.all(this.ledgers.map((_, index) => this.connect(index)));
    for (const { failure, detail } of outcomes) {
      if (failure) this.plan.deliver.anomaly(failure, 1, detail);
      else this.joined += 1;
    }
  }

  /** @param {Ledger} ledger @param {any} payload @param {number} receivedAt */
  arrived(ledger, payload, receivedAt) {
    const { deliver, name } = this.plan;
    if (this.punctual) deliver.late(now() - receivedAt);
    const sent = payload?.room === name ? this.sent[payload.seq] : undefined;
    if (!sent) {
      this.unexpected += 1;
      return;
    }
    this.lastArrivalAt = receivedAt;
    if (ledger.note(payload.seq)) deliver.success(sent.sentAt, receivedAt);
  }

  /** Publishes while `goesOn`, and waits for no answer. @param {() => boolean} goesOn */
  async publishWhile(goesOn) {
    const everyMs = 1000 / this.plan.rate;
    const from = now();
    for (let turn = 0; goesOn(); turn += 1) {
      const due = from + turn * everyMs;
      if (due > now()) await sleep(due - now());
      if (this.punctual) this.plan.publish.late(now() - due);
      this.requests.push(this.publish(this.sent.length, due));
    }
  }

  /** @param {number} seq @param {number} due */
  async publish(seq, due) {
    const { relay, session, topic, name, filler } = this.plan;
    /** @type {Sent} */
    const sent = { sentAt: due, answeredAt: Infinity, accepted: false, failure: null };
    this.sent.push(sent);
    const body = messageBody(topic, `"room":"${name}","seq":${seq},${filler}`);
    const response = await relay.publishAsync(session, body);
    sent.answeredAt = now();
    sent.accepted = isAccepted(response);
    if (sent.accepted) return;
    sent.failure = ofResponse(response);
    sent.detail = detailOf(response);
  }

  /** Waits for the answers and for the last messages. */
  async drain() {
    await Promise.all(this.requests);
    this.lastArrivalAt = Math.max(this.lastArrivalAt, now());
    while (this.missing().length > 0 && now() - this.lastArrivalAt < DRAIN_MS) await sleep(20);
    // For duplicates.
    await sleep(250);
  }

  /** Accepted messages that a subscriber does not have. @returns {{ index: number, sent: Sent }[]} */
  missing() {
    return this.ledgers.flatMap((ledger, index) =>
      this.sent.flatMap((sent, seq) => (sent.accepted && !ledger.seen.has(seq) ? [{ index, sent }] : [])),
    );
  }

  /** Messages that subscribers have more than once. */
  get doubled() {
    return this.ledgers.reduce((sum, { duplicated }) => sum + duplicated, 0);
  }

  /**
   * Records each publish, the losses, the duplicates and what belongs to nobody.
   * @param {(sent: Sent, index?: number) => boolean} [excused] of a publish without `index`, else of a loss
   */
  account(excused = () => false) {
    const { publish, deliver } = this.plan;
    for (const sent of this.sent.filter((one) => one.accepted || !excused(one)))
      publish.ended(sent.failure, sent.sentAt, sent.answeredAt, sent.detail);
    for (const { index, sent } of this.missing())
      if (!excused(sent, index)) deliver.failure('lost', sent.sentAt, this.lastArrivalAt);
    deliver.anomaly('duplicated', this.doubled);
    deliver.anomaly('unexpected', this.unexpected);
  }

  /** Closes all connections, open ones and new ones. */
  async close() {
    this.ending = true;
    await Promise.all(this.clients.map((client) => client.close()));
  }
}
