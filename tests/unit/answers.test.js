/** Reading the relay's answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollFault, summaryOf } from '../../lib/pulsar/answers.js';

/** @param {string} body @param {number} [status] */
const answer = (body, status = 200) =>
  /** @type {any} */ ({
    status,
    body,
    error: '',
    error_code: 0,
    json: (/** @type {string} */ part) => JSON.parse(body)[part],
  });
/** @param {unknown[]} seqs */
const polled = (seqs) => answer(JSON.stringify({ messages: seqs.map((seq) => ({ payload: { seq } })) }));

test('a poll brings just the messages that are wanted', () => {
  assert.equal(pollFault(polled([4]), [4]), null);
  assert.equal(pollFault(polled([]), []), null);
  assert.equal(pollFault(polled([]), [4]), 'lost');
  for (const wrong of [polled([5]), polled([4, 4]), polled(['4']), answer('{}'), answer('oh')])
    assert.equal(pollFault(wrong, [4]), 'bad_response');
  assert.equal(pollFault(polled([undefined]), []), 'bad_response');
  assert.equal(pollFault(answer('{}', 503), []), 'http_5xx');
});

test('what the relay says of a batch may be unreadable', () => {
  assert.deepEqual(summaryOf(answer('{"summary":{"accepted":2,"rejected":1}}')), {
    accepted: 2,
    rejected: 1,
  });
  assert.deepEqual(summaryOf(answer('{}')), {});
  assert.deepEqual(summaryOf(answer('oh')), {});
});
