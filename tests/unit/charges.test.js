/** Charges: the bound, and the name of each error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apart, chargeFacts, chargeSection, lostBy, restartWords } from '../../lib/users/accounting-shown.js';
import { faultsOf, rowsOf } from '../../lib/users/charges.js';
import { samples, sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV.SIDECAR_URL = 'http://127.0.0.1:9';
const { account } = await import('../../lib/users/accounting.js');
const { accountPanel } = await import('../../lib/panel/accounting.js');

const MIB = 1024 * 1024;

/** @param {string} name @param {number} up @param {number} down @param {number} [udp] each way */
const user = (name, up, down, udp = 0) => ({
  name,
  traffic: '',
  tcp: { up, down },
  udp: { up: udp, down: udp },
});
const USERS = [user('a', 8 * MIB, 0), user('b', MIB, 3 * MIB, MIB), user('c', 0, 0), user('d', 900, 1)];

/** What these charges are called. @param {Record<string, any>} charges */
const faults = (charges) => faultsOf(rowsOf(USERS, new Map(Object.entries(charges))), USERS);
const RIGHT = { a: { up: 8 * MIB, down: 0 }, b: { up: 2 * MIB, down: 4 * MIB }, d: { up: 900, down: 1 } };

test('a right charge has no fault, and neither has one within 2 % or within 64 KiB', () => {
  assert.deepEqual(faults(RIGHT), []);
  assert.deepEqual(faults({ ...RIGHT, a: { up: 8 * MIB * 1.019, down: 0 } }), []);
  assert.deepEqual(faults({ ...RIGHT, d: { up: 64 * 1024, down: 0 } }), []);
});

test('each error has its name', () => {
  const cases = /** @type {[any, RegExp][]} */ ([
    [{ ...RIGHT, a: { up: 8 * MIB * 1.021, down: 0 } }, /^charged too much: a 8,564,769 B of 8,388,608 B$/],
    [{ ...RIGHT, a: { up: 7 * MIB, down: 0 } }, /^charged too little: a /],
    [{ ...RIGHT, a: { total: 16 * MIB } }, /^charged twice: a /],
    [{ ...RIGHT, a: { up: 0, down: 8 * MIB } }, /^right in sum, but not each way: a /],
    [{ ...RIGHT, b: { up: MIB, down: 3 * MIB } }, /^UDP is not charged: b 4,194,304 B of 6,291,456 B$/],
    [{ ...RIGHT, b: { up: MIB, down: MIB } }, /^TCP is not charged: b /],
    [{ ...RIGHT, c: { total: 1 } }, /^charged without traffic: c 1 B of 0 B$/],
    [{}, /^nobody is charged$/],
  ]);
  for (const [charges, words] of cases) {
    const found = faults(charges);
    assert.equal(found.length, 1, found.join('; '));
    assert.match(found[0], words);
  }
});

test("one user's bytes on another user's bill name both", () => {
  assert.deepEqual(faults({ ...RIGHT, a: { total: 0 }, c: { total: 8 * MIB } }), [
    "charged to another user: a's 8,388,608 B to c",
    'charged for another user: c for 8,388,608 B of a',
  ]);
});

test('charges that nobody knows are wrong', () => {
  const rows = rowsOf(USERS, null);
  assert.ok(rows.every(({ wrong, charged }) => wrong && charged === null));
  assert.deepEqual(faultsOf(rows, USERS), ['no charge is known: a, b, c, d']);
});

test('a restart is not blamed for what an earlier one lost', () => {
  const restarts = [
    { due: 100 * MIB, kept: 90 * MIB },
    { due: 150 * MIB, kept: null },
    { due: 200 * MIB, kept: 190 * MIB },
    { due: 250 * MIB, kept: 235 * MIB },
    { due: null, kept: 250 * MIB },
    { due: 300 * MIB, kept: 290 * MIB },
  ];
  const found = apart(restarts);
  assert.deepEqual(found.map(lostBy), [10 * MIB, null, 0, 5 * MIB, null, null]);
  assert.deepEqual(
    found.map(({ due }) => due),
    [100 * MIB, 150 * MIB, 200 * MIB, 250 * MIB, null, null],
    'all that was moved until then',
  );
});

