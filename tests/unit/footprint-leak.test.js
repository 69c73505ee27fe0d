/** The facts and the table of footprint/leak. tests/unit/footprint-growth.test.js has the decision, by simulation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leakFacts, leakSections } from '../../lib/footprint/leak-shown.js';
import { rowsOf } from '../support/sections.js';

/** A growth of descriptors for each connection. @param {number} low @param {number} high @param {boolean | null} within @param {any} [more] */
const found = (low, high, within, more = {}) => ({
  work: { name: 'connections', unit: 'connection', of: 1, each: 500 },
  resource: { name: 'descriptors', title: 'descriptors', unit: '', of: () => 0 },
  bound: 0.001,
  least: 0.002,
  growth: { slope: (low + high) / 2, low, high, step: 0 },
  within,
  judged: true,
  cycles: [],
  ...more,
});

/** @param {ReturnType<typeof found>} one */
function judged(one, profile = 'quick') {
  globalThis.__ENV = { PROFILE: profile };
  const [section] = leakSections([/** @type {any} */ (one)], { udpTimeoutMs: 0 });
  const [row] = rowsOf(section);
  return { facts: leakFacts([/** @type {any} */ (one)]), section, row };
}

test('a proven leak stays beyond its bound, and a growth within the bound stays within, however small the difference', () => {
  for (const [one, said] of /** @type {[any, number][]} */ ([
    [found(0.0013, 0.002, false), 2],
    [found(0.0002, 0.0009, true), 0],
    [found(-0.0004, 0.001, true), 1],
  ])) {
    const [fact] = judged(one).facts;
    assert.equal(fact.check, 'growth of descriptors per 1,000 connections');
    assert.equal(fact.reported.said, 1);
    assert.equal(fact.found.said, said);
    assert.equal(Number(fact.found.said) > 1, one.within === false);
  }
  const memory = { resource: { name: 'memory', title: 'own memory', unit: 'B', of: () => 0 }, bound: 64.5 };
  const [beyond] = judged(found(64.6, 70, false, memory)).facts;
  assert.ok(Number(beyond.found.said) > Number(beyond.reported.said));
});

test('a run that cannot tell says so, in smoke by a finding, and gives a comparison no figure', () => {
  const unclear = found(0, 0.005, null);
  const { facts, section, row } = judged(unclear);
  assert.equal(facts[0].found.said, null);
  assert.equal(section.finding, undefined);
  assert.equal(row.leaks, 'cannot tell');
  assert.equal(row.judged, null);
  const smoke = judged(unclear, 'smoke');
  assert.deepEqual(smoke.facts, []);
  assert.match(
    String(smoke.section.finding),
    /too short to tell whether these grow: descriptors per connection/,
  );
  assert.equal(judged(found(0, 0.0005, true), 'smoke').facts.length, 1);
});
