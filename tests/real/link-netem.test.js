/** Our link beside the kernel's own, netem, by the same ping: delay and loss. A kernel without netem leaves the comparison out. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { ROOT } from '../support/k6.js';
import { mayMakeNamespaces } from '../support/namespaces.js';

const RTT_MS = 50;
const LOSS_PERCENT = 5;
const PINGS = 600;
/** Largest error of either link in ms, with the delay of a busy machine. */
const WITHIN_MS = 2;
/** Five standard deviations of the pings lost there and back, percent. */
const LOST = 100 * (1 - (1 - LOSS_PERCENT / 100) ** 2);
const LOST_WITHIN = 5 * Math.sqrt((LOST * (100 - LOST)) / PINGS);

const may = mayMakeNamespaces() && spawnSync('ping', ['-V']).status === 0;
const skip = may ? false : 'no rights to make network namespaces, or no ping';

/** @typedef {{ medianMs: number, lostPercent: number }} Pinged */

/** @param {string[]} at the command that runs ping in the network of the pings' source @param {string} to @returns {Pinged} */
function ping(at, to) {
  const [program, ...args] = [...at, 'ping', '-i', '0.01', '-c', String(PINGS), '-W', '2', to];
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  const times = [...stdout.matchAll(/ time=([\d.]+) ms/g)].map(([, ms]) => Number(ms)).sort((a, b) => a - b);
  const lost = stdout.match(/([\d.]+)% packet loss/);
  assert.ok(times.length > 0 && lost, stdout + stderr);
  return { medianMs: times[Math.floor(times.length / 2)], lostPercent: Number(lost[1]) };
}

/** @returns {Promise<Pinged>} */
async function overLink() {
  const words = `rtt:${RTT_MS}ms,loss:${LOSS_PERCENT}%`;
  const child = spawn('bin/sidecar', ['link', 'up', words], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  try {
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    const { near, far } = JSON.parse(value);
    return ping(['nsenter', `--net=${near.namespace}`, '--'], far.address);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** The loopback of a separate namespace, which each packet crosses there and back. @returns {string[]} */
const inNetem = () => {
  const netem = `netem delay ${RTT_MS / 2}ms loss ${LOSS_PERCENT}%`;
  const script = `PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && tc qdisc add dev lo root ${netem} && exec "$@"`;
  return ['unshare', '--net', 'sh', '-c', script, 'sh'];
};

/** @param {string} what @param {Pinged} found */
function assertAsAsked(what, { medianMs, lostPercent }) {
  assert.ok(Math.abs(medianMs - RTT_MS) < WITHIN_MS, `${what}: ${medianMs} ms`);
  assert.ok(Math.abs(lostPercent - LOST) < LOST_WITHIN, `${what}: ${lostPercent} % lost, not ${LOST}`);
}

test('a ping over a link takes as long and is lost as often as was asked', { skip }, async () => {
  assertAsAsked('the link', await overLink());
});

test('netem says the same as the link', { skip }, async (context) => {
  const [program, ...args] = [...inNetem(), 'true'];
  const tried = spawnSync(program, args, { encoding: 'utf8' });
  if (tried.status !== 0) {
    const why = `NOT COMPARED WITH NETEM: this kernel has none: ${tried.stderr.trim()}`;
    context.diagnostic(why);
    context.skip(why);
    return;
  }
  const [own, kernel] = [await overLink(), ping(inNetem(), '127.0.0.1')];
  assertAsAsked('netem', kernel);
  assert.ok(
    Math.abs(own.medianMs - kernel.medianMs) < WITHIN_MS,
    `${own.medianMs} and ${kernel.medianMs} ms`,
  );
});
