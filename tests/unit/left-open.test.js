/** A note holds, by name, the descriptors of the slowest instance. An instance that has needed all of the time is not asked again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9', PROFILE: 'smoke' };
const { heldByRows, noteLeft } = await import('../../lib/left-open.js');

/** Seconds that the next answers take, by instance. @type {Record<string, number>} */
const takes = {};
/** @type {string[]} */
const asked = [];
sidecar.send = (method, path, body) => {
  assert.deepEqual([method, body], ['POST', { settle_s: 5, closes_all: true }]);
  const [, id] = /^\/instances\/(\w+)\/held$/.exec(path) ?? [];
  asked.push(id);
  return id in takes ? { answer: { after_s: takes[id] }, error: null } : { answer: null, error: 'unknown' };
};

const instance = (/** @type {string} */ id, /** @type {string} */ name) => ({
  id,
  name,
  versions: { own: id },
});
const noted = () => heldByRows().map(({ name, versions, held }) => [name, versions.own, held.after_s]);

test('the slowest instance of a name counts', () => {
  Object.assign(takes, { one: 0.5, two: 0.1, three: 0.25, four: 5 });
  noteLeft([]);
  assert.deepEqual(noted(), []);
  noteLeft([instance('one', 'vless'), instance('two', 'trojan'), instance('gone', 'ssh')]);
  noteLeft([instance('three', 'vless'), instance('four', 'trojan')]);
  assert.deepEqual(noted(), [
    ['vless', 'one', 0.5],
    ['trojan', 'four', 5],
  ]);
  asked.length = 0;
  noteLeft([instance('two', 'trojan'), instance('three', 'ssh')]);
  assert.deepEqual(asked, ['three']);
  assert.deepEqual(noted()[1], ['trojan', 'four', 5]);
});
