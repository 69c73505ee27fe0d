/** A note holds, by name, the descriptors of the slowest instance. An instance that has needed all of the time is not asked again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9', PROFILE: 'smoke' };
const { heldByRows, noteBegun, noteLeft, notePeaks, overLink } = await import('../../lib/left-open.js');
const { startSides, stopSides } = await import('../../lib/protocols/instances.js');

/** Answers to the next questions, by instance. @type {Record<string, { after_s: number, processes: object[] }>} */
const holdings = {};
/** @type {string[]} */
const asked = [];
/** Seconds that the next questions wait. */
let settles = 5;
sidecar.send = (method, path, body) => {
  assert.deepEqual([method, body], ['POST', { settle_s: settles, closes_all: true }]);
  const [, id] = /^\/instances\/(\w+)\/held$/.exec(path) ?? [];
  asked.push(id);
  return id in holdings ? { answer: holdings[id], error: null } : { answer: null, error: 'unknown' };
};

const instance = (/** @type {string} */ id, /** @type {string} */ name) => ({
  id,
  name,
  versions: { own: id },
});
const noted = () => heldByRows().map(({ name, versions, held }) => [name, versions.own, held.after_s]);

/** @param {number} seconds @param {object | null} [after] what is held then */
const held = (seconds, after = { descriptors: {} }) => ({
  after_s: seconds,
  processes: [{ name: 'server', before: { descriptors: {} }, after }],
});

test('the slowest instance of a name counts', () => {
  Object.assign(holdings, { one: held(0.5), two: held(0.1), three: held(0.25), four: held(5) });
  noteLeft([]);
  assert.deepEqual(noted(), []);
  noteLeft([instance('one', 'vless'), instance('two', 'trojan')]);
  noteLeft([instance('three', 'vless'), instance('four', 'trojan')]);
  assert.deepEqual(noted(), [
    ['vless', 'one', 0.5],
    ['trojan', 'four', 5],
  ]);
  asked.length = 0;
  noteLeft([instance('two', 'trojan'), instance('three', 'ssh')]);
  assert.deepEqual(asked, ['three']);
  assert.deepEqual(noted()[1], ['trojan', 'four', 5]);
});

test('an instance that nobody could read is not replaced by one that has closed all', () => {
  Object.assign(holdings, { ended: held(0, null), blind: held(0, { descriptors: null }) });
  const last = () => heldByRows().slice(-1)[0];
  for (const [id, unread] of /** @type {[string, boolean][]} */ ([
    ['ended', false],
    ['blind', true],
    ['gone', true],
  ])) {
    const name = `${id} at first`;
    noteLeft([instance(id, name)]);
    noteLeft([instance('one', name)]);
    assert.equal(last().versions.own, unread ? id : 'one', name);
    noteLeft([instance('four', name)]);
    assert.equal(last().versions.own, 'four', name);
  }
  noteLeft([instance('gone', 'ssh, hop 1')]);
  assert.deepEqual(last().held.processes, []);
});

test('the peak of a row is that of all its instances and readings, also of one that is not asked', () => {
  const usage = (/** @type {number} */ bytes, /** @type {number | null} */ files) =>
    /** @type {any} */ ({
      processes: [
        {
          name: 'server',
          role: 'system',
          peak_anon_bytes: bytes,
          peak_open_files: files,
          peak_threads: 3,
          cpu_s: 1,
        },
        { name: 'k6', role: 'generator', peak_anon_bytes: 9999 },
      ],
    });
  const row = (/** @type {string} */ id) => instance(id, 'tuic');
  notePeaks('one', usage(100, null));
  notePeaks('one', usage(200, 30));
  notePeaks('one', null);
  noteLeft([row('one')]);
  const peak = () => heldByRows().find(({ name }) => name === 'tuic')?.held.processes[0].peak;
  assert.deepEqual(peak(), { peak_anon_bytes: 200, peak_open_files: 30, peak_threads: 3 });
  const before = { anon_bytes: 1, threads: 9, descriptors: { all: 7 } };
  holdings.four = { after_s: 5, processes: [{ name: 'server', before, after: null }] };
  noteLeft([row('four')]);
  notePeaks('three', usage(150, 40));
  asked.length = 0;
  noteLeft([row('three')]);
  assert.deepEqual(asked, []);
  assert.deepEqual(peak(), { peak_anon_bytes: 200, peak_open_files: 40, peak_threads: 9 });
});

test('a program that starts later than its testbed has held before what it held at the begin of the load', () => {
  const then = { descriptors: { all: 9 } };
  settles = 0;
  Object.assign(holdings, { late: held(0, then), lost: held(0) });
  noteBegun('late');
  noteBegun('unknown');
  settles = 5;
  noteLeft([
    { ...instance('late', '10 users'), unjudged: overLink(null) },
    { ...instance('lost', 'far'), unjudged: overLink({}) },
  ]);
  const [late, far] = heldByRows().slice(-2);
  assert.deepEqual([late.held.processes[0].before, late.unjudged], [then, undefined]);
  assert.deepEqual([far.held.processes[0].before, far.unjudged], [{ descriptors: {} }, 'over a link']);
});

test('a known fault of one program excuses no pair of two programs', () => {
  const answers = /** @type {Record<string, any>} */ ({
    '/testbeds/protocols/start': { id: 'one', versions: { xray: '26.3.27' }, variables: {}, outputs: {} },
  });
  const ask = sidecar.send;
  sidecar.send = (method, path, body, limitMs) => {
    if (method === 'DELETE') return { answer: null, error: null };
    return path in answers ? { answer: answers[path], error: null } : ask(method, path, body, limitMs);
  };
  const plane = /** @type {any} */ ({
    environment: { placement: {} },
    data: { link: null },
    target: () => '127.0.0.1:1',
  });
  const row = /** @type {any} */ ({ row: 'vmess', variables: {} });
  const program = (/** @type {string} */ binary) => ({ name: binary, engine: 'xray', binary });
  for (const [server, versions] of /** @type {[string, object][]} */ ([
    ['xray', { xray: '26.3.27' }],
    ['sing-box', {}],
  ])) {
    const wanted = {
      row,
      side: program('xray'),
      server: program(server),
      more: { hop_port: 1 },
      logName: '',
    };
    stopSides(startSides(/** @type {any} */ ([{ ...wanted, name: `xray to ${server}` }]), plane));
    assert.deepEqual(heldByRows().slice(-1)[0].versions, versions, server);
  }
  sidecar.send = ask;
});
