/** Tunnels to a port where nobody listens: granted, refused, or unknown. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

globalThis.__ENV = { SIDECAR_URL: 'http://127.0.0.1:1' };
const { grantsNobody, isEarly } = await import('../../lib/dataplane/claims.js');

const { end } = sidecar;
after(() => {
  sidecar.end = end;
});

/** The answer to tunnels that end in these ways, the last one for ever. @param {(string | null)[]} ways kinds of errors; null: granted */
function answerTo(...ways) {
  /** @type {string[]} */
  const targets = [];
  sidecar.end = ([{ target, count = 1 }]) => {
    assert.equal(count, 1);
    const kind = ways[Math.min(targets.push(target), ways.length) - 1];
    const error = kind && { kind, message: `it ended by ${kind}` };
    return [{ state: 'done', outcome: error ? null : { attempted: 1, succeeded: 1 }, error }];
  };
  const answer = grantsNobody({ target: '127.0.0.1:9000' });
  assert.ok(targets.every((target) => target === '127.0.0.1:1'));
  return { answer, tried: targets.length };
}

test('tunnels that are granted or refused are counted', () => {
  assert.deepEqual(answerTo(null).answer, { asked: 10, granted: 10 });
  for (const kind of ['socks_connection_refused', 'socks_general_failure', 'closed', 'connection_reset'])
    assert.deepEqual(answerTo(kind).answer, { asked: 10, granted: 0 }, kind);
  assert.deepEqual(answerTo(null, 'closed').answer, { asked: 10, granted: 1 });
});

test('a tunnel that could not be measured is none that was refused, and no further one is tried', () => {
  for (const kind of ['timeout', 'connection_refused', 'too_many_files', 'network', 'cut', 'socks_garbage'])
    assert.deepEqual(answerTo(kind), { answer: { unknown: `it ended by ${kind}` }, tried: 1 });
  assert.deepEqual(answerTo('closed', 'timeout').answer, { unknown: 'it ended by timeout' });
  assert.deepEqual(answerTo(null, 'closed', 'timeout').answer, { asked: 2, granted: 1 });
});

test('an unknown answer says neither early nor late', () => {
  assert.equal(isEarly({ unknown: 'it ended by timeout' }, null), null);
  assert.equal(isEarly({ asked: 10, granted: 0 }, null), false);
});
