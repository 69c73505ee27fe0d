/** CPU time that a proxy uses after its answers is found: the total does not depend on when the work is done. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, operation, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('later-cpu');
after(folder.remove);

const BINARY = join(ROOT, 'tests/fixtures/paying-proxy/proxy.js');
const ROUND_TRIPS = 200;
/** CPU time of each piece of work in tests/fixtures/paying-proxy, s. */
const PRICE_S = 0.001;

/** @param {'now' | 'later'} when it pays */
async function measured(when) {
  const variables = { binary: BINARY, arguments: `127.0.0.1:PORT,${when}` };
  const entry = { auth: { mode: 'none' }, testbed: { name: 'own-proxy', variables } };
  const bench = startBench({
    ENV: writeEnvironment(folder.fresh(), entry, 'dataplane'),
    ONLY: 'dataplane/socks-tcp',
    PROFILE: 'quick',
    ROUND_TRIPS: String(ROUND_TRIPS),
  });
  try {
    await bench.ended;
    const report = bench.files().find(({ name }) => name === 'report.md')?.text ?? '';
    return { result: bench.result('dataplane-socks-tcp'), report, shown: bench.output.stdout };
  } finally {
    bench.remove();
  }
}

test(
  'a proxy that works after its answers is as dear as one that works before them',
  undisturbed(async () => {
    const [now, later] = [await measured('now'), await measured('later')];
    const price = ROUND_TRIPS * PRICE_S;
    for (const { result, report, shown } of [now, later]) {
      const { cpu } = result;
      const { success, cpu: own, window_s: measuredFor } = operation(result, 'tcp');
      assert.equal(success, ROUND_TRIPS);
      // Warm-ups cost the same, but do not count.
      assert.ok(cpu.system_s > price, JSON.stringify(cpu));
      assert.ok(cpu.system_s >= own.system_s + cpu.quiet_system_s, JSON.stringify({ cpu, own }));
      assert.equal(cpu.quiet_s, 2);
      assert.ok(cpu.window_s > measuredFor + cpu.quiet_s, JSON.stringify({ cpu, measuredFor }));
      assert.match(report, /CPU of the system over the load and 2 s of quiet after it: \d\.\d\d s/);
      assert.match(shown, /CPU OF THE SYSTEM .*2 S OF QUIET\ndataplane\/socks-tcp +\d\.\d\d s/);
    }
    const ratio = later.result.cpu.system_s / now.result.cpu.system_s;
    // On a crowded machine the quiet period may end before all work is done.
    timely(ratio > 0.6 && ratio < 1.7, `in total one is ${ratio} times as dear as the other`);
    const [atOnce, putOff] = [now, later].map(({ result }) => operation(result, 'tcp').cpu.system_s);
    assert.ok(atOnce > price, `${atOnce} s for round trips that cost ${price} s`);
    assert.ok(putOff < atOnce - 0.6 * price, `${putOff} s for the same that pays later, ${atOnce} s at once`);
    const [paid, owed] = [now, later].map(({ result }) => result.cpu.quiet_system_s);
    assert.ok(
      owed > paid,
      `${owed} s in the quiet period for the one that pays later, ${paid} s for the other`,
    );
  }),
);
