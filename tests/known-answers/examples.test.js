/**
 * The scripts that docs/how-to/add-a-scenario.md and docs/tutorials/first-scenario.md show, as they stand there, against a relay of known
 * faults.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { within, withRelay } from '../support/faulty.js';
import { ROOT, operation, runScenario } from '../support/k6.js';
import { assertVerdict } from '../support/verdict.js';
import { undisturbed } from '../support/timely.js';

const page = (/** @type {string} */ name) => readFileSync(join(ROOT, 'docs', name), 'utf8');
const examples = [
  ...page('how-to/add-a-scenario.md').matchAll(/^```js\n([^]*?)^```$/gm),
  ...page('tutorials/first-scenario.md').matchAll(/^cat > \S+\.js <<'END'\n([^]*?)^END$/gm),
].map(([, script]) => script);

/**
 * The result of an example. A name with _ is no scenario for anybody else meanwhile.
 * @param {string} name that the example gives itself
 * @param {string} url
 * @param {Record<string, string>} variables
 */
async function run(name, url, variables) {
  const script = examples.find((text) => text.includes(`name: '${name}'`)) ?? '';
  const own = `_example-${name}`;
  const path = join(ROOT, `scripts/pulsar/${own}.js`);
  writeFileSync(path, script.replace(`name: '${name}'`, `name: '${own}'`));
  try {
    return await runScenario(own, url, variables);
  } finally {
    rmSync(path, { force: true });
  }
}

test('the health check runs', async () => {
  await withRelay({}, async (relay) => {
    const { code, result } = await run('health', relay.url, { REQUESTS: '40' });
    assert.equal(operation(result, 'get').success, 40);
    assertVerdict(result, 'pass', code);
  });
});

test(
  'the WebSocket scenario reports an injected delay, and removes its topics',
  undisturbed(async () => {
    await withRelay({ delayMs: 120 }, async (relay) => {
      const { code, result } = await run('own-message', relay.url, { MESSAGES: '25' });
      const { success, latency_ms: latency } = operation(result, 'receive');
      assert.equal(success, 25);
      within(latency.p50, 121, 0.15);
      assertVerdict(result, 'pass', code);
      assert.equal(relay.truth.topics.size, 0);
    });
  }),
);

test('the WebSocket scenario counts what is refused and what never comes, by kind', async () => {
  await withRelay({ publishError: { every: 10, status: 503 }, dropEvery: 15 }, async (relay) => {
    const { code, result } = await run('own-message', relay.url, { MESSAGES: '20', CLIENTS: '1' });
    const { requests, success, errors } = operation(result, 'receive');
    // Of 18 that were taken the fifteenth never comes.
    assert.deepEqual([requests, success, errors], [20, 17, { http_5xx: 2, timeout: 1 }]);
    assertVerdict(result, 'fail', code);
  });
});
