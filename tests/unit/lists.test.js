/** Variables that are lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envCounts, envList } from '../../lib/lists.js';

/** @param {string} text @param {() => unknown} read */
function given(text, read) {
  globalThis.__ENV = { ...globalThis.__ENV, TUNNELS: text };
  try {
    return read();
  } finally {
    delete globalThis.__ENV.TUNNELS;
  }
}

test('a list of whole numbers is read, and a malformed one refused', () => {
  const read = () => envCounts('TUNNELS', '10,100', 4096);
  assert.deepEqual(read(), [10, 100]);
  assert.deepEqual(given('3,3', read), [3, 3]);
  for (const wrong of ['0', '1.5', '4097', '1,x'])
    assert.throws(() => given(wrong, read), /^TUNNELS=.*: whole numbers from 1 to 4096 are wanted$/, wrong);
  const different = () => envCounts('TUNNELS', '10', 4096, { different: true });
  assert.throws(() => given('3,3', different), /^TUNNELS=3,3: different whole numbers/);
});

test('a list of words has each of them once', () => {
  const read = () => envList('TUNNELS', 'up', (item) => item === 'up' || item === 'down', 'up or down');
  assert.deepEqual(given('down,up', read), ['down', 'up']);
  assert.throws(() => given('up,up', read), /^TUNNELS=up,up: up or down, each once$/);
  assert.throws(() => given('left', read), /^TUNNELS=left: up or down, each once$/);
});
