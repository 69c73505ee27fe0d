/** Ways measured in lockstep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, together } from '../../lib/link/lockstep.js';

/** @typedef {import('../../lib/link/lockstep.js').Steps<string>} Steps */

/** A fake machine that records what it should measure at once. */
const machine = () => {
  /** @type {unknown[][]} */
  const asked = [];
  const measure = (/** @type {any[]} */ specs) => {
    asked.push(specs.map(({ kind }) => kind));
    return /** @type {any[]} */ (specs.map(({ kind }) => `${kind}!`));
  };
  return { asked, measure };
};

/** @param {string} name @param {number[]} counts of the probes of each step @returns {Steps} */
function* way(name, ...counts) {
  const got = [];
  for (const [step, count] of counts.entries())
    got.push(...(yield Array.from({ length: count }, (_, index) => ({ kind: `${name}${step}${index}` }))));
  return got.join(' ');
}

test('each step of all ways is measured at once, and each way is given its own', () => {
  const { asked, measure } = machine();
  const results = run(together([way('a', 2, 1), way('b', 1), way('c', 1, 1, 1)]), measure);
  assert.deepEqual(asked, [['a00', 'a01', 'b00', 'c00'], ['a10', 'c10'], ['c20']]);
  assert.deepEqual(results, ['a00! a01! a10!', 'b00!', 'c00! c10! c20!']);
});

test('an empty step lets the others come to the same place, and asks for nothing', () => {
  const { asked, measure } = machine();
  run(together([way('a', 0, 1), way('b', 0, 1)]), measure);
  assert.deepEqual(asked, [['a10', 'b10']]);
});

test('where one way fails, the others stop what they started', () => {
  /** @type {string[]} */
  const stopped = [];
  /** @param {string} name @returns {Steps} */
  function* started(name) {
    try {
      yield [/** @type {any} */ ({ kind: name })];
      if (name === 'b') throw new Error('b is gone');
      yield [/** @type {any} */ ({ kind: name })];
      return name;
    } finally {
      stopped.push(name);
    }
  }
  const { measure } = machine();
  assert.throws(() => run(together(['a', 'b', 'c'].map(started)), measure), /b is gone/);
  assert.deepEqual(stopped.sort(), ['a', 'b', 'c']);
});

test('a failure of the machine stops them too', () => {
  let stopped = false;
  /** @returns {Steps} */
  function* started() {
    try {
      yield [/** @type {any} */ ({ kind: 'a' })];
      return 'a';
    } finally {
      stopped = true;
    }
  }
  const broken = () => {
    throw new Error('no sidecar');
  };
  assert.throws(() => run(together([started()]), broken), /no sidecar/);
  assert.equal(stopped, true);
});
