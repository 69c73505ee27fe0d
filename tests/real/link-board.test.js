/** The row Link of the boards, on a real InfluxDB with real runs over a link: the row's figures are the link's own counts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { committed } from '../../grafana/generate.js';
import { asking, expanded, hasData, resolve, standing } from '../support/grafana/stand-in.js';
import { startBench } from '../support/bench.js';
import { temporaryFolder } from '../support/k6.js';
import { mayMakeNamespaces } from '../support/namespaces.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { startSidecar } from '../support/sidecar.js';

const MBIT = 20;
/** A link with loss by seed, and with a short queue that drops packets of a full tunnel. */
const LINK = `rtt:20ms,rate:${MBIT}mbit,queue:20p,loss:1%,seed:7`;
/** Packets that may be lost between a run's count at its end and the last sample of its link. */
const LATER = 5;
const PANELS = [1001, 1002, 1003];

const skip = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
const logs = temporaryFolder('link-board');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
/** Where a bench streams to. @type {Record<string, string>} */
let influx;
/** @type {import('../support/grafana/stand-in.js').Ask} */
let ask;

before(async () => {
  sidecar = await startSidecar(logs.path);
  const { outputs, secret_outputs: secrets } = await sidecar.start('influxdb', {});
  influx = { ...outputs, ...secrets };
  ask = asking({
    url: influx.INFLUX,
    username: influx.INFLUX_USERNAME,
    password: influx.INFLUX_PASSWORD,
    database: influx.INFLUX_DATABASE,
  });
});

after(async () => {
  await sidecar?.stop();
  logs.remove();
});

/**
 * Runs a scenario over the link, and asks the row's queries of a board.
 * @param {string} name of the board's file
 * @param {Record<string, string>} variables
 * @param {(run: ReturnType<typeof startBench>, testid: string) => Promise<void>} check
 */
async function withBoard(name, variables, check) {
  const from = Date.now() - 1000;
  const run = startBench({ ...influx, PROFILE: 'smoke', LINK, ...variables });
  try {
    await run.ended;
    const testid = String(run.folder.split('/').at(-1));
    const board = JSON.parse(committed()[name]);
    const { values } = await resolve(board, ask, { testid });
    const row = standing(board, values).filter(({ panel }) => PANELS.includes(panel.id));
    assert.deepEqual(
      row.map(({ panel }) => panel.id),
      PANELS,
    );
    for (const { panel } of row)
      for (const { refId, query } of panel.targets) {
        const asked = expanded(query, values, { from, to: Date.now() + 1000, interval_s: 1 });
        assert.ok(hasData(await ask(asked)), `${panel.title}: query ${refId}: ${asked}`);
      }
    await check(run, testid);
  } finally {
    run.remove();
  }
}

/** Sums, and the most, of one direction of a run. @param {string} testid @param {unknown} direction */
async function streamed(testid, direction) {
  const [{ columns, values }] = await ask(
    `SELECT sum("delivered_bytes") AS "bytes", sum("queue_dropped") AS "queue_dropped", sum("lost") AS "lost", max("queued_bytes") AS "queued", max("rate_bit_s") AS "rate", max("delivered_bytes") AS "most" FROM "link" WHERE "testid" = '${testid}' AND "direction" = '${direction}'`,
  );
  return Object.fromEntries(columns.map((column, index) => [column, Number(values[0][index])]));
}

test('dataplane.json: with LINK the row has what the link of the pair counted', { skip }, async (context) => {
  const variables = { ONLY: 'dataplane/throughput', WRITES: '64', MANY: '1' };
  await withBoard('dataplane.json', variables, async (run, testid) => {
    const counted = rowsOf(sectionOf(run.result('dataplane-throughput'), 'link_carried'));
    assert.equal(counted.length, 2);
    for (const { direction, ...counts } of counted) {
      const found = await streamed(testid, direction);
      const about = `${direction}: ${JSON.stringify(found)}, and the result has ${JSON.stringify(counts)}`;
      context.diagnostic(about);
      for (const kind of ['queue_dropped', 'lost'])
        assert.ok(found[kind] >= counts[kind] && found[kind] <= counts[kind] + LATER, about);
      // Sent bytes without lost bytes.
      assert.ok(found.bytes > 0.8 * counts.sent_bytes && found.bytes <= 1.001 * counts.sent_bytes, about);
      assert.ok(found.queued > 0 && found.queued <= counts.queued_bytes_most, about);
      assert.equal(found.rate, MBIT * 1e6, about);
      // A point covers one second, and a sample may be late.
      assert.ok((found.most * 8) / 1e6 < 1.3 * MBIT, about);
    }
    assert.ok(
      counted.some(({ lost }) => lost > 0) && counted.some(({ queue_dropped: dropped }) => dropped > 0),
      JSON.stringify(counted),
    );
  });
});

test(
  'link.json: links that a scenario starts by itself are in the row, each that was there',
  { skip },
  async (context) => {
    const variables = {
      ONLY: 'link/loss',
      PROTOCOL: 'trojan',
      LOSSES: '0,5',
      RTTS: '50',
      ROUNDS: '1',
      SECONDS: '2',
    };
    await withBoard('link.json', variables, async (_run, testid) => {
      const found = await streamed(testid, 'down');
      context.diagnostic(JSON.stringify(found));
      // Each transfer of two seconds without loss fills the line. Four ways, direct and through the row, are measured at the same time.
      assert.ok(
        (found.most * 8) / 1e6 > 0.5 * MBIT && (found.most * 8) / 1e6 < 4 * 1.3 * MBIT,
        JSON.stringify(found),
      );
      assert.ok(found.lost > 0 && found.queue_dropped > 0, JSON.stringify(found));
    });
  },
);
