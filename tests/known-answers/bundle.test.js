/** `k6 x bundle` prints a script that k6 runs without a bench, with the same result. A script that cannot be one module is refused. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withRelay } from '../support/faulty.js';
import { K6, cleanEnvironment, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { openEntry } from '../support/runners.js';

const folder = temporaryFolder('bundle');
after(folder.remove);

const SCRIPT = 'scripts/pulsar/ingest.js';
const MESSAGES = 40;
const MODULE = './lib/paths.js';

test('k6 runs a bundle from its standard input, and the result has each message', async () => {
  await withRelay({ publishError: { every: 10, status: 503 } }, async (relay) => {
    const pipe = `"$0" x bundle ${SCRIPT} | "$0" run --quiet --no-usage-report --address '' -`;
    const run = start('bash', ['-o', 'pipefail', '-c', pipe, K6], {
      env: {
        ...cleanEnvironment(),
        PROFILE: 'smoke',
        MESSAGES: String(MESSAGES),
        ENV: writeEnvironment(folder.path, openEntry(relay.url)),
        RESULT_DIR: folder.path,
        RUN_ID: 'bundle',
      },
    });
    assert.equal(await run.ended, 99, run.output.stderr);
    const [publish] = JSON.parse(readFileSync(join(folder.path, 'pulsar-ingest.json'), 'utf8')).operations;
    assert.equal(publish.requests, MESSAGES);
    assert.deepEqual(publish.errors, { http_5xx: MESSAGES / 10 });
  });
});

test('a script that cannot be one module is one line with its name', async () => {
  const path = join(folder.path, 'common.js');
  writeFileSync(
    path,
    "const http = require('k6/http'); exports.default = () => http.get('http://127.0.0.1:1')",
  );
  const run = start(K6, ['x', 'bundle', path], { env: cleanEnvironment() });
  assert.equal(await run.ended, 4, run.output.stderr);
  const line = new RegExp(`^${path}: a module opens a file without lib/file.js, or is no ES module\\n$`);
  assert.match(run.output.stderr, line);
});

test('paths that a bundle resolves are those of its modules', async () => {
  const own = join(folder.path, "it's ä#%41");
  mkdirSync(join(own, 'lib'), { recursive: true });
  const resolved =
    "import.meta.resolve(__ENV.NONE ? './a' : '../b'), ['/c/../d', 'file:///e'].map(import.meta.resolve)";
  writeFileSync(join(own, MODULE), `export const paths = [${resolved}].flat();`);
  writeFileSync(
    join(own, 'script.js'),
    `import { paths } from '${MODULE}';
paths.push(import.meta.resolve('./lib/../f'));
export default () => console.log(paths.join(' '));`,
  );
  const printed = [];
  for (const pipe of ['"$0" run -q "$1"', '"$0" x bundle "$1" | "$0" run -q -']) {
    const options = "--no-usage-report --no-summary --address '' --log-format raw";
    const run = start('bash', ['-o', 'pipefail', '-c', `${pipe} ${options}`, K6, join(own, 'script.js')], {
      env: cleanEnvironment(),
    });
    assert.equal(await run.ended, 0, run.output.stderr);
    printed.push(run.output.stderr);
  }
  assert.match(printed[0], /%C3%A4%23%2541\/b file:\/\/\/d file:\/\/\/e file:\S+41\/f\n/);
  assert.equal(printed[1], printed[0]);
});
