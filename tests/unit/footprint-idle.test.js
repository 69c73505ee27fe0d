/** The words of footprint/idle for the CPU time of a proxy at rest. tests/known-answers/footprint-idle.test.js has the measurement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statesOf } from '../../lib/footprint/idle.js';
import { idleSections } from '../../lib/footprint/idle-shown.js';

const SECONDS = 2;
const MOST = { cpuMs: 1200, wakeups: 100, bytes: 1000 };

/** @param {number} share of a CPU */
function findingAt(share) {
  const [state] = statesOf({ tunnels: 1, associations: 1 });
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
    unasked: 0,
    answered: 1,
    processes: [process],
    wire: null,
  };
  const [section] = idleSections([{ state, times: [time], missed: 0, bytesEach: [] }], MOST);
  return section.finding;
}

test('a proxy that uses half of a CPU while nothing goes on spins, and one below the bound is quiet', () => {
  assert.equal(findingAt(0.6), 'With nothing at all, the proxy spins: 60 % of a CPU.');
  assert.equal(findingAt(0.4), 'With nothing at all, the proxy uses 24000 ms of CPU a minute.');
  assert.equal(findingAt(0.01), undefined);
});
