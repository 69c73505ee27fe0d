/** The user's own builds: an interpreter and a folder of sources in place of make's, and the errors in them. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { ROOT, operation, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('own-build');
after(folder.remove);
const PYTHON = join(ROOT, '.venv/pulsar-relay/bin/python');

/** @param {string} TESTBED */
const ingest = (TESTBED) => startBench({ ONLY: 'pulsar/ingest', TESTBED, MESSAGES: '40' });

/** @param {string} TESTBED @param {string} version of the relay, as the result has it */
async function runsAs(TESTBED, version) {
  const bench = ingest(TESTBED);
  try {
    assert.ok([0, 3].includes(Number(await bench.ended)), bench.output.stdout + bench.output.stderr);
    const result = bench.result('pulsar-ingest');
    assert.equal(operation(result, 'publish').success, 40);
    assert.match(result.run.versions['pulsar-relay'], new RegExp(`^${version}$`));
    return result.run.versions['pulsar-relay'];
  } finally {
    bench.remove();
  }
}

test("the relay runs by an interpreter of one's own", async () => {
  await runsAs(`pulsar-relay:python=${PYTHON}`, '0\\.2\\.1');
});

test('the relay runs from a folder of sources, whose digest is its version', async () => {
  const lib = join(ROOT, '.venv/pulsar-relay/lib');
  const packages = join(lib, readdirSync(lib)[0], 'site-packages/pulsar_relay');
  cpSync(packages, join(folder.path, 'pulsar_relay'), { recursive: true });
  await runsAs(`pulsar-relay:source=${folder.path}`, 'source files [0-9a-f]{12}');
});

for (const [testbed, code, line] of /** @type {[string, number, RegExp][]} */ ([
  ['python=venv/bin/python', 2, /variable python: is venv\/bin\/python, and must be an absolute path/],
  ['python=/no/such/python', 2, /variable python: is \/no\/such\/python, and there is no such file/],
  [
    `python=${ROOT}.venv/panel/bin/python`,
    4,
    /No module named 'pulsar_relay'; give the Python of an environment/,
  ],
  [
    `source=${ROOT}docs`,
    4,
    /needs .*docs\/pulsar_relay\/main\.py, which does not exist; let source be the folder/,
  ],
  [`python=${PYTHON},version=0.2.0`, 4, /python and version are both given; give one of them/],
  [
    'version=9.9.9',
    4,
    /needs .*\.venv\/pulsar-relay@9\.9\.9\/\.installed, which does not exist; run `make \.venv\/pulsar-relay@9/,
  ],
])) {
  test(`${testbed.replace(ROOT, '')} is refused in one line`, async () => {
    const bench = ingest(`pulsar-relay:${testbed}`);
    try {
      assert.equal(await bench.ended, code);
      const lines = errorLines(bench.output);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0], line);
    } finally {
      bench.remove();
    }
  });
}
