/** The sidecar's echo server as a separate process: a far end with known faults. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ROOT, cleanEnvironment } from './k6.js';

/** @param {string[]} faults such as --delay-ms 100 */
export async function startEcho(...faults) {
  const child = spawn('bin/sidecar', ['echo', ...faults], {
    cwd: ROOT,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (first.done) throw new Error('the echo server said nothing');
  const { tcp, udp } = JSON.parse(first.value);
  return {
    target: { tcp, udp },
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
}
