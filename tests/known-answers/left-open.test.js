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

/** @param {string} scenario @param {string} flags of the proxy */
async function run(scenario, flags) {
  const bench = startBench({
    ONLY: scenario,
    PROFILE: 'smoke',
    TESTBED: proxy(flags),
    HANDSHAKES: String(HANDSHAKES),
  });
  try {
    const code = await bench.ended;
    return { code, result: bench.result(scenario.replace('/', '-')) };
  } finally {
    bench.remove();
  }
}

/** @param {any} result */
const checkOf = ({ integrity }) =>
  integrity.find((/** @type {{ check: string }} */ { check }) => check === 'left open');

describe('descriptors after the load', () => {
  for (const [flags, kind] of [
    ['-far-sockets', 'TCP connections'],
    ['-descriptors', 'other descriptors'],
  ]) {
    test(`${kind} of ${flags} are counted, and fail the run`, async () => {
      const { code, result } = await run('dataplane/handshake', flags);
      const [, count] =
        new RegExp(`left open: (\\d+) ${kind} [\\d.]+ s after the load`).exec(reasonsOf(result).join('\n')) ??
        [];
      assert.ok(
        Number(count) >= HANDSHAKES && Number(count) <= HANDSHAKES + OTHERS,
        reasonsOf(result).join(),
      );
      assert.deepEqual([code, result.verdict], [99, 'fail']);
      const [{ before, after: later }] = result.held.processes;
      // Each tunnel leaves one. The kernel's own count is the independent instrument.
      // Go's runtime keeps pipes for later connections.
      const kept = (/** @type {{ descriptors: { all: number, pipes: number } }} */ { descriptors: of }) =>
        of.all - of.pipes;
      assert.ok(Math.abs(kept(later) - kept(before) - Number(count)) <= 3);
      const { peak_open_files: peak } = result.processes.find(
        (/** @type {{ role: string }} */ { role }) => role === 'system',
      );
      assert.ok(peak === null || peak >= Number(count), String(peak));
    });
  }

  for (const scenario of ['dataplane/handshake', 'dataplane/throughput']) {
    test(`${scenario} of a proxy that closes everything waits no 5 s`, async () => {
      const { result } = await run(scenario, '');
      assert.equal(checkOf(result).ok, true, JSON.stringify(checkOf(result)));
      assert.ok(result.held.after_s < 5);
    });
  }
});
