/** Rows of the matrix inside of limits and over a link, beside a candidate that needs a known amount of memory and files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { CANDIDATE, faulty, matrix } from '../support/candidate.js';
import { ROOT } from '../support/k6.js';
import { mayMakeNamespaces } from '../support/namespaces.js';
import { reasonsOf } from '../support/reasons.js';
import { protocolRow, rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

/** Why this machine or user cannot set limits; false if it can. */
const lacking = (() => {
  try {
    execFileSync(path.join(ROOT, 'bin/sidecar'), ['limits', '--', 'cpu:50%,memory:64mib'], { stdio: 'pipe' });
    return false;
  } catch (error) {
    return String(/** @type {any} */ (error).stderr).trim();
  }
})();

/** @param {string} fault of tests/fixtures/candidate @param {Record<string, string>} variables */
const beside = (fault, variables) => ({
  CANDIDATE: faulty(fault),
  TURNS: '1',
  ...variables,
});

/** @param {any} result @param {string} name of the table @param {string} row */
const lineOf = (result, name, row) => {
  const found = rowsOf(sectionOf(result, name)).find((line) => line.row === row);
  return found ?? assert.fail(`${name} has no line ${row}`);
};

describe('rows of the matrix', { skip: lacking }, () => {
  const killed =
    'a row that is killed for memory says so with the number, and sing-box beside it is only throttled';
  test(
    killed,
    undisturbed(async () => {
      const LIMITS = 'cpu:10%,memory:160mib';
      await matrix(beside('hungry', { LIMITS, PROTOCOL: 'vless,http' }), ({ code, result }) => {
        const { parameters } = result.run;
        assert.deepEqual([parameters.limits, result.limits.system.text], [LIMITS, LIMITS]);
        for (const row of ['vless', 'http']) {
          const { baseline, candidate } = protocolRow(result, row);
          assert.equal(candidate.outcome, 'killed for memory', candidate.detail);
          const line = lineOf(result, 'limits', row);
          assert.deepEqual(
            [line.candidate_limits_killed, line.baseline_limits_killed],
            [1, 0],
            `${row}: ${candidate.detail}; ${baseline.detail}`,
          );
          const [all, throttled] = ['periods', 'throttled_periods'].map(
            (name) => line[`baseline_limits_${name}`].value,
          );
          assert.ok(all > 0 && throttled <= all, JSON.stringify(line));
          // The probes send as fast as they can, and a tenth of a CPU is not enough for that, unless others use the rest.
          timely(throttled > 0, JSON.stringify(line));
          const { value: peak } = line.baseline_limits_peak_mib;
          assert.ok(peak > 5 && peak <= 160, JSON.stringify(line));
        }
        assert.match(
          protocolRow(result, 'vless').candidate.detail,
          /ended before it was ready \(killed for memory 1 time/,
        );
        assert.match(protocolRow(result, 'http').candidate.detail, /^1 time at cpu:10%,memory:160mib/);
        const reasons = reasonsOf(result);
        assert.ok(
          reasons.some((line) => /^http: candidate: killed for memory: 1 time at/.test(line)),
          reasons.join('\n'),
        );
        assert.equal(code, 99);
      });
    }),
  );

  const noLink = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
  test(
    'the footprint of a row over a link, inside of limits, is that of both its ends',
    { skip: noLink },
    async () => {
      const about = { LINK: 'rtt:20ms', LIMITS: 'cpu:100%,memory:512mib' };
      await matrix(beside('keeps', { ...about, PROTOCOL: 'vless' }), ({ result }) => {
        const { link, limits } = result.run.parameters;
        assert.deepEqual([link, limits], [about.LINK, about.LIMITS]);
        const { baseline, candidate } = protocolRow(result, 'vless');
        for (const { outcome, detail, figures } of [baseline, candidate]) {
          assert.equal(outcome, 'measured', detail);
          assert.ok(figures.rtt_ms.median >= 20, JSON.stringify(figures.rtt_ms));
          assert.ok(figures.after_wakeups_per_s && figures.after_left, JSON.stringify(figures));
        }
        const line = lineOf(result, 'footprint', 'vless');
        const more = (/** @type {string} */ name) =>
          line[`candidate_${name}`].value - line[`baseline_${name}`].value;
        const [files, memory] = [more('after_descriptors'), more('after_anon_mib')];
        // The child that holds them also has its standard streams and 10 MiB.
        assert.ok(files >= 395 && files <= 420, `${files} more descriptors`);
        assert.ok(memory >= 95 && memory <= 120, `${memory} MiB more`);
        const { baseline_limits_peak_mib: own, candidate_limits_peak_mib: all } = lineOf(
          result,
          'limits',
          'vless',
        );
        const held = all.value - own.value;
        assert.ok(held >= 90 && held <= 130, `${held} MiB more in the control group`);
      });
    },
  );
});

describe('a row in full', { skip: lacking }, () => {
  test(
    'both sides have growth, start and smallest memory: the server of one holds 100 MiB, and starts Python first',
    undisturbed(async () => {
      await matrix(beside('keeps', { PROFILE: 'full', PROTOCOL: 'socks' }), ({ result }) => {
        const line = lineOf(result, 'costs', 'socks');
        const told = JSON.stringify(line);
        for (const side of ['baseline', 'candidate']) {
          assert.match(line[`${side}_growth`], /^-?[\d.]+ B \(-?[\d.]+ to -?[\d.]+\)$/, told);
          assert.match(line[`${side}_leaks`], /^no$|^cannot tell: /, told);
          for (const end of ['server', 'client', 'first'])
            assert.ok(line[`${side}_${end}_ms`].value > 0, told);
        }
        assert.ok(line.baseline_smallest_mib <= 64, told);
        assert.ok([128, 'more than 128'].includes(line.candidate_smallest_mib), told);
        timely(line.candidate_server_ms.value > line.baseline_server_ms.value, told);
      });
    }),
  );
});

describe('a row as a testbed', { skip: lacking }, () => {
  test('footprint/small finds the memory that a row needs: its server holds 100 MiB', async () => {
    const row = `protocol=vless,security=tls,binary=${CANDIDATE},env=CANDIDATE_FAULT=keeps`;
    const bench = startBench({
      ONLY: 'footprint/small',
      PROFILE: 'smoke',
      TESTBED: `protocols:${row}`,
      LEVELS_MIB: '64,256',
      TURNS: '1',
    });
    try {
      await bench.ended;
      const [small, large] = rowsOf(sectionOf(bench.result('footprint-small'), 'small'));
      assert.deepEqual([small.carries, small.killed, large.carries, large.killed], ['no', 1, 'yes', 0]);
      assert.ok(large.peak_mib.value > 100 && large.peak_mib.value < 150, JSON.stringify(large));
    } finally {
      bench.remove();
    }
  });
});
