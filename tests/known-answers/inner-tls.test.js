/** TLS inside the tunnel: a proxy with a known price has that price, and content that is changed inside TLS fails. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { within } from '../support/faulty.js';
import { ROOT, operation } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const CANDIDATE = join(ROOT, 'tests/fixtures/dear-tls');
/** Fewest pairs that can show a difference. */
const TURNS = '6';
const NEGOTIATED = 'TLS 1.3, TLS13_AES_256_GCM_SHA384';

/** @param {Record<string, string>} variables @param {(result: any) => void} look */
async function measured(variables, look) {
  const bench = startBench({ PROFILE: 'smoke', ONLY: 'protocols/inner-tls', ...variables });
  try {
    await bench.ended;
    assert.ok(bench.has('protocols-inner-tls.json'), bench.output.stdout + bench.output.stderr);
    look(bench.result('protocols-inner-tls'));
  } finally {
    bench.remove();
  }
}

/** @param {any} result @param {string} section @param {Record<string, string>} of columns and their values */
const lineOf = (result, section, of) =>
  rowsOf(sectionOf(result, section)).find((row) =>
    Object.entries(of).every(([name, value]) => row[name] === value),
  ) ?? assert.fail(JSON.stringify({ section, of }));

test('a proxy that pays twice for TLS inside is named, one that pays the same is not, and xray splices', () =>
  measured({ TURNS, CANDIDATE, PROGRAMS: 'xray' }, (result) => {
    for (const figure of ['CPU of the client', 'CPU of the server'])
      for (const direction of ['download', 'upload']) {
        const own = { program: 'candidate', direction, figure };
        const same = lineOf(result, 'inside', { ...own, row: 'vless-tls' });
        within(same.ratio.value, 1, 0.15);
        const twice = lineOf(result, 'inside', { ...own, row: 'vless-vision' });
        // Python itself needs a part of the price, once.
        assert.ok(twice.ratio.value > 1.5 && twice.ratio.value < 2.1, JSON.stringify(twice));
        assert.equal(twice.word, 'costs');
        const vision = lineOf(result, 'vision', own);
        assert.equal(vision.word, 'costs', JSON.stringify(vision));
        assert.equal(vision.pairs, 6);
        const xray = lineOf(result, 'vision', { program: 'xray', direction, figure });
        assert.equal(xray.word, 'saves', JSON.stringify(xray));
        // Uploads vary more.
        assert.ok(xray.ratio.high < (direction === 'download' ? 0.7 : 1), JSON.stringify(xray));
      }
    for (const { program, row, inside, session, ...figures } of rowsOf(sectionOf(result, 'inner_tls'))) {
      assert.equal(session, inside === 'plain' ? null : NEGOTIATED, `${program}, ${row}`);
      for (const name of ['mib_per_s', 'client_s', 'server_s', 'first_byte_ms'])
        assert.ok(figures[name].value > 0, `${program}, ${row}: ${name}`);
    }
  }));

test('a byte that is changed inside TLS fails the run, and has no figures', () =>
  measured({ CANDIDATE, PROTOCOL: 'trojan' }, (result) => {
    assert.equal(result.verdict, 'fail');
    assert.ok(operation(result, 'trojan_candidate_tls').errors.tls > 0);
    assert.deepEqual(operation(result, 'trojan_candidate_plain').errors, {});
    for (const direction of ['download', 'upload'])
      assert.equal(
        lineOf(result, 'inner_tls', { row: 'trojan', inside: 'TLS 1.3', direction }).mib_per_s,
        null,
      );
  }));
