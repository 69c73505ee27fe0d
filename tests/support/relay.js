/** Asks the real relay of a run during the run. */
import { descendants } from './processes.js';

/** @param {{ child: import('node:child_process').ChildProcess }} bench */
export const relayOf = ({ child }) =>
  descendants(Number(child.pid)).find(
    ({ command }) => /python\S* -m uvicorn/.test(command) && !/__guard|__exec/.test(command),
  );

/**
 * The number of messages that the relay has for the run's only topic (TOPICS=1), as it reports: at most 100, and 0 before it is up.
 * @param {{ child: import('node:child_process').ChildProcess }} bench
 * @param {string} password of its administrator
 */
export async function messagesOf(bench, password) {
  const port = /--port (\d+)/.exec(relayOf(bench)?.command ?? '')?.[1];
  const url = `http://127.0.0.1:${port}`;
  try {
    const login = { method: 'POST', body: new URLSearchParams({ username: 'admin', password }) };
    const { access_token: token } = /** @type {any} */ (
      await (await fetch(`${url}/auth/login`, login)).json()
    );
    /** @param {string} path @returns {Promise<any>} */
    const get = async (path) =>
      (await fetch(`${url}/api/v1/topics${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
    const [topic] = await get('');
    return topic ? (await get(`/${topic.topic_name}/messages?limit=100`)).total : 0;
  } catch {
    return 0;
  }
}
