/** A proxy of ours has a fault of known size. A scenario over a link measures it: the report has the fault, with the right figure. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, timelyLink, undisturbed } from '../support/timely.js';

const KNOWN = fileURLToPath(new URL('../fixtures/known-hop', import.meta.url));

// The tests wait for seconds on separate links, and use little CPU.
describe('scenarios over a link', { concurrency: true }, () => {
  test(
    'a proxy that holds 1,000 ms of what goes down adds as much to each round trip beside a download, and nothing beside an upload',
    undisturbed(async () => {
      const bench = startBench({
        ONLY: 'link/loaded',
        PROFILE: 'smoke',
        PROTOCOL: 'trojan',
        BASELINE: KNOWN,
        LINK: 'rtt:40ms,rate:50mbit',
      });
      try {
        await bench.ended;
        const result = bench.result('link-loaded');
        timelyLink(result);
        const [up, rest, down] = rowsOf(sectionOf(result, 'loaded'));
        assert.deepEqual([up.of, rest.of, down.of], ['trojan, 1 up', 'trojan, at rest', 'trojan, 1 down']);
        // One queue carries a tunnel's reply and each answer.
        for (const name of ['same_ms', 'kept_ms', 'fresh_ms']) {
          const held = down[name] - (name === 'fresh_ms' ? rest.fresh_ms : rest.kept_ms);
          timely(Math.abs(held - 1000) < 150, `${name}: ${held} ms more than at rest`);
        }
        timely(up.kept_ms - rest.kept_ms < 150, `beside an upload ${up.kept_ms} ms, at rest ${rest.kept_ms}`);
        timely(Math.abs(down.goodput - 8) < 0.4, `${down.goodput} Mbit/s`);
      } finally {
        bench.remove();
      }
    }),
  );

  test(
    'a proxy that closes what is silent for 1 s loses all its tunnels in an outage of 2 s, and is within no bound on the time to recover',
    undisturbed(async () => {
      const folder = temporaryFolder('link-died');
      const environment = JSON.parse(readFileSync(join(ROOT, 'environments/local.json'), 'utf8'));
      environment.systems.link.thresholds = { change: { vmess: { max: 60_000 }, tcp_bbr: { max: 60_000 } } };
      const path = join(folder.path, 'died.json');
      writeFileSync(path, JSON.stringify({ ...environment, name: 'died' }));
      const bench = startBench({
        ONLY: 'link/change',
        PROFILE: 'smoke',
        PROTOCOL: 'vmess',
        BASELINE: KNOWN,
        CHANGES: 'outage',
        LINK: 'rtt:40ms,rate:10mbit',
        ENV: path,
      });
      try {
        await bench.ended;
        const result = bench.result('link-change');
        const [row, ...controls] = rowsOf(sectionOf(result, 'change'));
        assert.equal(row.of, 'vmess: an outage of 2 s');
        timely(row.died === 5, `${row.died} of ${row.tunnels} tunnels died`);
        assert.deepEqual([row.tunnels, row.not_recovered, row.recovered], [5, 1, null]);
        for (const control of controls) {
          timely(control.died === 0 && control.not_recovered === 0, JSON.stringify(control));
        }
        const crossed = result.thresholds.filter((/** @type {any} */ { ok }) => !ok);
        assert.deepEqual(
          crossed.map((/** @type {any} */ { operation }) => operation),
          ['vmess', 'vmess'],
          JSON.stringify(crossed),
        );
        assert.notEqual(result.verdict, 'pass');
      } finally {
        bench.remove();
        folder.remove();
      }
    }),
  );
});
