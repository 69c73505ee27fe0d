/** The real workers, once, in smoke mode. Not `*.test.js`: `make test` does not build them, `make test-primitives` does. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { INCONCLUSIVE, PASS } from '../support/exit-codes.js';
import { descendants, isAlive, until } from '../support/processes.js';

const CIPHERS = ['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305'];
const SIZES = [64, 512, 1460, 16384, 65536, 262144, 1048576];

const folder = mkdtempSync(join(tmpdir(), 'windtunnel-primitives-test-'));
/** @type {{ code: number, stdout: string, report: any, result: any }} the measurements, and the verdict on them */
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
  const smoke = ['bin/sidecar', 'bench', 'primitives', '--mode', 'smoke', '--out', join(out, 'evidence')];
  const measured = await command(...smoke, ...more);
  assert.equal(measured.code, 0, measured.stderr);
  const { code, stdout, stderr } = await command('bin/k6', 'x', 'primitives', out);
  assert.equal(stderr, '');
  const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(out, name), 'utf8'));
  return { code, stdout, report: read('evidence/primitives.json'), result: read('primitives-cpu.json') };
}

before(async () => {
  run = await measure(folder);
});

after(() => rmSync(folder, { recursive: true }));

/** @param {string} wanted @returns {any} */
const sectionOf = (wanted) => run.result.sections.find((/** @type {any} */ { name }) => name === wanted);

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
        for (const bytes of SIZES) assert.ok(median(row({ subject, operation, implementation, bytes })) > 0);
});

/** The median of the only round in smoke mode. @param {any} measurement */
const median = ({ rounds }) => rounds[0].median;

/** @param {any} result */
const failedChecks = (result) =>
  result.validity
    .filter((/** @type {any} */ { ok }) => ok === false)
    .map((/** @type {any} */ one) => one.check);

/** If the same work differs from itself, the check of twice the work proves nothing. @param {any} result */
function isTwiceWrong(result) {
  const names = failedChecks(result);
  return names.includes('twice the work') && !names.includes('the same work again');
}

test('the measurement knows its own known answers; only a busy machine may make it inconclusive', async () => {
  assert.equal(run.code, failedChecks(run.result).length === 0 ? PASS : INCONCLUSIVE);
  // A neighbour may slow one of the three measurements, but not in every run.
  let { result } = run;
  for (let again = 0; isTwiceWrong(result) && again < 5; again += 1)
    ({ result } = await measure(join(folder, `control-${again}`), '--only', 'control'));
  assert.ok(!isTwiceWrong(result), JSON.stringify(result.validity));
  // Their references were measured at another moment, or the cache held the bytes but not their copy.
  const why = sectionOf('not_plausible')?.rows.map((/** @type {any[]} */ cells) => cells.at(-1)) ?? [];
  const odd = why.filter((/** @type {string} */ text) => !/empty loop|copy of the same bytes/.test(text));
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
    const small = median(row({ ...key, bytes: 64 }));
    const large = median(row({ ...key, bytes: 1048576 }));
    // If the compiler removed the work, it would take the same time at every size; a neighbour may slow one of the two twentyfold.
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
    const time = (/** @type {number} */ bytes, /** @type {string} */ implementation) =>
      median(row({ subject, operation: 'encrypt', bytes, implementation }));
    const ratios = SIZES.map((bytes) => time(bytes, 'portable') / time(bytes, 'rustcrypto'));
    // The median of seven measurements: a neighbour slows few of them.
    assert.ok(ratios.toSorted((a, b) => a - b)[3] > 2, `${subject}: ${ratios}`);
  }
});

test('the result is valid, and its tables are those of the reference document', async () => {
  for (const name of ['evidence/primitives.json', 'primitives-cpu.json', 'run.json']) {
    const { code, stdout, stderr } = await command('bin/k6', 'x', 'validate', join(folder, name));
    assert.equal(code, 0, stdout + stderr);
  }
  assert.equal(readFileSync(join(folder, 'report.md'), 'utf8'), run.stdout);
  for (const title of [
    'Encryption throughput',
    'Decryption throughput',
    'Overhead of encryption, 64 KiB',
    'Realistic packet sizes',
    'Rule sets',
    'The physical limit',
  ])
    assert.match(run.stdout, new RegExp(`^### ${title}`, 'm'));
});

test('which cipher is the faster one is told, and one round cannot tell', () => {
  const { rows, notes } = sectionOf('ciphers');
  assert.ok(rows.length > 0 && rows.length <= 42, `${rows.length} rows`);
  for (const cells of rows) assert.match(cells.at(-1), /^cannot tell/);
  assert.match(notes[0], /this run has 1\.$/);
});

test('a run is reported again as any other', async () => {
  const { code, stdout } = await command('bin/k6', 'x', 'report', folder);
  assert.equal(code, run.code);
  assert.match(stdout, /^\| primitives\/cpu \|/m);
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
  await until(() => !isAlive(worker), 'the end of the worker');
  await until(() => readdirSync(temporary).length === 0, 'the end of its folder');
});
