/** Finds traces of a borrower on a lent system: topics, users, open tunnels. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { panel as panelOf } from './panel.js';
import { patience } from './patience.js';

/** Both ends close a tunnel, one after the other. */
const CLOSING_MS = 2000;
/** Names in a line, at most. */
const NAMED = 5;
/** A new connection for each check: the relay may have closed the last one. */
const ONCE = { connection: 'close' };
/** State of a connection in /proc/net/tcp. */
const ESTABLISHED = '01';

/** @param {string} what @param {string[]} names @param {number} [count] */
const line = (what, names, count = names.length) =>
  count > 0
    ? [`${count} ${what} left: ${names.slice(0, NAMED).join(', ')}${count > NAMED ? ', …' : ''}`]
    : [];

/** @param {any} instance */
async function topicsOf({ outputs, secret_outputs: secrets }) {
  const url = outputs.PULSAR_URL;
  const body = new URLSearchParams({ username: outputs.PULSAR_USERNAME, password: secrets.PULSAR_PASSWORD });
  const answer = await fetch(`${url}/auth/login`, { method: 'POST', body, headers: ONCE });
  const { access_token: token } = /** @type {any} */ (await answer.json());
  const headers = { ...ONCE, authorization: `Bearer ${token}` };
  const topics = /** @type {any} */ (await (await fetch(`${url}/api/v1/topics`, { headers })).json());
  return topics.map((/** @type {any} */ { topic_name: name }) => String(name));
}

/** @param {any} instance */
async function onPanel(instance) {
  const panel = panelOf(instance);
  const { total, users } = (await panel.call('GET', `/api/users?limit=${NAMED}`)).body;
  const names = users.map((/** @type {any} */ { username }) => username);
  const inXray = panel.countInXray();
  return [...line('users', names, total), ...(inXray === 0 ? [] : [`${inXray} users left in xray`])];
}

/** Clients of a port of this machine, such as 127.0.0.1:40404. @param {string} port */
const clientsOf = (port) =>
  readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((text) => text.trim().split(/\s+/))
    .filter(
      ([, own = '', , state]) => state === ESTABLISHED && parseInt(own.split(':')[1], 16) === Number(port),
    )
    .map(([, , peer]) => `127.0.0.1:${parseInt(peer.split(':')[1], 16)}`);

/** @param {any} instance */
async function onPair({ outputs }) {
  const port = outputs.DATAPLANE_URL.split(':').at(-1);
  const waits = patience(CLOSING_MS);
  while (clientsOf(port).length > 0 && waits()) await sleep(50);
  return line('tunnels', clientsOf(port));
}

/** @type {Record<string, (instance: any) => Promise<string[]>>} by testbed */
const LEFT = {
  'pulsar-relay': async (instance) => line('topics', await topicsOf(instance)),
  panel: onPanel,
  'sing-box-pair': onPair,
};

/** A line of each kind of thing that is left. @param {string} name of the testbed @param {any} instance */
export const leftOn = (name, instance) => LEFT[name](instance);
