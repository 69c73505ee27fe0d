/** The panel's client judges answers that are no plain success, or only look like a success. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startBench } from '../support/bench.js';
import { withPanel } from '../support/faulty.js';
import {
  K6,
  ROOT,
  cleanEnvironment,
  operation,
  panelEntry,
  runPanel,
  start,
  temporaryFolder,
  writeEnvironment,
} from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

/** @param {string} name @returns {any} the panel's part of an example environment */
const example = (name) =>
  JSON.parse(readFileSync(`${ROOT}/environments/${name}.example.json`, 'utf8')).systems.panel;

const USERS = Array.from({ length: 95 }, (_, index) => `user_${String(index).padStart(3, '0')}`);

test("Marzban's race fails a run, and its example environment bounds it", async () => {
  // One or two of the 40 lists of a smoke run meet the race.
  const faults = { listRaceEvery: 20 };
  await withPanel(faults, async (panel) => {
    const { code, result } = await runPanel('mixed', panel.url, { PROFILE: 'smoke' });
    assert.ok(operation(result, 'list').errors.http_5xx > 0);
    assertVerdict(result, 'fail', code);
  });
  await withPanel(faults, async (panel) => {
    const { thresholds } = example('marzban');
    const { code, result } = await runPanel('mixed', panel.url, { PROFILE: 'smoke' }, { thresholds });
    assert.ok(operation(result, 'list').errors.http_5xx > 0);
    assertVerdict(result, 'pass', code);
    assert.deepEqual(panel.left(), []);
  });
});

test("PasarGuard's answers are successes with an environment file alone", async () => {
  const { user } = example('pasarguard');
  await withPanel({ dialect: 'pasarguard' }, async (panel) => {
    for (const [name, variables] of /** @type {[string, Record<string, string>][]} */ ([
      ['users-lifecycle', { USERS: '50' }],
      ['mixed', { PROFILE: 'smoke' }],
      ['users-list', { PAGES: '50' }],
    ])) {
      const { code, result } = await runPanel(name, panel.url, variables, { user });
      assertVerdict(result, 'pass', code);
    }
    assert.deepEqual(panel.left(), []);
  });
});

test('an answer without content claims a change, and what is stored tells', async () => {
  const statuses = /** @type {const} */ ({ create: 202, disable: 204, enable: 204, delete: 202 });
  await withPanel({ statuses }, async (panel) => {
    const { code, result } = await runPanel('users-lifecycle', panel.url, { USERS: '20', CLIENTS: '4' });
    assertVerdict(result, 'pass', code);
  });
  await withPanel({ statuses, statusLieEvery: 5 }, async (panel) => {
    const { result } = await runPanel('users-disable', panel.url, { USERS: '20', CLIENTS: '4' });
    assert.equal(operation(result, 'disable').success, 20);
    assert.match(reasonsOf(result).join(), /users: disabled: \d+ found, \d+ reported/);
    assertVerdict(result, 'fail');
  });
});

const LISTS = /** @type {const} */ ([
  ['offset', 'the same page again, despite another offset'],
  ['limit', 'more users than the limit that was asked for'],
  ['order', 'the users of the page in another order'],
]);

test('a page is right when its users are those of the page', async () => {
  for (const [ignored, detail] of LISTS)
    await withPanel({ foreign: USERS, ignores: [ignored] }, async (panel) => {
      const { code, result } = await runPanel('users-list', panel.url, { PAGES: '50' });
      const { errors, error_details: details } = operation(result, 'page');
      assert.ok(errors.bad_response > 10, `${ignored}: ${errors.bad_response}`);
      assert.equal(details[0].detail, `HTTP 200: ${detail}`);
      assertVerdict(result, 'fail', code);
    });
});

test('a panel that ignores search is told so', async () => {
  await withPanel({ foreign: USERS, ignores: ['search'] }, async (panel) => {
    const refused = runPanel('users-create', panel.url, { USERS: '20' });
    await assert.rejects(refused, /ignores the search parameter of a list: .* could not find its own users/);
    assert.equal(panel.truth.names.size, 0);
  });
});

