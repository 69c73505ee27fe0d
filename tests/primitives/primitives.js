/** The real workers, once, in smoke mode. Not `*.test.js`: `make test` does not build them, `make test-primitives` does. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { descendants, isAlive, until } from '../support/processes.js';

const CIPHERS = ['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305'];
const SIZES = [64, 512, 1460, 16384, 65536, 262144, 1048576];
const PASS = 0;
const INCONCLUSIVE = 3;

const folder = mkdtempSync(join(tmpdir(), 'windtunnel-primitives-test-'));
/** @type {{ code: number, stdout: string, report: any }} */
let run;

/** @param {string[]} args @returns {Promise<{ code: number, stdout: string, stderr: string }>} */
const command = (...args) =>
  new Promise((resolve) => {
    execFile(args[0], args.slice(1), { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });

/** @param {string} out folder of the result @param {string[]} more arguments */
async function measure(out, ...more) {
  const smoke = ['bin/sidecar', 'bench', 'primitives', '--mode', 'smoke', '--out', out];
  const { code, stdout } = await command(...smoke, ...more);
  return { code, stdout, report: JSON.parse(readFileSync(join(out, 'primitives.json'), 'utf8')) };
}

before(async () => {
  run = await measure(folder);
});

after(() => rmSync(folder, { recursive: true }));

/** @param {Record<string, unknown>} key @returns {any} */
function row(key) {
  const found = run.report.measurements.filter((/** @type {any} */ one) =>
    Object.entries(key).every(([name, value]) => one[name] === value),
  );
  assert.equal(found.length, 1, `${JSON.stringify(key)}: ${found.length} rows`);
  return found[0];
}

test('every cipher is measured in both directions, at every size, by every implementation', () => {
  for (const subject of CIPHERS)
    for (const operation of ['encrypt', 'decrypt'])
      for (const implementation of ['ring', 'rustcrypto', 'portable'])
        for (const bytes of SIZES)
          assert.ok(row({ subject, operation, implementation, bytes }).time_ns.median > 0);
});

/** @param {any} report */
const failedChecks = (report) =>
  report.validity
    .filter((/** @type {any} */ { ok }) => ok === false)
    .map((/** @type {any} */ one) => one.check);

/** Where the same work differs from itself, nothing is known of twice the work. @param {any} report */
function isTwiceWrong(report) {
  const names = failedChecks(report);
  return names.includes('twice the work') && !names.includes('the same work again');
}

test('the measurement knows its own known answers; only a busy machine may make it inconclusive', async () => {
  assert.equal(run.code, failedChecks(run.report).length === 0 ? PASS : INCONCLUSIVE);
  // A neighbour may slow one of the three measurements, but not in each of several runs.
  let { report } = run;
  for (let again = 0; isTwiceWrong(report) && again < 5; again += 1)
    ({ report } = await measure(join(folder, `control-${again}`), '--only', 'control'));
  assert.ok(!isTwiceWrong(report), JSON.stringify(report.validity));
  // Their measures are those of another moment, or of a cache that holds the bytes but not their copy.
  const odd = run.report.measurements.filter(
    (/** @type {any} */ { implausible }) =>
      implausible && !/empty loop|copy of the same bytes/.test(implausible),
  );
  assert.deepEqual(odd, []);
  assert.ok(run.report.known_answers >= 60, `${run.report.known_answers} known answers`);
});

test('more bytes take longer, so nothing was optimised away', () => {
  const cases = [
    ...CIPHERS.map((subject) => ({ section: 'aead', subject, operation: 'encrypt', implementation: 'ring' })),
    ...CIPHERS.map((subject) => ({
      section: 'aead',
      subject,
      operation: 'decrypt',
      implementation: 'rustcrypto',
    })),
    { section: 'hash', subject: 'blake3', operation: 'hash', implementation: 'blake3' },
    { section: 'hash', subject: 'sha-256', operation: 'hash', implementation: 'portable' },
    { section: 'aead', subject: 'memory', operation: 'copy', implementation: 'memcpy' },
  ];
  for (const key of cases) {
    const small = row({ ...key, bytes: 64 }).time_ns.median;
    const large = row({ ...key, bytes: 1048576 }).time_ns.median;
    // Work that was optimised away takes the same time at every size; a neighbour may slow one of the two twentyfold.
    assert.ok(
      large > 10 * small,
      `${JSON.stringify(key)}: 16,384 times the bytes took ${large / small} times as long`,
    );
  }
});

test('portable code is portable: with AES in the CPU it is several times slower', (t) => {
  if (!run.report.cpu_features.includes('aes')) {
    t.skip('this CPU has no AES');
    return;
  }
  for (const subject of ['aes-128-gcm', 'aes-256-gcm']) {
    const median = (/** @type {number} */ bytes, /** @type {string} */ implementation) =>
      row({ subject, operation: 'encrypt', bytes, implementation }).time_ns.median;
    const ratios = SIZES.map((bytes) => median(bytes, 'portable') / median(bytes, 'rustcrypto'));
    // The middle one of seven: a neighbour slows few of them.
    assert.ok(ratios.toSorted((a, b) => a - b)[3] > 2, `${subject}: ${ratios}`);
  }
});

test('the result is valid, and its tables are those of the reference document', async () => {
  const { code, stdout, stderr } = await command('bin/k6', 'x', 'validate', join(folder, 'primitives.json'));
  assert.equal(code, 0, stdout + stderr);
  assert.equal(readFileSync(join(folder, 'primitives.md'), 'utf8').trim(), run.stdout.trim());
  for (const title of [
    'Encryption throughput',
    'Decryption throughput',
    'Overhead of encryption, 64 KiB',
    'Realistic packet sizes',
    'Rule sets',
    'The physical limit',
  ])
    assert.match(run.stdout, new RegExp(`^## ${title}`, 'm'));
});

test('which cipher is the faster one is added by k6, and one round cannot tell', async () => {
  const { code, stdout, stderr } = await command('bin/k6', 'x', 'primitives', folder);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^## AES-256-GCM against ChaCha20-Poly1305$/m);
  const { winners } = JSON.parse(readFileSync(join(folder, 'primitives.json'), 'utf8'));
  assert.ok(winners.length > 0 && winners.length <= 42, `${winners.length} rows`);
  for (const { winner, rounds, rounds_to_tell: more } of winners)
    assert.deepEqual([winner, rounds, more === null || more > 1], [null, 1, true]);
  const valid = await command('bin/k6', 'x', 'validate', join(folder, 'primitives.json'));
  assert.equal(valid.code, 0, valid.stderr);
});

test('a result that says nonsense is refused', async () => {
  const path = join(folder, 'nonsense.json');
  writeFileSync(path, JSON.stringify({ ...run.report, verdict: 'fast' }));
  const { code, stdout, stderr } = await command('bin/k6', 'x', 'validate', path);
  assert.equal(code, 2);
  assert.match(stdout + stderr, /verdict/);
});

test('nothing runs on, and nothing is left, when the sidecar is killed', async () => {
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const child = spawn('bin/sidecar', ['bench', 'primitives', '--mode', 'full', '--only', 'hash'], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: temporary },
  });
  const worker = await until(
    () => descendants(Number(child.pid)).find((process) => process.command.includes('--section')),
    'the worker',
  );
  child.kill('SIGKILL');
  await until(() => !isAlive(worker.pid), 'the end of the worker');
  await until(() => readdirSync(temporary).length === 0, 'the end of its folder');
});
