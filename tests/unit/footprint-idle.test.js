/** The words of footprint/idle for the CPU time of a proxy at rest. tests/known-answers/footprint-idle.test.js has the measurement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statesOf } from '../../lib/footprint/idle.js';
import { idleFacts, idleSections } from '../../lib/footprint/idle-shown.js';
import { rowsOf } from '../support/sections.js';

const SECONDS = 2;
const MOST = { cpuMs: 1200, wakeups: 100, bytes: 1000 };

/** The table of one state at a time. @param {number} share of a CPU @param {0 | 1} [index] of the state */
function sectionAt(share, index = 0, most = MOST, ends = {}) {
  const state = statesOf({ tunnels: 1, associations: 1 })[index];
  const process = {
    name: 'proxy',
    role: 'system',
    cpu_s: share * SECONDS,
    voluntary_switches: 0,
    involuntary_switches: 0,
    minor_faults: 0,
    major_faults: 0,
    anon_bytes: 0,
    threads: 1,
    descriptors: 0,
  };
  const time = {
    seconds: SECONDS,
    open: 1,
    ended_s: [],
    ended_there_s: null,
    unasked: 0,
    answered: 1,
    processes: [process],
    wire: null,
    ...ends,
  };
  const [section] = idleSections([{ state, times: [time], missed: 0, bytesEach: [] }], most);
  return section;
}

/** @param {number} share */
const findingAt = (share) => sectionAt(share).finding;

test('what a comparison judges has a least value, and a figure that nobody knows is not one that a state lacks', () => {
  const columns = sectionAt(0, 0, { cpuMs: 3, wakeups: 7, bytes: 0 }).columns.filter(({ judged }) => judged);
  assert.deepEqual(
    columns.map(({ name, least }) => [name, least]),
    [
      ['kib_each', 4],
      ['judged_cpu', 0.3],
      ['judged_wakeups', 0.7],
      ['judged_bytes', 0.1],
    ],
  );
  const cells = (/** @type {0 | 1} */ index) => {
    const [{ kib_each: memory, judged_bytes: bytes }] = rowsOf(sectionAt(0, index));
    return [memory, bytes];
  };
  assert.deepEqual(cells(0), ['—', null], 'what goes past the proxy takes no memory of the proxy');
  assert.deepEqual(cells(1), [null, null], 'no packet could be captured, and no memory was read');
});

test('a proxy that uses half of a CPU while nothing goes on spins, and one below the bound is quiet', () => {
  assert.equal(findingAt(0.6), 'With nothing at all, the proxy spins: 60 % of a CPU.');
  assert.equal(findingAt(0.4), 'With nothing at all, the proxy uses 24000 ms of CPU a minute.');
  assert.equal(findingAt(0.01), undefined);
});

test('a tunnel that ended at the client alone is still open at the far end', () => {
  const life = (/** @type {Record<string, unknown>} */ ends) =>
    rowsOf(sectionAt(0, 1, undefined, ends))[0].life;
  assert.equal(life({ ended_s: [1.23] }), '1 of 1 ended, the first after 1.2 s');
  assert.equal(
    life({ ended_s: [1.23], ended_there_s: [] }),
    '1 of 1 ended, the first after 1.2 s; at the far end 0',
  );
  assert.equal(life({ ended_there_s: [2] }), '0 of 1 ended; at the far end 1, the first after 2.0 s');
});

/** Packets of 100 bytes in the state nothing. @param {number} packets @param {string} profile */
function wireAt(packets, profile) {
  globalThis.__ENV = { PROFILE: profile };
  const [state] = statesOf({ tunnels: 50, associations: 1 });
  const process = { name: 'proxy', role: 'system', cpu_s: 0, voluntary_switches: 0, involuntary_switches: 0 };
  const wire = { packets, bytes: 100 * packets };
  const time = { seconds: 3, open: 50, ended_s: [], ended_there_s: null, unasked: 0, answered: 50, wire };
  /** @type {any} */
  const all = [{ state, times: [{ ...time, processes: [process] }], missed: 0, bytesEach: [] }];
  const facts = idleFacts(all, { ...MOST, bytes: 2000 });
  const fact = facts.find(({ check }) => check === 'nothing at all: bytes a minute on the wire');
  return { found: fact && fact.found.said, finding: idleSections(all, { ...MOST, bytes: 2000 })[0].finding };
}

test('what a proxy sends without any tunnel counts as a whole, and not for each tunnel that goes past it', () => {
  // 2,000 bytes a minute are the bound, and one keep-alive of four packets may be chance.
  assert.equal(wireAt(1, 'quick').found, 2000);
  assert.equal(wireAt(4, 'quick').found, null);
  assert.equal(wireAt(6, 'quick').found, 4000);
  assert.match(
    String(wireAt(6, 'quick').finding),
    /With nothing at all, the proxy sends 120\.0 packets a minute\./,
  );
});

test('a smoke run names what it is too short to judge', () => {
  const { found, finding } = wireAt(4, 'smoke');
  assert.equal(found, undefined);
  assert.equal(
    finding,
    'The smoke run is too short to judge this: nothing at all: bytes a minute on the wire.',
  );
  assert.equal(wireAt(0, 'smoke').found, 0);
});
