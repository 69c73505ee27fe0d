/** Every scenario of the relay and the panel with two runners, closed and open loops: the real relay, the reference panel. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT } from '../support/k6.js';
import { assertTornDown } from '../support/runners.js';
import { withSystems } from '../support/systems.js';

const SYSTEMS = ['pulsar', 'panel'];
/** The scenarios that take CLIENTS. One virtual user runs each other one once, and a run with two runners is refused. @type {string[]} */
const ALL = JSON.parse(readFileSync(join(ROOT, 'k6/lists/variables.json'), 'utf8'))
  .find((/** @type {any} */ { name }) => name === 'CLIENTS')
  .of.filter((/** @type {string} */ name) => SYSTEMS.includes(name.split('/')[0]));
/** One scenario of each kind that sends at a rate, in profile full and above. */
const OPEN = ['pulsar/ingest', 'panel/users-list', 'panel/mixed'];
/** Each runner needs a client. A list of 2,000 users takes longer than all other requests, and tests nothing more of runners. */
const VARIABLES = { RUNNERS: '2', CLIENTS: '4', EXISTING: '100' };

/** As much of the panel as runners need to share. */
const SMALL = { USERS: '20', REQUESTS: '100', PAGES: '40' };

/** The requests that one runner would send, for some operations of a smoke run. @type {Record<string, [string, number]>} */
const OF_ONE = {
  'pulsar/ingest': ['publish', 200],
  'pulsar/concurrent': ['publish', 200],
  'pulsar/delivery': ['deliver', 800],
  'panel/users-create': ['create', 20],
};

/** A short load has few samples, and is late beside other tests: neither depends on runners. */
const OF_A_SHORT_LOAD = ['samples', 'dropped', 'generator', 'machine'];

const sum = (/** @type {number[]} */ values) => values.reduce((all, one) => all + one, 0);

/** @param {any} result @param {string} name */
function assertOfTwo(result, name) {
  const faults = result.reasons.filter((/** @type {any} */ { kind }) => !OF_A_SHORT_LOAD.includes(kind));
  assert.deepEqual([faults, result.verdict === 'fail'], [[], false], name);
  assert.equal(result.run.parameters.runners, 2, name);
  for (const row of result.operations)
    assert.deepEqual([row.errors, row.requests], [{}, row.success], `${name}: ${row.name}`);
  for (const { ok, detail } of result.integrity ?? []) assert.ok(ok, `${name}: ${detail}`);
  for (const check of result.validity.filter((/** @type {any} */ { kind }) =>
    ['interrupt', 'rounds', 'runner'].includes(kind),
  ))
    assert.ok(check.ok, `${name}: ${check.check}: ${check.detail}`);
  const shares = result.runners.map((/** @type {any} */ { share }) => share);
  assert.equal(shares.length, 2, name);
  for (const share of shares) assert.ok(share > 0.2 && share < 0.8, `${name}: ${shares}`);
}

/**
 * Each system is borrowed for its own scenarios alone, so that others need not wait for it longer.
 * @param {string[]} names @param {Record<string, string>} variables @param {(name: string, result: any) => void} [more]
 */
async function assertAll(names, variables, more = () => {}) {
  for (const system of SYSTEMS) {
    const own = names.filter((name) => name.startsWith(`${system}/`));
    await withSystems([system], (up) => assertOf(own, { ...up.variables, ...variables }, more));
  }
}

/** @param {string[]} names @param {Record<string, string>} variables @param {(name: string, result: any) => void} more */
async function assertOf(names, variables, more) {
  const bench = startBench({ ...VARIABLES, ONLY: names.join(','), ...variables });
  try {
    const code = await bench.ended;
    const said = `${bench.output.stdout}${bench.output.stderr}`;
    assert.ok([0, 3].includes(Number(code)), `exit code ${code}: ${said}`);
    for (const name of names) {
      const result = bench.result(name.replace('/', '-'));
      assertOfTwo(result, name);
      assert.equal(result.run.id, bench.folder.split('/').at(-1));
      more(name, result);
    }
    for (const name of names)
      for (const file of ['runner-1.record', 'runner-2.record'])
        assert.ok(bench.has(`${name.replace('/', '-')}.${file}`), `${name}: ${file}`);
    assertTornDown(bench);
  } finally {
    bench.remove();
  }
}

test('a fixed number of requests, rounds, users: as much as of one runner, and all of it', async () => {
  assert.ok(ALL.length >= 14, ALL.join());
  await assertAll(ALL, { PROFILE: 'smoke', ...SMALL }, (name, { validity, operations, runners }) => {
    const [operation, requests] = OF_ONE[name] ?? [];
    if (operation) {
      const row = operations.find((/** @type {any} */ one) => one.name === operation);
      assert.deepEqual([row.requests, row.success, row.errors], [requests, requests, {}], name);
      assert.deepEqual(
        runners.map((/** @type {any} */ { number, segment, share }) => [number, segment, share]),
        [
          [1, '0:1/2', 0.5],
          [2, '1/2:1', 0.5],
        ],
        name,
      );
    }
    const { detail } = validity.find((/** @type {any} */ { check }) => check === 'complete');
    const [, done, planned] = /^(\d+) of (\d+) iterations$/.exec(detail) ?? [];
    assert.ok(Number(done) > 0 && done === planned, `${name}: ${detail}`);
  });
});

test('closed loops, then open ones at a rate', async () => {
  const [rate, seconds] = [40, 3];
  const planned = 0.75 * rate * seconds;
  const variables = { PROFILE: 'full', DURATION: `${seconds}s`, RATE: String(rate) };
  await assertAll(OPEN, variables, (name, { operations, runners }) => {
    const open = operations.filter((/** @type {any} */ { loop }) => loop === 'open');
    const sent = sum(open.map((/** @type {any} */ { requests }) => requests));
    const dropped = sum(runners.map((/** @type {any} */ { dropped_iterations: own }) => own));
    // A busy machine may drop iterations in the first quarter, which is not measured.
    const told = `${name}: ${sent} requests sent, ${dropped} dropped, ${planned} planned`;
    assert.ok(sent <= planned + 2 && sent + dropped >= planned - 2, told);
  });
});

test('a scenario with fewer clients than runners says so before anything starts, whichever it is', async () => {
  for (const name of ['pulsar/delivery', 'panel/users-list']) {
    const bench = startBench({ PROFILE: 'smoke', ONLY: name, RUNNERS: '3', CLIENTS: '2' });
    try {
      assert.equal(await bench.ended, 2, bench.output.stdout);
      assert.match(
        bench.output.stderr,
        new RegExp(`^${name} has 2 clients in a loop, but the run has 3 runners, .*\n$`),
      );
      assert.equal(bench.output.stdout, '');
    } finally {
      bench.remove();
    }
  }
});
