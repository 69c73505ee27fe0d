import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as numbers from '../../lib/numbers.js';

test('numbers are written as the report of Go writes them', () => {
  const cases = JSON.parse(readFileSync(new URL('../fixtures/numbers.json', import.meta.url), 'utf8'));
  assert.ok(Object.keys(cases).length > 3);
  for (const [name, pairs] of Object.entries(cases))
    for (const [value, text] of pairs) assert.equal(numbers[name](value), text, `${name} of ${value}`);
});

test('as many digits as it takes to see on which side of a bound a value lies', () => {
  const { beside, ms, rate, share } = numbers;
  for (const [got, text] of [
    [beside(ms, 24.2, 25), '24.2'],
    [beside(ms, 25.04, 25), '25.04'],
    [beside(ms, 24.9996, 25), '24.9996'],
    [beside(ms, 25, 25), '25.0'],
    [beside(ms, 1000.4, 1000), '1,000.4'],
    [beside(ms, 2500.00001, 2500), '2,500.00001'],
    [beside(share, 0.0100004, 0.01), '1.00004%'],
    [beside(share, 0.07, 0.07), '7%'],
    [beside(share, 0.00001, 0), '0.001%'],
    [beside(share, 0.989999, 0.99), '98.9999%'],
    [beside(rate, 499.96, 500), '499.96'],
    [beside(rate, 999999.6, 1000000), '999,999.6'],
  ])
    assert.equal(got, text);
});
