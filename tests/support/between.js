/** A server between a runner and its coordinator that spoils their messages; a test sets the faults. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';

/**
 * @typedef {object} Faults
 * @property {(path: string, nth: number) => 'pass' | 'cut' | 'unanswered' | 'dead'} [fate] of the nth request to a path, from 1.
 *   The request passes; its second half is lost; its answer is lost; or the coordinator is dead, for this and all later requests
 * @property {number} [hours] that the coordinator's clock is ahead
 */

/** The times in an answer of the coordinator's, set forward. @param {string} text @param {number} hours */
function later(text, hours) {
  const answer = JSON.parse(text);
  for (const name of ['unix_ms', 'start_unix_ms']) if (answer[name]) answer[name] += hours * 3_600_000;
  return JSON.stringify(answer);
}

/** @param {string} coordinator its URL @param {Faults} faults */
export async function startBetween(coordinator, { fate = () => 'pass', hours = 0 }) {
  /** @type {Map<string, number>} */
  const asked = new Map();
  let dead = false;
  const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = incoming.url ?? '';
    const nth = (asked.get(path) ?? 0) + 1;
    asked.set(path, nth);
    const what = fate(path, nth);
    dead ||= what === 'dead';
    if (dead) return incoming.socket.destroy();
    const headers = { ...incoming.headers, 'content-length': body.length };
    const onward = request(`${coordinator}${path}`, { method: 'POST', headers });
    onward.on('error', () => incoming.socket.destroy());
    if (what === 'cut') {
      onward.write(body.subarray(0, body.length / 2), () => onward.destroy());
      return undefined;
    }
    onward.end(body);
    onward.on('response', async (answer) => {
      const text = (await answer.toArray()).join('');
      if (what === 'unanswered') return incoming.socket.destroy();
      return outgoing.writeHead(answer.statusCode ?? 500).end(hours ? later(text, hours) : text);
    });
    return undefined;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
