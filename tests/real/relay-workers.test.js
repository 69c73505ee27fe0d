/** Delivery across the workers of a real relay, whose messages go through a real Valkey or Redis server (storage=valkey, workers=2). */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { temporaryFolder } from '../support/k6.js';
import { descendants, until } from '../support/processes.js';
import { startSidecar } from '../support/sidecar.js';

const TOPIC = 'across-workers';
const WORKERS = 2;
/** Subscribers, and messages, that each worker has at least. */
const EACH = 3;

const valkey = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['valkey-server', 'redis-server'].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Inode of the relay's end of a connection, from /proc/net/tcp (proc(5)). @param {number} port of the relay @param {number} peer its client's port */
function inodeOf(port, peer) {
  const portIn = (/** @type {string} */ address = '') => parseInt(address.split(':')[1], 16);
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .find(([, own, other]) => portIn(own) === port && portIn(other) === peer)?.[9];
}

/** Whether a process has the descriptor of a socket. @param {number} pid @param {string | undefined} inode */
function holds(pid, inode) {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(join(folder, name)) === `socket:[${inode}]`;
    } catch {
      return false;
    }
  });
}

/** A relay with workers, and the worker that serves a client's port. */
class Relay {
  /** @param {any} instance @param {string} token */
  constructor({ outputs, processes }, token) {
    this.url = outputs.PULSAR_URL;
    this.token = token;
    this.port = Number(new URL(this.url).port);
    this.parent = processes.find((/** @type {any} */ { name }) => name === 'relay').pid;
  }

  /** The pid of a worker. @param {number} peer */
  workerOf(peer) {
    const inode = inodeOf(this.port, peer);
    const worker = descendants(this.parent).find(({ pid }) => holds(pid, inode));
    if (!worker) throw new Error(`no worker has the connection from port ${peer}`);
    return worker.pid;
  }

  /** @param {string} method @param {string} path @param {object | undefined} body @param {Agent} [agent] @returns {Promise<{ status: number | undefined, peer: number }>} */
  call(method, path, body, agent) {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, { method, agent, headers }, (answer) => {
        const peer = Number(sent.socket?.localPort);
        answer.resume().on('end', () => resolve({ status: answer.statusCode, peer }));
      });
      sent.on('error', reject).end(body && JSON.stringify(body));
    });
  }

  /** Subscribes one more client. @param {number} index */
  async subscribe(index) {
    const protocols = ['bearer', `bearer.${this.token}`];
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/ws`, protocols);
    /** @type {number[]} */
    const got = [];
    await new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () =>
        socket.send(JSON.stringify({ type: 'subscribe', client_id: `client-${index}`, topics: [TOPIC] })),
      );
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data));
        if (frame.type === 'message') got.push(frame.payload.number);
        else if (frame.type === 'subscribed') resolve(undefined);
        else reject(new Error(String(data)));
      });
    });
    const { localPort } = /** @type {any} */ (socket)._socket;
    return { socket, got, worker: this.workerOf(localPort) };
  }

  /** Publishes on a new connection. @param {number} number */
  async publish(number) {
    const agent = new Agent({ keepAlive: true });
    try {
      const body = { topic: TOPIC, payload: { number } };
      const { status, peer } = await this.call('POST', '/api/v1/messages', body, agent);
      assert.equal(status, 201);
      return { number, worker: this.workerOf(peer) };
    } finally {
      agent.destroy();
    }
  }
}

/** @param {any} instance */
async function signedIn({ outputs, secret_outputs: secrets }) {
  const body = new URLSearchParams({ username: outputs.PULSAR_USERNAME, password: secrets.PULSAR_PASSWORD });
  const answer = await fetch(`${outputs.PULSAR_URL}/auth/login`, { method: 'POST', body });
  return /** @type {any} */ (await answer.json()).access_token;
}

/** Makes things until each worker has EACH of them: the kernel chooses who accepts a connection. @template {{ worker: number }} T @param {(index: number) => Promise<T>} make @param {T[]} all */
const untilEach = (make, all) =>
  until(async () => {
    all.push(await make(all.length));
    const workers = [...new Set(all.map(({ worker }) => worker))];
    const counts = workers.map((one) => all.filter(({ worker }) => worker === one).length);
    return counts.length === WORKERS && counts.every((count) => count >= EACH);
  }, 'connections of each worker');

test(
  'each message reaches the subscribers of every worker once',
  { skip: valkey ? false : 'neither valkey-server nor redis-server is installed' },
  async () => {
    const logs = temporaryFolder('relay-workers');
    const sidecar = await startSidecar(logs.path);
    /** @type {Awaited<ReturnType<Relay['subscribe']>>[]} */
    const subscribers = [];
    /** @type {Awaited<ReturnType<Relay['publish']>>[]} */
    const sent = [];
    try {
      const variables = { storage: 'valkey', workers: WORKERS, valkey };
      const instance = await sidecar.start('pulsar-relay', variables);
      const relay = new Relay(instance, await signedIn(instance));
      await relay.call('POST', '/api/v1/topics', { topic_name: TOPIC });
      await untilEach((index) => relay.subscribe(index), subscribers);
      await untilEach((index) => relay.publish(index), sent);
      const isWhole = () => subscribers.every(({ got }) => got.length >= sent.length);
      await until(isWhole, 'the messages');
      // A message behind them shows that no second copy is on its way.
      const { number: last } = await relay.publish(sent.length);
      await until(() => subscribers.every(({ got }) => got.includes(last)), 'the last message');
      const expected = Array.from({ length: last + 1 }, (_, number) => number);
      for (const { got, worker } of subscribers)
        assert.deepEqual(
          got.toSorted((a, b) => a - b),
          expected,
          `a subscriber of worker ${worker}`,
        );
    } finally {
      for (const { socket } of subscribers) socket.terminate();
      await sidecar.stop();
      logs.remove();
    }
  },
);
