/** The panel's scenarios on the real reference panel with xray-core, on MariaDB and on a panel that stays up; tests/real/smoke has all six on SQLite. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { operation, panelEntry, runScript, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { lend } from '../support/lend.js';
import { newUser, panel as panelOf } from '../support/panel.js';
import { assertIntegrity, processesOf, soundResult } from '../support/panel-result.js';
import { descendants, until, watch } from '../support/processes.js';
import { reasonsOf } from '../support/reasons.js';
import { assertDied } from '../support/verdict.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const SECRET = 'correct-horse-battery-staple-43';
const folder = temporaryFolder('real-panel');
after(folder.remove);

/** @typedef {ReturnType<typeof startBench>} Bench */

/** @param {number | string} code @param {Bench} bench */
const assertJudged = (code, bench) =>
  assert.ok([0, 3].includes(Number(code)), `exit code ${code}: ${bench.output.stdout}${bench.output.stderr}`);

/** Files and command lines are free of passwords, tokens and URLs of databases. @param {Bench} bench @param {string} shown @param {RegExp} url */
function assertSecret(bench, shown, url) {
  const secret = new RegExp(`${SECRET}|eyJ[\\w-]+\\.eyJ|${url.source}`);
  const leaks = bench.files().filter(({ text }) => secret.test(text));
  assert.deepEqual(
    leaks.map(({ name }) => name),
    [],
  );
  assert.ok(!secret.test(shown), 'no secret in a command line');
  assert.ok(!secret.test(`${bench.output.stdout}${bench.output.stderr}`));
}

const CREATION = /^INSERT INTO `users` /;

/** One scenario for each driver, and its operations. The driver handles each statement. Both scenarios have the same statements. */
const SINGLE = {
  pymysql: Object.entries({ 'users-create': 'create' }),
  asyncmy: Object.entries({ 'users-enable': 'enable' }),
};

for (const [driver, scenarios] of Object.entries(SINGLE)) {
  describe(`on MariaDB with ${driver}`, () => {
    /** @type {Bench} */
    let bench;
    /** @type {{ shown: string, left: number[] }} */
    let seen;
    before(async () => {
      bench = startBench({
        PROFILE: 'quick',
        ONLY: scenarios.map(([name]) => `panel/${name}`).join(','),
        TESTBED: `panel:driver=${driver}`,
        USERS: '100',
        EXISTING: '500',
        PANEL_PASSWORD: SECRET,
      });
      const watched = watch(bench.child);
      const code = await bench.ended;
      seen = watched();
      assertJudged(code, bench);
    });
    after(() => bench?.remove());

    test('every answer is right, and the rows say so, beside 500 that were there', () => {
      for (const [name, row] of scenarios) {
        const result = soundResult(bench, name);
        assertIntegrity(result);
        assert.equal(operation(result, row).success, 100);
        assert.deepEqual(processesOf(result), ['k6', 'mariadb', 'panel', 'total', 'xray']);
        assert.equal(result.run.parameters.existing, 500);
      }
    });

    test('no secret is left behind or shown, and nothing left running', () => {
      assertSecret(bench, seen.shown, /mysql:\/\/panel:[0-9a-f]{16}/);
      assert.ok(seen.shown.includes('mariadbd'), 'the processes were watched');
      assert.deepEqual(seen.left, []);
    });

    test('statement digests account for the requests, and for nothing else', () => {
      for (const [name] of scenarios) {
        const result = bench.result(`panel-${name}`);
        const [database] = rowsOf(sectionOf(result, 'database'));
        const digests = rowsOf(sectionOf(result, 'statements'));
        const calls = digests.map((/** @type {any} */ digest) => digest.calls);
        const listed = calls.reduce(
          (/** @type {number} */ sum, /** @type {number} */ count) => sum + count,
          0,
        );
        assert.equal(database.requests, 100);
        // The largest ten are listed.
        assert.ok(calls.length === 10 ? listed <= database.statements : listed === database.statements, name);
        assert.ok(database.statements_per_request >= 3, `${name}: ${database.statements_per_request}`);
        assert.equal(database.statements_per_request, database.statements / 100);
        const creations = digests.filter((/** @type {any} */ { text }) => CREATION.test(text));
        assert.equal(creations.length, name === 'users-create' ? 1 : 0);
        // MariaDB counts without a lock: the digests missed 21 of 40,000 statements of four parallel clients.
        for (const { calls: made } of creations) assert.ok(made >= 97 && made <= 100, `${made} of 100`);
        const panel = rowsOf(sectionOf(result, 'component')).find(
          ({ component }) => component === 'database',
        );
        assert.ok(panel, name);
        assert.ok(database.total_ms > 0 && database.total_ms < panel.calls * panel.avg_ms, name);
      }
    });
  });
}