test('an error in the body of a 200 is no read, no list and no system', async () => {
  const says = { system: { detail: 'backend down' }, read: '<html>maintenance</html>' };
  await withPanel({ says }, async (panel) => {
    const { code, result } = await runPanel('mixed', panel.url, { PROFILE: 'smoke' });
    assert.deepEqual(operation(result, 'system').errors, { bad_response: 40 });
    assert.deepEqual(operation(result, 'read').errors, { bad_response: 160 });
    assertVerdict(result, 'fail', code);
  });
  const list = { list: { users: [], error: 'backend down' } };
  await withPanel({ says: list }, async (panel) => {
    await assert.rejects(
      runPanel('users-create', panel.url, { USERS: '20' }),
      /listing users: no total in it: HTTP 200: backend down/,
    );
  });
});

test('users of others that vanish are nothing that the run lost', async () => {
  await withPanel({ foreign: USERS, vanishing: USERS.slice(0, 7) }, async (panel) => {
    const { code, result } = await runPanel('users-create', panel.url, { USERS: '50' });
    assertVerdict(result, 'pass', code);
    const others = result.integrity.find((/** @type {any} */ { check }) => check === 'users of others');
    assert.match(others.detail, /88, 7 fewer than before the run: other clients removed them/);
  });
  // The pages shift by seven users, and still count as right.
  await withPanel({ foreign: USERS, vanishing: USERS.slice(0, 7) }, async (panel) => {
    const { code, result } = await runPanel('users-list', panel.url, { PAGES: '50' });
    assertVerdict(result, 'pass', code);
  });
});

test('what a panel that dies keeps is counted, with the one command that removes it', async () => {
  const folder = temporaryFolder('left');
  const faults = { goneAfter: 60 };
  await withPanel(faults, async (panel) => {
    const ENV = writeEnvironment(folder.path, panelEntry(panel.url), 'panel');
    const variables = { ENV, PANEL_PASSWORD: 'panel', PROFILE: 'quick', USERS: '200', CLIENTS: '4' };
    const bench = startBench({ ...variables, ONLY: 'panel/users-create' });
    const cleanUp = async (/** @type {string[]} */ ...args) => {
      const run = start(K6, ['x', 'clean-up', ...args], {
        env: { ...cleanEnvironment(), PANEL_PASSWORD: 'panel' },
      });
      return { code: await run.ended, ...run.output };
    };
    try {
      assert.notEqual(await bench.ended, 0);
      const { leftovers, run } = bench.result('panel-users-create');
      assert.equal(leftovers.known, false);
      assert.ok(leftovers.count >= panel.left().length && panel.left().length > 0, JSON.stringify(leftovers));
      const command = `clean-up ${run.id} --system panel --env ${ENV}`;
      assert.equal(leftovers.remove_with, `bin/windtunnel ${command}`);
      assert.ok(
        bench.output.stdout.includes(`this removes them: bin/windtunnel ${command}`),
        bench.output.stdout,
      );

      const refused = await cleanUp(...command.split(' ').slice(1));
      assert.equal(refused.code, 4, refused.stdout);
      assert.match(refused.stderr, /^panel: .*(reset|closed|refused).*\n$/);
      // The panel answers again. The record of the run has its system.
      faults.goneAfter = Infinity;
      const done = await cleanUp(run.id, '--env', ENV);
      assert.deepEqual([done.stderr, done.code], ['', 0]);
      assert.equal(done.stdout, `panel: nothing of run ${run.id} is left\n`);
      assert.deepEqual(panel.left(), []);
    } finally {
      bench.remove();
      folder.remove();
    }
    const unknown = await cleanUp('no-such-run');
    assert.equal(unknown.code, 2);
    assert.match(
      unknown.stderr,
      /^there is no results\/no-such-run\/run\.json: name the run's system with --system/,
    );
  });
});
