/**
 * A WebSocket client of another kind than ours: argument 1 is a relay's WebSocket address, 2 how many clients dial at
 * once. Prints their median time from dialling to the confirmed subscription, in ms.
 */
import { WebSocket } from 'ws';

const [url, count] = [process.argv[2], Number(process.argv[3])];

/** @param {number} index @returns {Promise<number>} ms */
function subscribe(index) {
  const startedAt = performance.now();
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const frame = JSON.stringify({ type: 'subscribe', client_id: `client-${index}`, topics: ['any'] });
  socket.on('open', () => socket.send(frame));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('message', () => resolve(performance.now() - startedAt));
  });
}

const times = await Promise.all(Array.from({ length: count }, (_, index) => subscribe(index)));
console.log(times.toSorted((a, b) => a - b)[Math.floor(count / 2)]);
process.exit(0);
