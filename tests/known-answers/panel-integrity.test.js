/** Checks that a panel's users match the report, that the run's users are removed, and that no other user is touched. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { withPanel } from '../support/faulty.js';
import {
  K6,
  RUN_ID,
  cleanEnvironment,
  operation,
  panelEntry,
  runPanel,
  start,
  temporaryFolder,
  writeEnvironment,
} from '../support/k6.js';
import { until } from '../support/processes.js';
import { faultsOf, reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('panel-integrity');
after(folder.remove);

/** @param {string} url @param {Record<string, string>} variables */
const bench = (url, variables) =>
  startBench({
    ENV: writeEnvironment(folder.path, panelEntry(url), 'panel'),
    PANEL_PASSWORD: 'panel',
    ...variables,
  });

/** The differences between found and reported numbers of a result's integrity. @param {any} result */
const differences = (result) =>
  Object.fromEntries(
    result.integrity.map((/** @type {any} */ line) => [line.check, line.found - line.reported]),
  );

const RIGHT = {
  'users: created less deleted': 0,
  'users: disabled': 0,
  'users: active': 0,
  'users: left after removal': 0,
  'users of others': 0,
};

test('users that were lost fail a run in which every answer was right', async () => {
  await withPanel({ lostEvery: 10, foreign: ['anna'] }, async (panel) => {
    const run = bench(panel.url, { ONLY: 'panel/users-create', PROFILE: 'quick', USERS: '100' });
    try {
      assert.equal(await run.ended, 99);
      const result = run.result('panel-users-create');
      const lost = -panel.truth.lost;
      assert.deepEqual(operation(result, 'create').success, 100);
      assert.deepEqual(differences(result), {
        ...RIGHT,
        'users: created less deleted': lost,
        'users: active': lost,
      });
      assertVerdict(result, 'fail');
      assert.equal(faultsOf(result)[0], 'users: created less deleted: 90 found, 100 reported');
      assert.deepEqual(panel.users(), ['anna']);
    } finally {
      run.remove();
    }
  });
});

test('answers of 500 do not hide users that were lost', async () => {
  const faults = { lostEvery: 10, createError: { every: 8, answers: /** @type {500[]} */ ([500]) } };
  await withPanel(faults, async (panel) => {
    const { result } = await runPanel('users-create', panel.url, { USERS: '100' });
    const created = result.integrity[0];
    const { success, errors } = operation(result, 'create');
    assert.ok(errors.http_5xx > panel.truth.lost && panel.truth.lost > 0, JSON.stringify(errors));
    assert.deepEqual([created.found, created.ok], [success - panel.truth.lost, false], created.detail);
  });
});

for (const [name, row, sign] of /** @type {const} */ ([
  ['users-disable', 'disable', -1],
  ['users-enable', 'enable', 1],
])) {
  test(`${name}: a status that stays as it was is a bad answer, and the users tell the same`, async () => {
    await withPanel({ statusLieEvery: 20 }, async (panel) => {
      const { code, result } = await runPanel(name, panel.url, { USERS: '100' });
      const { requests, success, errors } = operation(result, row);
      const wrong = errors.bad_response;
      assert.ok(wrong > 0 && wrong <= panel.truth.lied);
      assert.deepEqual([requests, success, errors], [100, 100 - wrong, { bad_response: wrong }]);
      const disabled = sign * wrong;
      assert.deepEqual(differences(result), {
        ...RIGHT,
        'users: disabled': disabled,
        'users: active': -disabled,
      });
      assertVerdict(result, 'fail', code);
      assert.match(reasonsOf(result).join('\n'), /bad_response in 100 requests: .* but the wrong content/);
    });
  });
}

test('a panel that fails after it deleted: set-up goes on, deletions fail, users are gone and counted', async () => {
  await withPanel({ ownerless: true }, async (panel) => {
    const { code, result, stderr } = await runPanel('users-lifecycle', panel.url, { USERS: '50' });
    assert.match(stderr, /a user was removed, but the answer was 5xx/);
    for (const name of ['create', 'read', 'disable', 'enable'])
      assert.equal(operation(result, name).success, 50, name);
    assert.deepEqual(operation(result, 'delete').errors, { http_5xx: 50 });
    assertVerdict(result, 'fail', code);
    const [created] = result.integrity;
    // 55 users were deleted, five of them in the warm-up, but no answer said so.
    assert.deepEqual([created.reported, created.found, created.ok], [55, 0, true]);
    assert.match(created.detail, /made 55 more changes that it did not confirm/);
    assert.deepEqual(panel.left(), []);
  });
});

