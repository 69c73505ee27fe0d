/**
 * A room: subscribers and their publisher in one VU. Each message can be accounted for on every subscriber: received, lost,
 * duplicated or out of order.
 */
import exec from 'k6/execution';
import { now } from '../clock.js';
import { detailOf, isAccepted } from '../answers.js';
import { ofResponse } from '../errors.js';
import { sleep } from '../sleep.js';
import { messageBody } from './relay.js';
import { Subscriber } from './subscriber.js';

/** A missing message counts as lost this long after the last arrival, ms. */
const DRAIN_MS = 3_000;
const DRAIN_STEP_MS = 5;
/** Time that a round waits for duplicates after everything has arrived, ms. */
const SETTLE_MS = 250;

/**
 * @typedef {import('../operations.js').Operation} Operation
 * @typedef {object} RoomPlan
 * @property {import('./relay.js').Relay} relay
 * @property {import('./relay.js').Session} session
 * @property {string[]} topics distributed over the subscribers in turn
 * @property {number} subscribers
 * @property {number} messages
 * @property {string} filler additional payload fields
 * @property {Operation} publish
 * @property {Operation} deliver
 * @property {number} endsAt now() after which nothing more is published, so that the round can account for all messages
 * @property {Operation} [last] latency until the last subscriber received a message
 *
 * @typedef {{ topic: number, sentAt: number, accepted: boolean, receivers: number, lastAt: number }} Sent
 */

/** The messages that one subscriber received. */
export class Ledger {
  /** @param {number} topic index of the subscriber's topic in the room */
  constructor(topic) {
    this.topic = topic;
    /** @type {Set<number>} */
    this.seen = new Set();
    this.highest = -1;
    this.duplicated = 0;
    this.outOfOrder = 0;
  }

  /** @param {number} seq @returns {boolean} whether this is the first arrival */
  note(seq) {
    if (this.seen.has(seq)) {
      this.duplicated += 1;
      return false;
    }
    this.seen.add(seq);
    if (seq < this.highest) this.outOfOrder += 1;
    this.highest = Math.max(this.highest, seq);
    return true;
  }
}

class Room {
  /** @param {RoomPlan} plan */
  constructor(plan) {
    this.plan = plan;
    this.id = `${exec.vu.idInTest}-${exec.vu.iterationInInstance}`;
    /** @type {Sent[]} */
    this.sent = [];
    this.lastArrivalAt = 0;
    this.unexpected = 0;
    this.ledgers = Array.from(
      { length: plan.subscribers },
      (_, index) => new Ledger(index % plan.topics.length),
    );
    this.subscribers = this.ledgers.map((ledger, index) => this.subscriber(ledger, index));
    /** @type {Ledger[]} of subscribers whose subscription succeeded */
    this.listening = [];
    /** Number of listening subscribers of each topic. */
    this.audience = plan.topics.map(() => 0);
  }

  /** @param {Ledger} ledger @param {number} index */
  subscriber(ledger, index) {
    const { relay, session, topics, deliver } = this.plan;
    return new Subscriber(relay.environment, session, `${this.id}-${index}`, [topics[ledger.topic]], {
      message: (payload, receivedAt) => this.arrived(ledger, payload, receivedAt),
      lost: (kind, detail) => deliver.anomaly(kind, 1, detail),
    });
  }

  /** @param {Ledger} ledger @param {any} payload @param {number} receivedAt */
  arrived(ledger, payload, receivedAt) {
    const { deliver } = this.plan;
    deliver.late(now() - receivedAt);
    const sent = payload?.room === this.id ? this.sent[payload.seq] : undefined;
    if (!sent || sent.topic !== ledger.topic) {
      this.unexpected += 1;
      return;
    }
    this.lastArrivalAt = receivedAt;
    if (!ledger.note(payload.seq)) return;
    sent.receivers += 1;
    sent.lastAt = Math.max(sent.lastAt, receivedAt);
    deliver.success(sent.sentAt, receivedAt);
  }

  async join() {
    for (const [index, subscriber] of this.subscribers.entries()) {
      const { failure, detail } = await subscriber.outcome;
      if (failure) {
        this.plan.deliver.anomaly(failure, 1, detail);
        this.plan.relay.checkToken(this.plan.session, failure);
        continue;
      }
      this.listening.push(this.ledgers[index]);
      this.audience[this.ledgers[index].topic] += 1;
    }
  }

  /** Publishes messages one after the other. Each waits for the answer to the last one. */
  async publishAll() {
    const { plan } = this;
    for (let seq = 0; seq < plan.messages && now() < plan.endsAt; seq += 1) {
      const topic = seq % plan.topics.length;
      const body = messageBody(plan.topics[topic], `"room":"${this.id}","seq":${seq},${plan.filler}`);
      plan.publish.begin();
      const sentAt = now();
      const sent = { topic, sentAt, accepted: false, receivers: 0, lastAt: 0 };
      this.sent.push(sent);
      const response = await plan.relay.publishAsync(plan.session, body);
      sent.accepted = isAccepted(response);
      if (sent.accepted) plan.publish.success(sentAt, now());
      else plan.publish.failure(ofResponse(response), sentAt, now(), detailOf(response));
    }
  }

  /** @param {Sent} sent */
  isWhole(sent) {
    return sent.receivers >= this.audience[sent.topic];
  }

  isComplete() {
    return this.sent.every((sent) => !sent.accepted || this.isWhole(sent));
  }

  async drain() {
    this.lastArrivalAt = Math.max(this.lastArrivalAt, now());
    while (!this.isComplete() && now() - this.lastArrivalAt < DRAIN_MS) await sleep(DRAIN_STEP_MS);
    await sleep(SETTLE_MS);
  }

  /** Records lost, duplicated and unexpected messages, and the last arrivals. */
  account() {
    const { deliver, last } = this.plan;
    const endedAt = this.lastArrivalAt;
    for (const ledger of this.listening) {
      this.sent.forEach((sent, seq) => {
        if (sent.accepted && sent.topic === ledger.topic && !ledger.seen.has(seq))
          deliver.failure('lost', sent.sentAt, endedAt);
      });
      deliver.anomaly('duplicated', ledger.duplicated);
      deliver.anomaly('out_of_order', ledger.outOfOrder);
    }
    deliver.anomaly('unexpected', this.unexpected);
    if (!last) return;
    for (const sent of this.sent.filter(({ accepted }) => accepted)) {
      if (this.isWhole(sent)) last.success(sent.sentAt, sent.lastAt);
      else last.failure('lost', sent.sentAt, endedAt);
    }
  }
}

/**
 * Runs a room from its first connection to its last close.
 * @param {RoomPlan} plan
 */
export async function runRoom(plan) {
  plan.relay.connect();
  const room = new Room(plan);
  await room.join();
  await room.publishAll();
  await room.drain();
  room.account();
  await Promise.all(room.subscribers.map((subscriber) => subscriber.close()));
}
