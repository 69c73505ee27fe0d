/** Refusals, aborts and missing features of a panel are counted separately and explained, and so is invalid input. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { errorLines, startBench } from '../support/bench.js';
import { withPanel } from '../support/faulty.js';
import { operation, panelEntry, runPanel, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { reasonsOf } from '../support/reasons.js';
import { assertVerdict } from '../support/verdict.js';

const folder = temporaryFolder('panel-errors');
after(folder.remove);

/** @param {string} url @param {object} [panel] */
const environment = (url, panel) => writeEnvironment(folder.path, panelEntry(url, panel), 'panel');

/** The words of each kind of refusal. @type {Record<string, RegExp>} */
const KINDS = {
  http_409: /already exists on the target \(409\)/,
  http_422: /content of the request invalid \(422\)/,
  http_5xx: /answered 5xx/,
  connection_reset: /reset connections/,
  database_locked: /database was locked/,
};

test('each kind of refusal is counted exactly and apart, and fails the run by name', async () => {
  /** @type {import('../fakes/panel-users.js').Refusal[]} */
  const answers = [409, 422, 500, 'reset', 'locked'];
  await withPanel({ createError: { every: 10, answers } }, async (panel) => {
    const { code, result } = await runPanel('users-create', panel.url, { USERS: '200' });
    const { requests, success, errors, latency_ms: latency } = operation(result, 'create');
    // Every tenth of 205 creations fails, but none of the five of the warm-up.
    const each = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 4]));
    assert.deepEqual([requests, success, latency.count, errors], [200, 180, 180, each]);
    assertVerdict(result, 'fail', code);
    const reasons = reasonsOf(result);
    for (const [kind, words] of Object.entries(KINDS)) {
      const line = reasons.find((one) => one.startsWith(`create: 4 × ${kind} in 200 requests`));
      assert.match(line ?? reasons.join('\n'), words);
    }
    assert.ok(
      result.integrity.every((/** @type {any} */ line) => line.ok),
      JSON.stringify(result.integrity),
    );
    assert.deepEqual(panel.left(), []);
  });
});

test('a token that expires is renewed once by each client, and its request repeated once', async () => {
  await withPanel({ tokenRequests: 100, delayMs: 5 }, async (panel) => {
    const variables = { CLIENTS: '4', USERS: '40' };
    const { code, result } = await runPanel('users-lifecycle', panel.url, variables);
    for (const row of result.operations) assert.deepEqual([row.requests, row.success], [40, 40], row.name);
    // Log-ins: one in set-up, then one for each of four clients, and one for the clean-up.
    assert.deepEqual([panel.truth.logins, panel.truth.unauthorized], [6, 5]);
    assertVerdict(result, 'pass', code);
    assert.deepEqual(panel.left(), []);
    assert.deepEqual(result.notes, [
      'the token expired in mid-run (401): logged in again, 5 times in all, clean-up included',
    ]);
  });
});

test('a token that stays dead fails the run, and nobody logs in for ever', async () => {
  await withPanel({ tokenRequests: 60, everyTokenDead: true, delayMs: 5 }, async (panel) => {
    const variables = { CLIENTS: '4', USERS: '200' };
    const { code, result, stderr } = await runPanel('users-create', panel.url, variables);
    const { requests, success, errors } = operation(result, 'create');
    assert.deepEqual([requests, errors], [200, { http_401: 200 - success }]);
    assert.equal(panel.truth.logins, 6);
    assertVerdict(result, 'fail', code);
    assert.match(reasonsOf(result).join('\n'), /create: \d+ × http_401 .*check the user, the password/);
    // Users cannot be removed either.
    assert.match(
      stderr,
      /up to \d+ users of run \S+, whose names begin with wt_[0-9a-f]{12}_ .*may be left; .* removes them: bin\/windtunnel clean-up /,
    );
  });
});

test('a wrong password is told in one line, and nothing is made', async () => {
  await withPanel({}, async (panel) => {
    const bench = startBench({
      ENV: environment(panel.url),
      ONLY: 'panel/users-create',
      PANEL_PASSWORD: 'not-the-password',
    });
    try {
      assert.equal(await bench.ended, 4);
      const lines = errorLines(bench.output);
      assert.equal(lines.length, 1, bench.output.stdout);
      assert.match(lines[0], /refused user admin: wrong user name or password/);
      assert.deepEqual([panel.truth.requests, panel.truth.names.size], [{}, 0]);
    } finally {
      bench.remove();
    }
  });
});

const PASSWORD = 'word-of-the-fake';
const DATABASE = { database_env: 'PANEL_DATABASE_URL' };
const POSTGRES = 'postgresql://panel:secret-word@127.0.0.1/panel';
const REMOTE = 'mysql://panel:secret-word@db.example.net/panel';
const INPUTS = /** @type {[string, string, Record<string, string>, number, RegExp][]} */ ([
  ['a mix of something unknown', 'mixed', { MIX: 'read:1,write:2' }, 4, /MIX=read:1,write:2: write it as/],
  ['a mix without weights', 'mixed', { MIX: 'read' }, 4, /MIX=read: write it as/],
  ['a mix of nothing', 'mixed', { MIX: 'read:0' }, 4, /MIX=read:0: write it as/],
  ['users to seed, and no database', 'mixed', { EXISTING: '10' }, 4, /seeded by SQL: name .*database_env/],
  ['fewer than no users to seed', 'mixed', { EXISTING: '-1' }, 2, /EXISTING=-1: a whole number from 0/],
  ['an unknown database', 'mixed', { PANEL_DATABASE_URL: POSTGRES }, 2, /PANEL_DATABASE_URL .*give mysql:/],
  ['a remote database', 'mixed', { PANEL_DATABASE_URL: REMOTE }, 2, /CONFIRM_REMOTE=db\.example\.net/],
]);

for (const [name, scenario, variables, code, pattern] of INPUTS) {
  test(`${name}: one line, exit code ${code}, and nothing is sent`, async () => {
    await withPanel({ password: PASSWORD }, async ({ url, truth }) => {
      const ENV = environment(url, 'PANEL_DATABASE_URL' in variables ? DATABASE : {});
      const given = { ENV, ONLY: `panel/${scenario}`, PANEL_PASSWORD: PASSWORD, ...variables };
      const bench = startBench(given);
      try {
        assert.equal(await bench.ended, code, bench.output.stdout + bench.output.stderr);
        const lines = errorLines(bench.output);
        assert.equal(lines.length, 1, bench.output.stdout + bench.output.stderr);
        assert.match(lines[0], pattern);
        assert.ok(!`${bench.output.stdout}${bench.output.stderr}`.includes('secret-word'));
        assert.deepEqual([truth.logins, truth.requests], [0, {}]);
      } finally {
        bench.remove();
      }
    });
  });
}

test('k6 run by itself refuses a database in one line, too', async () => {
  await withPanel({}, async ({ url, truth }) => {
    const refused = runPanel('mixed', url, { PANEL_DATABASE_URL: POSTGRES }, DATABASE);
    await assert.rejects(refused, ({ message }) => {
      assert.match(message, /exit code 107: .*PANEL_DATABASE_URL: not a database URL .*write mysql:/);
      assert.ok(!message.includes('secret-word') && !message.trim().includes('\n'), message);
      return true;
    });
    assert.deepEqual([truth.logins, truth.requests], [0, {}]);
  });
});
