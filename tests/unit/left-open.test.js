/** A note holds, by name, the descriptors of the slowest instance. An instance that has needed all of the time is not asked again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9', PROFILE: 'smoke' };
const { heldByRows, noteLeft } = await import('../../lib/left-open.js');
const { startSides, stopSides } = await import('../../lib/protocols/instances.js');

/** Answers to the next questions, by instance. @type {Record<string, { after_s: number, processes: object[] }>} */
const holdings = {};
/** @type {string[]} */
const asked = [];
sidecar.send = (method, path, body) => {
  assert.deepEqual([method, body], ['POST', { settle_s: 5, closes_all: true }]);
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