test('a restart while nothing moved has lost nothing that is known', () => {
  const words = (/** @type {number} */ moved, /** @type {number} */ kept) =>
    restartWords({ due: MIB, kept, moved, open: null }, 'core');
  assert.equal(words(0, MIB), 'What a restart of the core in mid-transfer loses is unknown.');
  assert.equal(words(1, MIB), 'A restart of the core in mid-transfer lost nothing.');
  assert.match(words(0, 0), /lost 1,048,576 B of 1,048,576 B \(100\.0 %\)\.$/);
});

const countsOf = (/** @type {number} */ up, /** @type {number} */ down) => ({
  outcome: { far_end: { bytes_up: { found: up }, bytes_down: { found: down } } },
});

/**
 * The restart of a server whose users moved nothing before.
 * @param {any} order what became of the order to restart @param {object} [probe] of each user in mid-transfer; undefined: no users
 * @param {(object | null)[]} [ends] of the probe of each user before; null: its bytes are unknown @param {Record<string, any>} [charges]
 */
function restartOf(order, probe, ends = probe ? [countsOf(0, 0)] : [], charges = {}) {
  const answers = {
    '/taps': { id: 't1', address: '127.0.0.1:1' },
    '/testbeds/users/start': { id: 'i1', outputs: {} },
    '/probes': { id: 'p1' },
    '/instances/i1/held': { after_s: 0, processes: [] },
    '/probes/p1?wait_s=5': probe,
  };
  sidecar.send = (_method, path) => ({
    status: 200,
    error: null,
    answer: /** @type {any} */ (answers)[path] ?? {},
  });
  sidecar.end = (specs) => specs.map(() => ({ state: 'failed', error: null, outcome: null }));
  const left = [...ends];
  return account(
    /** @type {any} */ ({
      data: { base: { engine: 'xray' } },
      environment: { placement: { system_cpus: '' } },
      measure: () => order,
      specOf: () => ({}),
      recorded: () => left.shift(),
    }),
    /** @type {any} */ ({ connect: () => {}, read: () => new Map(Object.entries(charges)) }),
    { users: ends.length, long: 0, short: 0, datagrams: 0, restart_s: 0 },
    () => {},
  ).restart;
}
const RESTARTED = { outcome: { succeeded: 1 } };

test('a server that took no order to restart has lost nothing that is known', () => {
  assert.equal(restartOf({ error: { kind: 'connection_refused' } }), null);
  assert.equal(restartOf({ outcome: { succeeded: 0 } }), null);
  assert.equal(restartOf(RESTARTED)?.kept, 0);
});

test('a restart has lost nothing that is known if bytes in mid-transfer were not counted', () => {
  const counted = restartOf(RESTARTED, countsOf(MIB, 2 * MIB));
  assert.deepEqual([counted?.due, counted?.moved, counted && lostBy(counted)], [3 * MIB, 3 * MIB, 3 * MIB]);
  for (const probe of [{ outcome: null }, { outcome: { far_end: null } }, { outcome: { far_end: {} } }]) {
    const unknown = restartOf(RESTARTED, probe);
    assert.deepEqual([unknown?.due, unknown?.moved, unknown && lostBy(unknown)], [null, null, null]);
    assert.match(restartWords(unknown, 'server'), /^What a restart of the server .* is unknown\.$/);
  }
});

test('charges of a user whose bytes are unknown hide no loss by a restart', () => {
  const charges = { 'user-0': { up: 5 * MIB, down: 0 } };
  const found = restartOf(RESTARTED, countsOf(MIB, 2 * MIB), [null, countsOf(0, 0)], charges);
  assert.deepEqual([found?.due, found?.kept, found?.moved], [3 * MIB, 0, 3 * MIB]);
});

/** Paths that ofPanel()'s run removed from the sidecar. @type {string[]} */
const deleted = [];

/**
 * The figures of a panel that charges right, and the operations whose failures were recorded.
 * @param {number} users @param {any} tried end of the probe that tries a datagram @param {boolean} [restarts] whether it takes the order to restart
 * @param {string} [cut] user whose bytes do not arrive
 */