test('a panel that fails after it deleted is left clean by a run that deletes nothing, which passes', async () => {
  await withPanel({ ownerless: true, foreign: ['anna'] }, async (panel) => {
    const { code, result } = await runPanel('users-create', panel.url, { USERS: '50' });
    assertVerdict(result, 'pass', code);
    assert.deepEqual(panel.users(), ['anna']);
  });
});

test('a removal that meets a lock is tried again until nobody is left', async () => {
  await withPanel({ databaseLockedEvery: 7, lockable: ['delete'] }, async (panel) => {
    const { code, result } = await runPanel('users-create', panel.url, { USERS: '100' });
    assert.ok(panel.truth.locked > 10);
    assertVerdict(result, 'pass', code);
    assert.deepEqual(panel.left(), []);
    assert.deepEqual(differences(result), RIGHT);
  });
});

const prefix = `wt_${createHash('sha256').update(RUN_ID).digest('hex').slice(0, 12)}_`;
const namesakes = [`${prefix}create0000000`, `${prefix}seed0000000`];

test("a user with the run's own prefix, but not its note, stops the run and is left alone", async () => {
  await withPanel({ foreign: namesakes }, async (panel) => {
    const refused = runPanel('users-create', panel.url);
    await assert.rejects(
      refused,
      new RegExp(`there are users of run ${RUN_ID} already: give another RUN_ID`),
    );
    assert.deepEqual([panel.users(), panel.truth.names.size], [namesakes, 0]);
  });
});

test('cleaning up after a run leaves its namesakes alone', async () => {
  await withPanel({ foreign: namesakes }, async (panel) => {
    const ENV = writeEnvironment(folder.path, panelEntry(panel.url), 'panel');
    const run = start(K6, ['x', 'clean-up', RUN_ID, '--system', 'panel', '--env', ENV], {
      env: { ...cleanEnvironment(), PANEL_PASSWORD: 'panel' },
    });
    assert.equal(await run.ended, 0, run.output.stderr);
    assert.deepEqual(panel.users(), namesakes);
  });
});

test('users are removed where the set-up fails half-way, which is told in one line', async () => {
  await withPanel({ databaseLockedEvery: 50, lockable: ['disable'], foreign: ['anna'] }, async (panel) => {
    const run = bench(panel.url, { ONLY: 'panel/users-enable', PROFILE: 'quick', USERS: '100' });
    try {
      assert.equal(await run.ended, 4);
      const [line, ...others] = errorLines(run.output);
      assert.match(line, /set-up failed: .* disabling a user: HTTP 500: the target's database was locked/);
      assert.deepEqual(others, []);
      assert.equal(panel.truth.created, 105);
      assert.deepEqual(panel.users(), ['anna']);
    } finally {
      run.remove();
    }
  });
});

test('users are removed after Ctrl-C too', async () => {
  await withPanel({ delayMs: 2, foreign: ['anna'] }, async (panel) => {
    const run = bench(panel.url, { ONLY: 'panel/users-create', PROFILE: 'quick', USERS: '100000' });
    try {
      await until(() => panel.truth.created > 300, 'the load');
      run.child.kill('SIGINT');
      assert.equal(await run.ended, 130);
      const result = run.result('panel-users-create');
      assertVerdict(result, 'inconclusive');
      assert.match(reasonsOf(result).join('\n'), /^complete: .* ended early$/m);
      assert.deepEqual(panel.users(), ['anna']);
    } finally {
      run.remove();
    }
  });
});

test('users are removed after Ctrl-C during the set-up too, where k6 runs no teardown', async () => {
  await withPanel({ delayMs: 50, foreign: ['anna'] }, async (panel) => {
    const run = bench(panel.url, { ONLY: 'panel/users-enable', PROFILE: 'quick' });
    try {
      await until(() => panel.left().length > 20, 'the users of the set-up');
      run.child.kill('SIGINT');
      assert.equal(await run.ended, 130);
      assert.deepEqual(panel.users(), ['anna']);
    } finally {
      run.remove();
    }
  });
});
