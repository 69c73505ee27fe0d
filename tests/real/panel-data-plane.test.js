/** A panel that disables a user in its database alone fails by the data plane, with both kinds of driver; a right one does not. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { ROOT, temporaryFolder } from '../support/k6.js';
import { faultsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('panel-data-plane');
after(folder.remove);

const STEP =
  '        work.remove_from_xray(_email(user.id, user.username))\n        if user.status in _IN_XRAY:\n';
const NO_STEP =
  '        if user.status in _IN_XRAY:\n            work.remove_from_xray(_email(user.id, user.username))\n';

/** A copy of the panel whose `disable` leaves the user in xray. */
function withoutStep() {
  const source = join(folder.path, 'changed');
  cpSync(join(ROOT, 'testbeds/panel'), source, { recursive: true });
  const file = join(source, 'panel/users.py');
  const text = readFileSync(file, 'utf8');
  assert.ok(text.includes(STEP));
  writeFileSync(file, text.replace(STEP, NO_STEP));
  return source;
}

/** @param {string} name of the scenario @param {string} testbed */
async function resultOf(name, testbed) {
  const users = name === 'users-live' ? {} : { USERS: '30' };
  const bench = startBench({ ONLY: `panel/${name}`, TESTBED: testbed, PROFILE: 'smoke', ...users });
  try {
    await bench.ended;
    return bench.result(`panel-${name}`);
  } finally {
    bench.remove();
  }
}

/** Facts of the data plane. @param {any} result */
const planeOf = (result) =>
  result.integrity
    .filter((/** @type {any} */ { source }) => source === 'far_end')
    .map((/** @type {any} */ { check, found }) => [check, found]);

const TRIED = /20 of \d+ users were tried in the data plane, each with its own key/;

for (const driver of ['sqlite', 'asyncmy'])
  test(`${driver}: users that xray still serves fail users-disable, by name`, async () => {
    const result = await resultOf('users-disable', `panel:driver=${driver},source=${withoutStep()}`);
    assert.equal(result.verdict, 'fail', JSON.stringify(result.reasons));
    assert.deepEqual(planeOf(result), [
      ['data plane: disabled users that carry data', 20],
      ['data plane: active users that carry none', 0],
    ]);
    assert.ok(faultsOf(result).includes('data plane: disabled users that carry data: 20 found, 0 reported'));
    const notes = result.notes.join('\n');
    assert.match(notes, TRIED);
    assert.match(notes, /disabled users that still carry data: wt_[0-9a-f]{12}_disable\d{7}, /);
  });

test('the right panel: each enabled user that was tried carries data', async () => {
  const result = await resultOf('users-enable', 'panel:driver=pymysql');
  assert.deepEqual(planeOf(result), [
    ['data plane: disabled users that carry data', 0],
    ['data plane: active users that carry none', 0],
  ]);
  assert.match(result.notes.join('\n'), TRIED);
});

test('users-live names each user whose disabling changes nothing in xray, and no flow is lost', async () => {
  const result = await resultOf('users-live', `panel:source=${withoutStep()}`);
  assert.equal(result.verdict, 'fail', JSON.stringify(result.reasons));
  const of = (/** @type {string} */ words) =>
    result.integrity.find((/** @type {any} */ { check }) => check.endsWith(words)).found;
  const [created, disabled, enabled] = rowsOf(sectionOf(result, 'effects'));
  assert.ok(disabled.changes > 0 && disabled.never === disabled.changes, JSON.stringify(disabled));
  assert.deepEqual([created.never, enabled.never], [0, 0]);
  assert.equal(of('changes without effect'), disabled.never);
  assert.equal(of('untouched flows that were lost'), 0);
  const notes = result.notes.join('\n');
  assert.match(notes, /changes without effect: disable wt_[0-9a-f]{12}_live\d{7}/);
  assert.match(notes, /took effect only after a restart of the core: disable wt_/);
});
