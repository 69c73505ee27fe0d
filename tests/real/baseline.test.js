/** A run becomes the baseline, and the next run is compared with it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { K6, cleanEnvironment, start, temporaryFolder } from '../support/k6.js';
import { withSystems } from '../support/systems.js';
import { asIfUndisturbed, edit } from '../support/undisturbed.js';

const folder = temporaryFolder('baseline');
after(folder.remove);

/** @param {string[]} args */
async function k6(...args) {
  const run = start(K6, ['x', ...args], { env: cleanEnvironment() });
  return { code: await run.ended, ...run.output };
}

test('a kept run bounds the next one, and is refused on another machine', () =>
  withSystems(['pulsar'], boundsTheNext));

/** @param {{ variables: Record<string, string> }} up */
async function boundsTheNext({ variables }) {
  const INGEST = { ...variables, PROFILE: 'smoke', ONLY: 'pulsar/ingest' };
  const first = startBench(INGEST);
  const name = join(folder.path, 'good');
  try {
    assert.ok([0, 3].includes(Number(await first.ended)), `${first.output.stdout}${first.output.stderr}`);
    asIfUndisturbed(first.folder, 'pulsar-ingest');
    const kept = await k6('keep', '--name', 'good', '--to', folder.path, first.folder);
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stdout, /^kept: .*good, 1 kept run\n$/);
  } finally {
    first.remove();
  }

  const second = startBench({ ...INGEST, BASELINE: name });
  try {
    const code = Number(await second.ended);
    assert.ok([0, 3, 99].includes(code), `${code}: ${second.output.stdout}${second.output.stderr}`);
    assert.match(
      second.output.stdout,
      /\nbaseline good, 1 kept run:\n[^]*\nverdict: .*\njudgement: .*compare\.html\n$/,
    );
    assert.ok(second.has('baseline/pulsar-ingest/compare.json'));
  } finally {
    second.remove();
  }

  const [run] = readdirSync(name);
  edit(join(name, run, 'pulsar-ingest.json'), (result) => (result.run.host.cpu_model = 'Another CPU'));
  const third = startBench({ ...INGEST, BASELINE: name });
  try {
    assert.equal(await third.ended, 2);
    assert.equal(third.output.stdout, '');
    assert.match(
      third.output.stderr,
      /^this machine is of another class than the baseline good: .*Another CPU.*\n$/,
    );
    assert.ok(!existsSync(third.folder), 'nothing was begun');
  } finally {
    third.remove();
  }
}
