/** The testbed `panel` behaves as Marzban with every driver, and xray really has the users. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/k6.js';
import { lendAll } from '../support/lend.js';
import { COMPONENTS, TAG, countsOf, newUser, panel } from '../support/panel.js';
import { commandLines, isAlive, processOf, until } from '../support/processes.js';
import { startSidecar } from '../support/sidecar.js';

/** Drivers of lent panels; other tests may have used a lent panel before. */
const LENT = ['sqlite', 'asyncmy'];
const DRIVERS = [...LENT, 'pymysql'];
const logs = temporaryFolder('panel-api');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;
/** @type {Awaited<ReturnType<typeof lendAll>>} */
let lent;
/** One of each driver. @type {Map<string, ReturnType<typeof opened>>} */
const panels = new Map();
/** Each panel's sums before the tests, by driver. @type {Map<string, import('../support/panel.js').Counts>} */
const earlier = new Map();

before(async () => {
  sidecar = await startSidecar(logs.path);
  panels.set('pymysql', await startPanel({ driver: 'pymysql' }));
  lent = await lendAll(LENT.map((driver) => ['panel', { driver }]));
  for (const [index, driver] of LENT.entries()) panels.set(driver, opened(lent.instances[index]));
  for (const [driver, one] of panels) earlier.set(driver, await countsOf(one.url));
});

after(async () => {
  for (const one of panels.values()) one.release();
  for (const driver of LENT) await panels.get(driver)?.removeUsers();
  await lent?.giveBack();
  await sidecar.stop();
  logs.remove();
});

/** @param {any} instance */
const opened = (instance) => ({ instance, ...panel(instance) });

/** @param {Record<string, unknown>} variables */
async function startPanel(variables) {
  const one = opened(await sidecar.start('panel', variables));
  return {
    ...one,
    stop: async () => {
      one.release();
      await sidecar.ask('DELETE', `/instances/${one.instance.id}`);
    },
  };
}

/** @param {{ name: string, ms: number }[]} timing */
const names = (timing) => timing.map(({ name }) => name).toSorted();

/**
 * @param {string} what
 * @param {(one: ReturnType<typeof opened>, driver: string) => void | Promise<void>} check
 */
function onEach(what, check) {
  for (const driver of DRIVERS) {
    test(`a panel on ${driver} ${what}`, () => {
      const one = panels.get(driver);
      assert.ok(one);
      return check(one, driver);
    });
  }
}

onEach('takes 20 creates at a time, on an empty database', async (one) => {
  const token = await one.logIn();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      one.ask('POST', '/api/user', { token, json: newUser(`crowd_${i}`) }),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  for (let i = 0; i < 20; i += 1) assert.equal(one.inXray(`crowd_${i}`).length, 1, `crowd_${i}`);
});

