/** Charges: servers that charge a user for another, twice, without UDP, late, or lose the last seconds; and one that is right. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withServer } from '../support/charging-server.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const CHECK = 'users whose charge is wrong';

/**
 * Runs the scenario against a server with faults.
 * @param {string} faults of tests/fixtures/charging-server.js
 * @param {(found: { finding: string, wrong: number | null, rows: any[], whole: any, verdict: string, output: string }) => void} look
 */
const charged = (faults, look) =>
  withServer(faults, 'users:protocol=trojan', { ONLY: 'users/accounting' }, (bench) => {
    const output = bench.output.stdout + bench.output.stderr;
    const result = bench.result('users-accounting');
    const section = sectionOf(result, 'charges');
    const [whole] = rowsOf(sectionOf(result, 'accounting'));
    const wrong = result.integrity.find((/** @type {any} */ { check }) => check === CHECK).found;
    look({ finding: section.finding, wrong, rows: rowsOf(section), whole, verdict: result.verdict, output });
  });

test('a right server charges each byte', () =>
  charged('right', ({ finding, wrong, rows, whole, verdict, output }) => {
    assert.equal(finding, 'All 10 users are charged right.');
    assert.equal(wrong, 0);
    for (const { name, error } of rows) assert.equal(error, 0, name);
    assert.notEqual(verdict, 'fail', output);
    // Its counts are in memory.
    assert.equal(whole.lost, whole.due);
    assert.equal(whole.open, 100);
  }));

test('users that are charged for others, without traffic, and not for UDP are named apart in one run', () =>
  charged('other,no-udp,idle', ({ finding, wrong, verdict }) => {
    assert.equal(verdict, 'fail');
    assert.equal(wrong, 5);
    assert.match(finding, /charged to another user: user-0's 4,194,\d{3} B to user-3/);
    assert.match(finding, /charged for another user: user-3 for 4,194,\d{3} B of user-0/);
    assert.match(finding, /UDP is not charged: user-4 0 B of [\d,]+ B, user-5 /);
    assert.match(finding, /charged without traffic: user-9 1 B/);
  }));

test('bytes that count twice are named, and no loss by a restart is told from wrong charges', () =>
  charged('double', ({ finding, verdict, whole }) => {
    assert.equal(verdict, 'fail');
    assert.deepEqual([whole.due, whole.lost], [null, null]);
    assert.match(finding, /^\d of 10 users are charged wrongly\. charged twice: user-0 /);
  }));

test('a server that loses the last 5 s of each connection charges no short connection', () =>
  charged('tail', ({ finding, verdict }) => {
    assert.equal(verdict, 'fail');
    assert.match(finding, /TCP is not charged: user-0 0 B of 4,194,\d{3} B/);
  }));

test('a charge that comes 1.5 s later is right, and its delay is found', () =>
  charged('late', ({ finding, wrong, whole }) => {
    assert.equal(finding, 'All 10 users are charged right.');
    assert.equal(wrong, 0);
    // The last bytes move some ms before the first question.
    assert.ok(whole.delay > 1000, `${whole.delay}`);
    assert.ok(whole.open < 70, `${whole.open}`);
  }));

test('statistics that do not answer never pass', () =>
  charged('silent', ({ wrong, verdict }) => {
    assert.equal(wrong, null);
    assert.notEqual(verdict, 'pass');
  }));

test('a server that writes its counts each 5 s loses at most the last 5 s by a crash', () =>
  charged('store', ({ wrong, whole }) => {
    assert.equal(wrong, 0);
    assert.ok(whole.lost > 0 && whole.lost <= whole.due, JSON.stringify(whole));
  }));
