/** A proxy that leaves a descriptor of each connection open: every data-plane scenario names it with its number. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { temporaryFolder } from '../support/k6.js';
import { leakyProxy } from '../support/leaky-proxy.js';
import { reasonsOf } from '../support/reasons.js';

const folder = temporaryFolder('left-open');
after(folder.remove);
const proxy = leakyProxy(folder.fresh());

const HANDSHAKES = 60;
/** Tunnels of setup() and of two warm-ups, at most. */
const OTHERS = 120;

/** @param {string} ONLY @param {string} flags of the proxy */
async function run(ONLY, flags) {
  const bench = startBench({
    ONLY,
    PROFILE: 'smoke',
    TESTBED: proxy(flags),
    HANDSHAKES: String(HANDSHAKES),
  });
  try {
    const code = await bench.ended;
    return { code, results: ONLY.split(',').map((one) => bench.result(one.replace('/', '-'))) };
  } finally {
    bench.remove();
  }
}

/** @param {any} result */
const checkOf = ({ integrity }) =>
  integrity.find((/** @type {{ check: string }} */ { check }) => check === 'left open');

describe('descriptors after the load', () => {
  test('connections and other descriptors are counted apart, and fail the run', async () => {
    const { code, results } = await run('dataplane/handshake', '-far-sockets -descriptors');
    const [result] = results;
    const told = reasonsOf(result).join('\n');
    const counts =
      /left open: (\d+) TCP connections and (\d+) other descriptors [\d.]+ s after the load/.exec(told);
    const [connections, others] = (counts ?? []).slice(1).map(Number);
    for (const count of [connections, others])
      assert.ok(count >= HANDSHAKES && count <= HANDSHAKES + OTHERS, told);
    assert.deepEqual([code, result.verdict], [99, 'fail']);
    const [{ before, after: later }] = result.held.processes;
    // Each tunnel leaves one of each. The kernel's own count is the independent instrument.
    // Go's runtime keeps pipes for later connections.
    const kept = (/** @type {{ descriptors: { all: number, pipes: number } }} */ { descriptors: of }) =>
      of.all - of.pipes;
    assert.ok(Math.abs(kept(later) - kept(before) - connections - others) <= 3);
    const { peak_open_files: peak } = result.processes.find(
      (/** @type {{ role: string }} */ { role }) => role === 'system',
    );
    assert.ok(peak === null || peak >= connections + others, String(peak));
  });

  test('a run of a proxy that closes everything waits no 5 s', async () => {
    const { results } = await run('dataplane/handshake,dataplane/throughput', '');
    for (const result of results) {
      assert.equal(checkOf(result).ok, true, JSON.stringify(checkOf(result)));
      assert.ok(result.held.after_s < 5);
    }
  });
});