function ofPanel(users, tried, restarts = true, cut = '') {
  /** @type {Map<string, number>} */
  const used = new Map();
  const outcome = (/** @type {object} */ own) => ({
    state: 'done',
    error: null,
    outcome: { anomalies: {}, duration_s: 1, bytes: 0, errors: {}, ...own },
    values: { total: [] },
  });
  deleted.length = 0;
  sidecar.send = (method, path) => {
    if (method === 'DELETE') deleted.push(path);
    return { status: 200, error: null, answer: { id: 'one', tcp: '', udp: '', state: 'done' } };
  };
  sidecar.end = ([{ users: of }]) => {
    if (of.udp) return [tried.error ? { outcome: null, planned: 1, ...tried } : outcome(tried)];
    const carried = of.list.map((/** @type {{ name: string, bytes: number }} */ { name, bytes }) => {
      const received = name === cut ? 0 : bytes;
      used.set(name, (used.get(name) ?? 0) + 2 * received);
      return { name, sent: bytes, received, error: name === cut ? 'timeout' : null };
    });
    return [outcome({ users: carried, succeeded: carried.length })];
  };
  samples.length = 0;
  const panel = {
    everyone: () =>
      Array.from({ length: users }, (_, index) => ({
        username: `user-${index}`,
        used_traffic: used.get(`user-${index}`) ?? 0,
        proxies: { shadowsocks: { method: 'aes-128-gcm', password: 'secret' } },
      })),
    restart: () => ({ status: 200 }),
    dialect: { accepts: () => restarts },
  };
  const session = { token: null, runId: '20270101-000000-smoke-0000' };
  const sizes = { users, long: MIB, short: 2, datagrams: 3, restart_s: 0 };
  const figures = accountPanel(/** @type {any} */ (panel), session, '127.0.0.1:1', sizes, () => {});
  const failed = samples.filter(({ metric, value }) => metric === 'operation_failed' && value === true);
  return { ...figures, failed: failed.map(({ tags }) => tags?.operation) };
}

test('only an inbound without a UDP port carries none: any other failure of a datagram counts', () => {
  const refused = ofPanel(4, { succeeded: 0, errors: { connection_refused: 1 } });
  assert.deepEqual([refused.without_udp, refused.failed], ['the inbound carries none', []]);
  const lost = ofPanel(4, { succeeded: 0, errors: { timeout: 1 } });
  assert.deepEqual(
    [lost.without_udp, lost.failed],
    ['no datagram came back through the inbound', ['datagrams']],
  );
  const unknown = ofPanel(4, { error: { kind: 'network', message: 'no thread' } });
  assert.deepEqual([unknown.without_udp, unknown.failed], ['the inbound could not be tried', ['datagrams']]);
});

test('few users move no UDP', () => {
  const { rows, without_udp: without } = ofPanel(3, {});
  assert.deepEqual([rows.length, without], [3, 'so few users have no such traffic']);
});

test('a restart that the panel refuses within an answer of 200 ends the run', () => {
  assert.throws(() => ofPanel(3, {}, false), /the restart of the core: HTTP 200/);
  assert.deepEqual(deleted, ['/probes/one', '/echoes/one'], 'nothing is left running');
});

test('a user with a failure is not judged: some of the bytes may not have arrived', () => {
  const found = ofPanel(3, {}, true, 'user-0');
  assert.deepEqual(found.unknown, ['user-0']);
  assert.ok(found.delay_ms !== null && found.rows[0].wrong);
  assert.deepEqual(chargeFacts(found)[0].found, { said: null });
  const { finding, columns, rows, notes } = chargeSection(found);
  assert.equal(finding, 'All 2 users whose bytes are known are charged right.');
  const right = columns.findIndex(({ name }) => name === 'right');
  assert.deepEqual(
    rows.map((row) => row[right]),
    [null, true, true],
  );
  assert.match(notes.join(), /users whose bytes are unknown, .*: user-0/);
  found.rows[1].wrong = true;
  assert.deepEqual(chargeFacts(found)[0].found, { said: 1 });
  assert.deepEqual(chargeFacts({ ...found, unknown: [] })[0].found, { said: 2 });
});
