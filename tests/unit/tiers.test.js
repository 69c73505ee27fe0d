/** tests/tiers.js: each test file has one tier, and each name belongs to an existing file. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { AT_FULL_SIZE, IN_THE_REST, LONGEST, TIERS, isOf } from '../tiers.js';

const at = (/** @type {string} */ name) => new URL(`../${name}`, import.meta.url);
const NAMES = ['alone', 'known-answers', 'real', 'unit'].flatMap((folder) =>
  readdirSync(at(folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${folder}/${name.replace('.test.js', '')}`),
);

test('each file has one tier; a few run again in the rest', () => {
  for (const name of NAMES) {
    const tiers = [isOf('first', name), isOf('rest', name)].filter(Boolean).length;
    assert.equal(tiers, AT_FULL_SIZE.includes(name) ? 2 : 1, name);
  }
});

test('what needs a CPU for itself is not in the first tier', () => {
  assert.deepEqual(
    NAMES.filter((name) => name.startsWith('alone/') && isOf('first', name)),
    [],
  );
});

test('what is left out of the first tier has a file of the rest in its place', () => {
  for (const [name, larger] of Object.entries(IN_THE_REST))
    assert.deepEqual([isOf('first', name), isOf('rest', larger)], [true, true], name);
});

test('each name is of a file', () => {
  const named = [
    ...Object.values(TIERS).flatMap(({ files }) => files),
    ...LONGEST,
    ...AT_FULL_SIZE,
    ...Object.entries(IN_THE_REST).flat(),
  ];
  assert.deepEqual(
    named.filter((name) => !existsSync(at(`${name}.test.js`))),
    [],
  );
});
