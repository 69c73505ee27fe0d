/** Two real proxies compared over a link: both have the same link, the comparison reports it, and no other link runs. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ON_ANY_MACHINE, startBench } from '../support/bench.js';
import { compared } from '../support/compare.js';
import { USAGE } from '../support/exit-codes.js';
import { temporaryFolder } from '../support/k6.js';
import { mayMakeNamespaces } from '../support/namespaces.js';
import { protocolRow } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const RTT_MS = 40;
const SEED = 7;
const LINK = `rtt:${RTT_MS}ms,rate:50mbit,seed:${SEED}`;
const ROW = 'vless-tls';
const SCENARIO = 'dataplane/socks-tcp';
const MATRIX = { ...ON_ANY_MACHINE, ONLY: 'protocols/matrix', PROFILE: 'smoke', TURNS: '2', TUNNELS: '10' };
const SMALL = { PROFILE: 'smoke', ROUND_TRIPS: '20' };

const skip = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
/** @type {(() => void)[]} */
const made = [];
after(() => made.forEach((remove) => remove()));

/** @param {any} result @param {string} operation */
const p50Of = (result, operation) =>
  result.operations.find((/** @type {any} */ { name }) => name === operation).latency_ms.p50;

describe('over a link, where all wait for round trips', { concurrency: 3 }, () => {
  test(
    'sing-box and xray over the same link; a run over another one is refused beside them',
    { skip },
    async () => {
      const both = await compared(
        ['--a', 'sing-box-pair', '--b', 'xray-pair', '--scenario', SCENARIO, '--runs', '1'],
        { ...SMALL, LINK },
      );
      made.push(both.remove);
      assert.ok(both.has('compare.json'), both.output.stdout + both.output.stderr);
      const found = both.result();
      assert.deepEqual([found.link.text, found.link.seed, found.parameters.link], [LINK, SEED, LINK]);
      assert.match(both.text('compare.md'), new RegExp(`Link *\\| *${LINK}, seed ${SEED} `));
      const sides = [found.a, found.b];
      assert.deepEqual(
        sides.map(({ testbed }) => testbed.name),
        ['sing-box-pair', 'xray-pair'],
      );
      const files = sides.map(({ runs }) =>
        runs.map((/** @type {any} */ { file }) => join(both.folder, file)),
      );
      for (const file of files.flat()) {
        const { default: result } = await import(file, { with: { type: 'json' } });
        assert.deepEqual([result.run.link.text, result.run.link.seed], [LINK, SEED], file);
        // A proxy that bypasses the link would take less than a millisecond.
        for (const operation of ['tcp', 'tcp_direct'])
          assert.ok(
            p50Of(result, operation) >= RTT_MS,
            `${file}: ${operation}: ${p50Of(result, operation)} ms`,
          );
      }
      // The same result over a slower link.
      const other = temporaryFolder('compare-link');
      made.push(other.remove);
      const slower = join(other.path, 'dataplane-socks-tcp.json');
      const text = readFileSync(files[1][0], 'utf8').replaceAll('rate:50mbit', 'rate:40mbit');
      writeFileSync(slower, text.replace(/("rate_bit_s": ?)50000000/g, '$140000000'));
      const refused = await compared([...files[0], '--', slower]);
      made.push(refused.remove);
      assert.equal(refused.code, USAGE, refused.output.stdout);
      assert.match(
        refused.lines.join('\n'),
        /cannot be compared.*settings of the link.*50000000.*40000000.*parameter link/,
      );
    },
  );

  test('a candidate of the matrix goes over the same link as its baseline', { skip }, async () => {
    const bench = startBench({
      ...MATRIX,
      PROTOCOL: ROW,
      CANDIDATE: 'xray',
      LINK,
    });
    made.push(bench.remove);
    await bench.ended;
    const result = bench.result('protocols-matrix');
    assert.deepEqual([result.run.link.text, result.run.link.seed], [LINK, SEED]);
    const { baseline, candidate } = protocolRow(result, ROW);
    for (const side of [baseline, candidate]) {
      assert.equal(side.outcome, 'measured', JSON.stringify(side));
      assert.ok(side.figures.rtt_ms.min >= RTT_MS, JSON.stringify(side.figures.rtt_ms));
    }
  });

  test(
    'a datagram that the link loses is one datagram, and ends no probe of the matrix',
    { skip },
    undisturbed(async () => {
      const bench = startBench({
        ...MATRIX,
        // A smoke over a link sends no datagrams.
        PROFILE: 'quick',
        TURNS: '1',
        PROTOCOL: 'shadowsocks-2022',
        LINK: 'rtt:40ms,loss:8%',
      });
      try {
        await bench.ended;
        const { outcome, detail, figures } = protocolRow(
          bench.result('protocols-matrix'),
          'shadowsocks-2022',
        ).baseline;
        // The link loses every twelfth packet. A busy machine then delays some tunnels beyond their limit.
        timely(!/^\d+ × timeout/.test(detail), detail);
        assert.equal(outcome, 'measured', detail);
        const { min, max } = figures.udp_lost_share;
        // All datagrams were sent: a datagram that waits at the end of the probe counts as lost, too.
        assert.ok(max < 0.5, `${min} to ${max} lost`);
        // The link loses none of 50 datagrams there and back once in 4,000 runs.
        timely(max > 0, 'the link has lost none');
      } finally {
        bench.remove();
      }
    }),
  );
});
