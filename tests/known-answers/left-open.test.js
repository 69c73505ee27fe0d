/** A proxy that leaves a descriptor and memory of each connection: every data-plane scenario names them with their numbers. */
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

/** MiB that stay of each process, by the remark. @param {any} result */
function keptOf({ notes }) {
  const remark = notes.find((/** @type {string} */ note) => note.startsWith('memory kept')) ?? '';
  return [...remark.matchAll(/has ([\d.]+) MiB and had ([\d.]+) MiB/g)].map(([, has, had]) => has - had);
}

describe('descriptors and memory after the load', () => {
  test('connections and other descriptors are counted apart, and fail the run', async () => {
    const flags = `-far-sockets -descriptors -bytes ${2 ** 20}`;
    const { code, results } = await run('dataplane/handshake', flags);
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
    const { peak_open_files: peak, peak_descriptors: kinds } = result.processes.find(
      (/** @type {{ role: string }} */ { role }) => role === 'system',
    );
    assert.ok(peak === null || peak >= connections + others, String(peak));
    // All stays open, so the last reading of the load finds nearly the most.
    const nearly = (/** @type {number} */ all) => all <= peak && all > 0.9 * peak;
    const { all, tcp, other } = kinds ?? {};
    assert.ok(
      peak === null || (nearly(all) && tcp.listen === 1 && tcp.established >= connections && other >= others),
      JSON.stringify(kinds),
    );
    // Each tunnel leaves 1 MiB, as it leaves a descriptor. A remark is no reason.
    const [stays] = keptOf(result);
    assert.ok(Math.abs(stays - others) <= 0.05 * others, `${stays} MiB of ${others} tunnels`);
    assert.doesNotMatch(told, /memory/);
  });

  test('memory that grows once by 50 MiB is remarked, and fails no run', async () => {
    const { results } = await run('dataplane/handshake', '-step-at 30');
    const [kept] = keptOf(results[0]);
    assert.ok(kept >= 50 && kept <= 60, `${kept} MiB`);
    assert.notEqual(results[0].verdict, 'fail');
  });

  test('a run of a proxy that closes everything waits no 5 s', async () => {
    const { results } = await run('dataplane/handshake,dataplane/throughput', '');
    for (const result of results) {
      assert.equal(checkOf(result).ok, true, JSON.stringify(checkOf(result)));
      assert.ok(result.held.after_s < 5);
      assert.deepEqual(keptOf(result), []);
    }
  });
});