onEach('is the processes that it should be, and shows no secret', (one, driver) => {
  const processes = one.instance.processes.map((/** @type {any} */ process) => process.name);
  assert.deepEqual(processes, [...(driver === 'sqlite' ? [] : ['mariadb']), 'xray', 'panel']);
  assert.match(one.instance.versions[driver], /^\d+\.\d+/);
  assert.equal('mariadb' in one.instance.versions, driver !== 'sqlite');
  const written = readdirSync(one.instance.log_dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'));
  const seen = `${commandLines().join()}${written.join()}`;
  assert.ok(one.secrets.length === (driver === 'sqlite' ? 1 : 2));
  for (const secret of one.secrets) assert.ok(!seen.includes(secret));
});

onEach('lets nobody in without a token', async (one) => {
  const json = { username: 'admin', password: one.secrets[0] };
  const required = { username: 'Field required', password: 'Field required' };
  const form = { username: 'admin', password: 'wrong' };
  const tries = /** @type {[string, string, object, number, unknown][]} */ ([
    ['POST', '/api/admin/token', { json }, 422, required],
    ['POST', '/api/admin/token', { form }, 401, 'Incorrect username or password'],
    ['GET', '/api/users', {}, 401, 'Not authenticated'],
    ['GET', '/api/users', { token: 'x.y.z' }, 401, 'Could not validate credentials'],
    ['POST', '/api/user', { json: newUser('nobody') }, 401, 'Not authenticated'],
  ]);
  for (const [method, path, content, status, detail] of tries) {
    const answer = await one.ask(method, path, content);
    assert.deepEqual([answer.status, answer.body, answer.timing], [status, { detail }, []]);
  }
});

onEach('answers a create with the whole user, and keeps it', async (one) => {
  const more = { note: 'für Ünïcode', expire: 2_000_000_000, data_limit: 1024 };
  const created = await one.call('POST', '/api/user', newUser('alice', more));
  assert.equal(created.status, 200);
  const { password } = created.body.proxies.shadowsocks;
  // Each answer has a new token, with the time in it.
  const { subscription_url: address } = created.body;
  assert.match(address, /^\/sub\/[\w-]{15,}$/);
  assert.match(password, /^[\w-]{22}$/);
  assert.match(created.body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.deepEqual(created.body, {
    ...more,
    username: 'alice',
    status: 'active',
    used_traffic: 0,
    lifetime_used_traffic: 0,
    created_at: created.body.created_at,
    data_limit_reset_strategy: 'no_reset',
    on_hold_expire_duration: null,
    on_hold_timeout: null,
    proxies: { shadowsocks: { password, method: 'chacha20-ietf-poly1305' } },
    inbounds: { shadowsocks: [TAG] },
    excluded_inbounds: { shadowsocks: [] },
    subscription_url: address,
  });
  const read = (await one.call('GET', '/api/user/alice')).body;
  assert.deepEqual({ ...read, subscription_url: address }, created.body);
  assert.equal(one.inXray('alice')[0].account.password, password);
});

onEach('refuses as Marzban does', async (one) => {
  await one.call('POST', '/api/user', newUser('taken'));
  const tries = /** @type {[string, string, unknown, number, unknown][]} */ ([
    ['POST', '/api/user', newUser('taken'), 409, 'User already exists'],
    ['POST', '/api/user', newUser('TAKEN'), 409, 'User already exists'],
    ['POST', '/api/user', newUser('vmess', { proxies: { vmess: {} } }), 400, /^Protocol vmess is disabled/],
    ['POST', '/api/user', newUser('x'), 422, { username: /pattern/ }],
    ['POST', '/api/user', { username: 'no_proxies' }, 422, { proxies: /required/ }],
    ['POST', '/api/user', newUser('off', { status: 'disabled' }), 422, { status: /active/ }],
    ['POST', '/api/user', newUser('tag', { inbounds: { shadowsocks: ['X'] } }), 422, { inbounds: /X/ }],
    ['PUT', '/api/user/taken', { status: 'limited' }, 422, { status: /active/ }],
    ['PATCH', '/api/user/taken', { status: 'active' }, 405, 'Method Not Allowed'],
    ['GET', '/api/user/nobody', undefined, 404, 'User not found'],
    ['PUT', '/api/user/nobody', { status: 'active' }, 404, 'User not found'],
    ['DELETE', '/api/user/nobody', undefined, 404, 'User not found'],
    ['GET', '/api/users?sort=shoe_size', undefined, 400, /shoe_size/],
    ['GET', '/api/users?limit=-1', undefined, 422, { limit: /greater/ }],
  ]);
  for (const [method, path, json, status, detail] of tries) {
    const answer = await one.call(method, path, json);
    const what = `${method} ${path} ${JSON.stringify(json)}: ${JSON.stringify(answer.body)}`;
    assert.equal(answer.status, status, what);
    if (detail instanceof RegExp) assert.match(answer.body.detail, detail, what);
    else if (typeof detail === 'string') assert.equal(answer.body.detail, detail, what);
    else {
      const [[field, pattern]] = Object.entries(/** @type {Record<string, RegExp>} */ (detail));
      assert.match(answer.body.detail[field], pattern, what);
    }
  }
});

onEach('changes xray with every change of a user', async (one) => {
  const found = () => one.inXray('bob').length;
  const put = async (/** @type {object} */ changes) => {
    const { status, body } = await one.call('PUT', '/api/user/bob', changes);
    assert.equal(status, 200);
    return body;
  };
  await one.call('POST', '/api/user', newUser('bob'));
  assert.equal(found(), 1);
  for (let again = 0; again < 2; again += 1) {
    assert.equal((await put({ status: 'disabled' })).status, 'disabled');
    assert.equal(found(), 0);
  }
  for (let again = 0; again < 2; again += 1) {
    assert.equal((await put({ status: 'active' })).status, 'active');
    assert.equal(found(), 1);
  }
  const changed = await put({ note: 'n', expire: 5, proxies: { shadowsocks: { password: 'other' } } });
  assert.deepEqual([changed.note, changed.expire, changed.status], ['n', 5, 'active']);
  assert.equal(one.inXray('bob')[0].account.password, 'other');
  assert.equal((await put({ note: '', expire: 0 })).note, null);
  const gone = await one.call('DELETE', '/api/user/bob');
  assert.deepEqual([gone.status, gone.body], [200, { detail: 'User successfully deleted' }]);
  assert.equal(found(), 0);
  assert.equal((await one.call('GET', '/api/user/bob')).status, 404);
});

onEach('leaves xray alone for a user without inbounds', async (one) => {
  const outside = await one.call('POST', '/api/user', newUser('outside', { inbounds: undefined }));
  assert.deepEqual(outside.body.inbounds, { shadowsocks: [] });
  assert.deepEqual(outside.body.excluded_inbounds, { shadowsocks: [TAG] });
  assert.deepEqual(names(outside.timing), ['database', 'database_pool', 'route']);
  assert.equal(one.inXray('outside').length, 0);
  await one.call('PUT', '/api/user/outside', { inbounds: { shadowsocks: [TAG] } });
  assert.equal(one.inXray('outside').length, 1);
  await one.call('POST', '/api/user', newUser('inside', { inbounds: {} }));
  assert.equal(one.inXray('inside').length, 1);
  assert.equal((await one.call('DELETE', '/api/user/outside')).status, 200);
});

onEach('lists pages, and finds', async (one) => {
  for (const letter of ['a', 'b', 'c']) {
    await one.call('POST', '/api/user', newUser(`page_${letter}`, { note: `about ${letter}` }));
  }
  await one.call('PUT', '/api/user/page_b', { status: 'disabled' });
  const list = async (/** @type {string} */ query) => {
    const { status, body } = await one.call('GET', `/api/users?${query}`);
    assert.equal(status, 200);
    return [body.total, ...body.users.map((/** @type {any} */ user) => user.username)];
  };
  assert.deepEqual(await list('search=page_'), [3, 'page_a', 'page_b', 'page_c']);
  assert.deepEqual(await list('search=page_&offset=1&limit=1'), [3, 'page_b']);
  assert.deepEqual(await list('search=page_&sort=-username&limit=2'), [3, 'page_c', 'page_b']);
  assert.deepEqual(await list('search=page_&status=disabled'), [1, 'page_b']);
  assert.deepEqual(await list('username=page_a&username=page_c'), [2, 'page_a', 'page_c']);
  assert.deepEqual(await list('search=about%20c'), [1, 'page_c']);
  const { body } = await one.call('GET', '/api/system');
  assert.equal(body.total_user, (await list('limit=1'))[0]);
  assert.equal(body.users_disabled, 1);
  assert.equal(body.users_active, body.total_user - 1);
});

onEach('tells of itself and of xray', async (one) => {
  const core = await one.call('GET', '/api/core');
  assert.deepEqual(core.body, { version: one.instance.versions.xray, started: true });
  const [inbound, ...others] = (await one.call('GET', '/api/inbounds')).body.shadowsocks;
  assert.deepEqual([inbound.tag, inbound.protocol, others], [TAG, 'shadowsocks', []]);
  assert.deepEqual((await one.ask('GET', '/health')).body, { status: 'ok' });
});

/**
 * Seeds users as a load test does.
 * @param {{ run: (statement: string) => Promise<unknown[][]> }} sql
 * @param {string} username
 * @param {string} status
 * @param {string} password
 */
async function seed(sql, username, status, password) {
  await sql.run(
    'INSERT INTO users (username, status, used_traffic, created_at, admin_id, data_limit_reset_strategy,' +
      ` last_status_change) SELECT '${username}', '${status}', 0, CURRENT_TIMESTAMP, MIN(id), 'no_reset',` +
      ' CURRENT_TIMESTAMP FROM admins',
  );
  const settings = `{"password"\\:"${password}","method"\\:"aes-256-gcm"}`;
  await sql.run(
    `INSERT INTO proxies (user_id, type, settings) SELECT id, 'Shadowsocks', '${settings}' FROM users` +
      ` WHERE username = '${username}'`,
  );
}

onEach('loads at a restart what was written by SQL', async (one) => {
  const sql = one.transaction();
  await seed(sql, 'seed_on', 'active', 'seeded');
  await seed(sql, 'seed_off', 'disabled', 'seeded');
  const [[active]] = await sql.run(`SELECT COUNT(*) FROM users WHERE status = 'active'`);
  await sql.end();
  assert.equal(one.inXray('seed_on').length, 0);
  assert.equal((await one.call('POST', '/api/core/restart')).status, 200);
  assert.equal(one.inXray('seed_on')[0].account.cipherType, 'AES_256_GCM');
  assert.equal(one.inXray('seed_off').length, 0);
  assert.equal((await one.call('GET', '/api/system')).body.users_active, active);
  const { body, status } = await one.call('PUT', '/api/user/seed_off', { status: 'active' });
  assert.deepEqual([status, body.proxies.shadowsocks.password], [200, 'seeded']);
  assert.equal(one.inXray('seed_off').length, 1);
});

onEach('loads more users at a restart than a message to xray holds', async (one) => {
  const others = one.countInXray();
  const sql = one.transaction();
  for (let i = 0; i < 50; i += 1) await seed(sql, `big_${i}`, 'active', String(i).padEnd(100_000, 'x'));
  await sql.end();
  assert.equal((await one.call('POST', '/api/core/restart')).status, 200);
  assert.equal(one.countInXray(), others + 50);
  for (let i = 0; i < 50; i += 1) await one.call('DELETE', `/api/user/big_${i}`);
  assert.equal(one.countInXray(), others);
});

onEach('tells how long the parts of a request took', async (one) => {
  const expected = /** @type {[string, string, unknown, string[]][]} */ ([
    ['POST', '/api/user', newUser('timed'), ['xray_add']],
    ['POST', '/api/user', newUser('timed'), []],
    ['GET', '/api/user/timed', undefined, []],
    ['PUT', '/api/user/timed', { status: 'disabled' }, ['xray_remove']],
    ['PUT', '/api/user/timed', { status: 'active' }, ['xray_add', 'xray_remove']],
    ['DELETE', '/api/user/timed', undefined, ['xray_remove']],
    ['DELETE', '/api/user/timed', undefined, []],
  ]);
  for (const [method, path, json, calls] of expected) {
    const start = performance.now();
    const { timing } = await one.call(method, path, json);
    const took = performance.now() - start;
    assert.deepEqual(names(timing), ['database', 'database_pool', 'route', ...calls], `${method} ${path}`);
    const [route, ...parts] = timing;
    assert.equal(route.name, 'route');
    assert.ok(route.ms < took);
    assert.ok(parts.every(({ ms }) => ms > 0));
    const sum = parts.reduce((total, { ms }) => total + ms, 0);
    assert.ok(sum <= route.ms + 0.005, `${sum} of ${route.ms} ms`);
  }
});

onEach('sums the same up for Prometheus', async (one, driver) => {
  const counts = await countsOf(one.url);
  for (const component of COMPONENTS) {
    const { count, sum } = counts[component];
    const { count: countBefore = 0, sum: sumBefore = 0 } = earlier.get(driver)?.[component] ?? {};
    const told = one.told.filter(({ name }) => name === component);
    assert.ok(told.length > 10, component);
    assert.equal(count - countBefore, told.length, component);
    const ms = told.reduce((total, call) => total + call.ms, 0);
    assert.ok(Math.abs((sum - sumBefore) * 1000 - ms) <= told.length * 0.001, component);
  }
  const text = await (await fetch(`${one.url}/metrics`)).text();
  assert.match(text, /panel_component_seconds_bucket{component="route",le="0.0005",route="create_user"}/);
});

/** @param {string} driver */
const startSmall = (driver) =>
  startPanel({
    driver,
    lock_timeout_s: 3,
    pool_size: 1,
    max_overflow: 0,
    pool_timeout_s: 1,
    token_seconds: 1,
    server_timing: false,
    prometheus: false,
    traffic_interval_s: 3600,
  });

for (const driver of DRIVERS) {
  test(`a panel on ${driver} names what goes wrong`, async () => {
    const one = await startSmall(driver);
    try {
      const old = await one.logIn();
      const created = await one.call('POST', '/api/user', newUser('locked'));
      assert.deepEqual([created.status, created.timing], [200, []], 'without Server-Timing');
      assert.equal((await fetch(`${one.url}/metrics`)).status, 404);
      const lock = one.transaction();
      await lock.run(`UPDATE users SET note = 'held' WHERE username = 'locked'`);
      const first = one.call('PUT', '/api/user/locked', { status: 'disabled' });
      await sleep(1000);
      const second = await one.call('GET', '/api/user/locked');
      assert.deepEqual([second.status, second.body], [500, { detail: 'no database connection is free' }]);
      const { status, body } = await first;
      assert.deepEqual([status, body], [500, { detail: 'database is locked' }]);
      await lock.end();
      assert.equal(one.inXray('locked').length, 1, 'what was refused is not done');
      const { body: kept } = await one.call('GET', '/api/user/locked');
      assert.deepEqual([kept.status, kept.note], ['active', 'held']);

      const expired = await one.ask('GET', '/api/users', { token: old });
      assert.deepEqual([expired.status, expired.body], [401, { detail: 'Could not validate credentials' }]);

      const xray = processOf(one.pid('xray'));
      process.kill(xray.pid, 'SIGKILL');
      await until(() => !isAlive(xray), 'the end of xray');
      const alone = await one.call('PUT', '/api/user/locked', { status: 'active' });
      assert.deepEqual([alone.status, alone.body], [500, { detail: 'xray did not take the change' }]);
      assert.equal((await one.call('GET', '/api/core')).body.started, false);

      const log = readFileSync(`${one.instance.log_dir}/panel.log`, 'utf8').trim().split('\n');
      assert.deepEqual(
        log.map((line) => line.split(': ')[0]),
        [
          'ERROR no database connection is free',
          'ERROR database is locked',
          'ERROR xray did not take the change',
        ],
      );
    } finally {
      await one.stop();
    }
  });
}

test('without MariaDB, one line says what to install', async () => {
  const variables = { driver: 'pymysql', mariadbd: '/nowhere/mariadbd' };
  const { status, body } = await sidecar.ask('POST', '/testbeds/panel/start', { variables });
  assert.equal(status, 502);
  assert.match(body.error, /\/nowhere\/mariadbd, which does not exist/);
  assert.match(body.mend, /mariadb-server-core/);
});
