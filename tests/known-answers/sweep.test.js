/** A sweep over a fake candidate: a value that carries nothing has lost everything, and a refused value does not affect others. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, operation } from '../support/k6.js';
import { faultsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const LEAKS = join(ROOT, 'tests/fixtures/leaking-queue');
const VARIABLE = 'udp_session_recv_channel_capacity';

/** @param {string} values @param {(run: { result: any, report: string }) => void} check */
async function sweep(values, check) {
  const bench = startBench({
    ONLY: 'dataplane/queue-sweep',
    TESTBED: `socks-pair:binary=${LEAKS},${VARIABLE}=65535`,
    SWEEP: VARIABLE,
    VALUES: values,
    DATAGRAMS: '200',
  });
  try {
    await bench.ended;
    const report = spawnSync('bin/k6', ['x', 'report', bench.folder], { cwd: ROOT, encoding: 'utf8' });
    assert.equal(report.stderr, '');
    const text = bench.files().find(({ name }) => name === 'report.md')?.text ?? report.stdout;
    check({ result: bench.result('dataplane-queue-sweep'), report: text });
  } finally {
    bench.remove();
  }
}

test(
  'a queue that ends each association at once has lost all, and says why',
  undisturbed(async () => {
    await sweep('1,65535', ({ result, report }) => {
      const [one, most] = rowsOf(sectionOf(result, 'sweep'));
      // The program ends before the first answer is read, or right after it.
      assert.ok(one.lost_share.low >= 0.99, JSON.stringify(one));
      // An answer that a busy machine delays beyond its timeout counts as lost, too.
      timely(most.lost_share.high === 0, JSON.stringify(most));
      const { requests, success, errors } = operation(result, 'value_1');
      assert.ok(requests === 400 && success <= 4, `${success} of ${requests}`);
      assert.ok(errors.control_closed > 0, JSON.stringify(errors));
      assert.equal(result.verdict, 'fail');
      assert.match(report, /\n\| 1 \| 2 \|.*\| (100|99\.\d+)% \|\n/);
    });
  }),
);

test('a value that the system refuses is named, and the others are measured', async () => {
  await sweep('512,65535,65536', ({ result, report }) => {
    const [first, second, refused] = rowsOf(sectionOf(result, 'sweep'));
    assert.deepEqual([first.runs, second.runs, refused.runs], [2, 2, 0]);
    const [refusal, ...others] = sectionOf(result, 'sweep').notes.filter((/** @type {string} */ note) =>
      /refuses/.test(note),
    );
    assert.match(refusal, /is 65536, and must be an integer from 1 to 65535/);
    assert.deepEqual(others, []);
    assert.deepEqual(faultsOf(result), []);
    assert.equal(operation(result, 'value_65536').requests, 0);
    assert.match(report, /The system refuses udp_session_recv_channel_capacity = 65536: /);
  });
});
