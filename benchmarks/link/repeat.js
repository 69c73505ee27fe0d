/**
 * How well do runs over a link agree if the seed and everything else are the same?
 *
 * `make benchmark-link-repeat` runs it: each row of PROTOCOL over LINK, RUNS times in turn, each time newly started. It prints a
 * table: round trips to the first byte and the losses of a fixed sequence of datagrams, which must be equal, and throughput, whose
 * spread is the error of one run. It exits with 1 if values differ that must be equal.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { countOf } from '../../lib/link/slope.js';
import { repeated, spreadOf } from '../../tests/support/repeat.js';
import { startSidecar } from '../../tests/support/sidecar.js';

/** @typedef {import('../../tests/support/repeat.js').Repeated} Repeated */

const { RUNS = '6', PROTOCOL = 'trojan,hysteria2', LINK = 'far' } = process.env;
const runs = Number(RUNS);
if (!Number.isInteger(runs) || runs < 2 || runs > 100) {
  console.error(`RUNS=${RUNS}: a whole number from 2 to 100 is wanted`);
  process.exit(2);
}
const SIZES = { batches: 4, datagrams: 500, warmup_s: 3, seconds: 6 };

/** @param {number} number @param {number} digits */
const fixed = (number, digits = 1) => number.toFixed(digits);

/** @param {string} row @param {Repeated[]} all */
function lineOf(row, all) {
  const mbit = all.map((one) => one.mbit);
  const { mean, variation, apart } = spreadOf(mbit);
  return [
    row,
    all.map(({ roundTrips }) => (roundTrips === null ? '–' : fixed(roundTrips, 2))).join(' '),
    [...new Set(all.map(({ lost }) => lost.join(' ')))].join(' / '),
    mbit.map((one) => fixed(one)).join(' '),
    fixed(mean),
    `${fixed(variation * 100)} %`,
    `${fixed(apart * 100)} %`,
    String(Math.max(...all.map(({ ownLost }) => ownLost))),
  ];
}

/** @param {Repeated[]} all */
const equal = (all) =>
  new Set(all.map(({ lost }) => lost.join())).size === 1 &&
  new Set(all.map(({ roundTrips }) => countOf(roundTrips))).size === 1;

const HEAD = [
  'row',
  'round trips to the first byte',
  'datagrams lost, up and down by batch',
  'down, Mbit/s',
  'mean',
  'standard deviation',
  'most by least',
  'lost by the link itself',
];
const logs = mkdtempSync(join(tmpdir(), 'windtunnel-link-repeat-'));
const sidecar = await startSidecar(logs);
try {
  /** @type {Map<string, Repeated[]>} */
  const found = new Map(PROTOCOL.split(',').map((row) => [row, []]));
  for (let run = 1; run <= runs; run += 1)
    for (const [row, all] of found) {
      const one = await repeated(sidecar, row, LINK, SIZES);
      if (!one) throw new Error('there can be no link here: it takes /dev/net/tun and root');
      all.push(one);
      console.error(`run ${run} of ${runs}: ${row}: ${JSON.stringify(one)}`);
    }
  console.log(`${LINK}; ${cpus().length} CPUs, ${cpus()[0]?.model.trim()}; load ${fixed(loadavg()[0])}\n`);
  for (const line of [HEAD, HEAD.map(() => '---'), ...[...found].map(([row, all]) => lineOf(row, all))])
    console.log(`| ${line.join(' | ')} |`);
  if (![...found.values()].every(equal)) process.exitCode = 1;
} finally {
  await sidecar.stop();
  rmSync(logs, { recursive: true, force: true });
}
