/** The trend of a real run, in a real InfluxDB: the board shows it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { committed } from '../../grafana/generate.js';
import { asking, expanded, hasData, resolve, standing } from '../support/grafana/stand-in.js';
import { startBench } from '../support/bench.js';
import { K6, ROOT, cleanEnvironment, temporaryFolder } from '../support/k6.js';
import { startSidecar } from '../support/sidecar.js';
import { withSystems } from '../support/systems.js';
import { asIfUndisturbed } from '../support/undisturbed.js';

/** Otava is installed by `make test`. */
const skip = existsSync(join(ROOT, '.venv/trend/bin/otava')) ? false : 'make .venv/trend/.installed';
/** The table of changes, which is empty. */
const CHANGES = 901;
const folder = temporaryFolder('trend-real');
const board = JSON.parse(committed()['trend.json']);
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
/** @type {import('../support/grafana/stand-in.js').Ask} */
let ask;
/** @type {ReturnType<typeof startBench>} */
let run;
/** @type {ReturnType<typeof spawnSync>} */
let told;
const from = Date.now() - 1000;

before(async () => {
  if (skip) return;
  sidecar = await startSidecar(folder.path);
  const { outputs, secret_outputs: secrets } = await sidecar.start('influxdb', {});
  ask = asking({
    url: outputs.INFLUX,
    username: outputs.INFLUX_USERNAME,
    password: secrets.INFLUX_PASSWORD,
    database: outputs.INFLUX_DATABASE,
  });
  await withSystems(['pulsar'], async ({ variables }) => {
    run = startBench({ ...variables, ONLY: 'pulsar/ingest', PROFILE: 'smoke' });
    await run.ended;
  });
  asIfUndisturbed(run.folder, 'pulsar-ingest');
  const args = ['x', 'trend', '--stream', '--history', folder.path, run.folder];
  told = spawnSync(K6, args, { encoding: 'utf8', env: { ...cleanEnvironment(), ...outputs, ...secrets } });
});

after(async () => {
  run?.remove();
  await sidecar?.stop();
  folder.remove();
});

test('a run is a point of the history of its machine, with a page', { skip }, () => {
  assert.equal(told.status, 0, `${told.stdout}${told.stderr}`);
  assert.match(String(told.stdout), /1 of 1 points added/);
  assert.match(String(told.stdout), /This holds for independent points/);
  const files = readdirSync(folder.path);
  for (const ending of ['.jsonl', '.html', '.bencher.json', '.smaller.json', '.bigger.json'])
    assert.ok(
      files.some((name) => name.endsWith(ending)),
      `${ending}: ${files}`,
    );
});

test('trend.json: each metric of the history has its graph', { skip }, async () => {
  const { values } = await resolve(board, ask);
  assert.deepEqual([values.system, values.scenario], [['pulsar'], ['ingest']]);
  assert.ok(values.metric.length > 2, JSON.stringify(values));
  const time = { from, to: Date.now() + 1000, interval_s: 10 };
  const drawn = new Set();
  for (const { panel, values: own } of standing(board, values)) {
    if (panel.id === CHANGES) continue;
    for (const { query } of panel.targets) {
      const found = await ask(expanded(query, own, time));
      if (hasData(found)) for (const { tags } of found) drawn.add(tags?.metric);
    }
  }
  for (const metric of values.metric) assert.ok(drawn.has(metric), `${metric}: ${[...drawn]}`);
});
