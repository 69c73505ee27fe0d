/** The gate's workflow measures two commits of a small proxy and tells which costs more. Others beside it would be in what it measures. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertVerdict, keep, smallProxy } from '../support/small-proxy.js';
import { timely, undisturbed } from '../support/timely.js';

const proxy = smallProxy();
after(proxy.remove);

/** It has told, which others on the machine may keep it from. @param {Awaited<ReturnType<typeof proxy.gate>>} measured @param {string} verdict */
function assertTold(measured, verdict) {
  assertVerdict(measured, verdict);
  timely(measured.outputs.verdict === verdict, measured.comment);
}

const COSTS_MORE = 'a pull request of a fork that costs more fails, and its comment is written';
test(
  COSTS_MORE,
  undisturbed(async () => {
    const measured = await proxy.gate('merged/slower', 'pull_request');
    assertTold(measured, 'fail');
    keep('slower', measured);
    /** @type {any[]} */
    const comments = [];
    const first = await proxy.publish(measured, comments);
    assert.equal(first.job.failed, false, first.log);
    const again = await proxy.publish(measured, comments);
    assert.equal(again.job.failed, false, again.log);
    assert.equal(comments.length, 1);
    assert.ok(comments[0].body.startsWith(measured.comment));
    assert.equal(again.checks[0].conclusion, measured.outputs.conclusion);
    assert.ok(!again.log.includes('the-token-of-this-job'));
  }),
);

test(
  'a pull request that is as fast passes',
  undisturbed(async () => {
    const measured = await proxy.gate('merged/equal', 'pull_request');
    assertTold(measured, 'pass');
    keep('equal', measured);
  }),
);