for (const driver of ['sqlite', 'asyncmy']) {
  describe(`against a panel that stays up, with ${driver}`, () => {
    /** @type {Awaited<ReturnType<typeof lend>>} */
    let lent;
    /** @type {ReturnType<typeof panelOf>} */
    let panel;
    /** @type {{ PANEL_PASSWORD: string, PANEL_DATABASE_URL: string }} */
    let secrets;
    before(async () => {
      lent = await lend('panel', { driver });
      panel = panelOf(lent);
      secrets = lent.secret_outputs;
    });
    after(() => lent?.giveBack());

    /** @param {object} [more] */
    const entry = (more) => panelEntry(panel.url, { database_env: 'PANEL_DATABASE_URL', ...more });
    /** The number of users that xray accepts now: 0 while xray makes its inbound again. */
    const inXray = () => {
      try {
        return panel.countInXray();
      } catch {
        return 0;
      }
    };

    const users = async () => (await panel.call('GET', '/api/users?limit=1')).body.total;

    test('users that are seeded are let in by xray, and forgotten afterwards', async () => {
      let most = 0;
      const deleted = await answered(panel.url, 'delete_user');
      const timer = setInterval(() => (most = Math.max(most, inXray())), 300);
      const variables = { ...secrets, USERS: '200', EXISTING: '300' };
      const { code, result } = await runScript('panel', 'users-create', entry(), variables);
      clearInterval(timer);
      assert.equal(code, 0);
      assertIntegrity(result);
      assert.ok(most >= 300 && most <= 500, `${most} users in xray`);
      assert.equal(panel.countInXray(), 0);
      // Seeded users are removed by SQL: only the load's and the warm-up's take a request.
      assert.equal((await answered(panel.url, 'delete_user')) - deleted, 205);
    });

    test('users-list seeds a panel without users; where there are some, it lists those', async () => {
      const variables = { ...secrets, PROFILE: 'smoke' };
      const listed = async () => (await runScript('panel', 'users-list', entry(), variables)).result;
      const filled = await listed();
      assert.deepEqual([filled.run.parameters.existing, operation(filled, 'page').items.count], [2000, 5000]);
      assertIntegrity(filled);
      assert.deepEqual([panel.countInXray(), await users()], [0, 0]);
      await panel.call('POST', '/api/user', newUser('anna'));
      try {
        const found = await listed();
        assert.deepEqual([found.run.parameters.existing, operation(found, 'page').items.count], [0, 100]);
        assertIntegrity(found);
      } finally {
        await panel.call('DELETE', '/api/user/anna');
      }
    });

    test('a set-up that fails leaves nobody behind, seeded or made', async () => {
      const user = { proxies: { shadowsocks: {} }, inbounds: { shadowsocks: ['No such tag'] } };
      const failed = runScript('panel', 'users-create', entry({ user }), { ...secrets, EXISTING: '100' });
      await assert.rejects(failed, /creating a user: HTTP 422: .*Inbound No such tag doesn't exist/);
      assert.deepEqual([panel.countInXray(), await users()], [0, 0]);
    });

    test('Ctrl-C during the set-up: those who were seeded and made are removed', async () => {
      const ENV = writeEnvironment(folder.path, entry(), 'panel');
      const variables = { ...secrets, ENV, PROFILE: 'quick', USERS: '5000', EXISTING: '300' };
      const bench = startBench({ ...variables, ONLY: 'panel/users-enable' });
      try {
        await until(() => inXray() > 320, 'the users of the set-up');
        bench.child.kill('SIGINT');
        assert.equal(await bench.ended, 130, bench.output.stderr);
        assert.equal(panel.countInXray(), 0);
        const { PANEL_PASSWORD: password, PANEL_DATABASE_URL: url } = secrets;
        const leaks = bench.files().filter(({ text }) => text.includes(password) || text.includes(url));
        assert.deepEqual(leaks, []);
        assert.equal(await users(), 0);
      } finally {
        bench.remove();
      }
    });
  });
}

test('a panel that is killed in mid-run fails by name, and what was measured stays', async () => {
  const bench = startBench({ PROFILE: 'quick', ONLY: 'panel/users-create', USERS: '20000' });
  try {
    const panel = await until(() => childOf(bench, /python\S* -m uvicorn/), 'the panel');
    const url = `http://127.0.0.1:${/--port (\d+)/.exec(panel.command)?.[1]}`;
    const load = () =>
      answered(url, 'create_user').then(
        (count) => count > 200,
        () => false,
      );
    await until(load, 'the load');
    process.kill(panel.pid, 'SIGKILL');
    assert.equal(await bench.ended, 99, bench.output.stdout);
    const result = bench.result('panel-users-create');
    const { success, requests, errors } = operation(result, 'create');
    assert.ok(success > 0, 'what came before is kept');
    assertDied(errors);
    assert.ok(requests < 20000, 'a dead panel is not loaded to the end');
    assert.match(reasonsOf(result).join('\n'), /panel ended [\d.]+ s after the start \(signal 9\)/);
    assert.equal(result.verdict, 'fail');
  } finally {
    bench.remove();
  }
});

/**
 * Answered requests to a route, by the panel's own count.
 * @param {string} url @param {string} route
 */
async function answered(url, route) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const count = new RegExp(
    `^panel_component_seconds_count\\{component="route",route="${route}"\\} (\\S+)`,
    'm',
  );
  return Number(count.exec(text)?.[1] ?? 0);
}

/** @param {Bench} bench @param {RegExp} command */
const childOf = (bench, command) =>
  descendants(Number(bench.child.pid)).find(
    (process) => command.test(process.command) && !/__guard|__exec/.test(process.command),
  );
