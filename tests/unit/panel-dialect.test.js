/** Dialect files: what they may hold. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { DIALECTS, readDialect } from '../../lib/panel/dialect.js';
import { faultOf, keysOf } from '../../lib/panel/subscription.js';
import { ROOT, temporaryFolder } from '../support/k6.js';

const FOLDER = `${ROOT}/lib/panel/dialects`;
const marzban = () => JSON.parse(readFileSync(`${FOLDER}/marzban.json`, 'utf8'));

test('each file is a dialect, and each dialect a file', () => {
  assert.deepEqual(readdirSync(FOLDER).toSorted(), DIALECTS.map((name) => `${name}.json`).toSorted());
  for (const name of DIALECTS) assert.equal(readDialect(name).name, name);
});

test('a bad field is named in one line', () => {
  const folder = temporaryFolder('dialect');
  const path = `${folder.path}/own.json`;
  /** @param {(file: any) => void} change */
  const said = (change) => {
    const file = marzban();
    change(file);
    writeFileSync(path, JSON.stringify(file));
    try {
      readDialect('own.json', `${folder.path}/`);
      return 'nothing';
    } catch (line) {
      return line;
    }
  };
  try {
    assert.equal(
      said(() => {}),
      'nothing',
    );
    for (const [change, line] of /** @type {[(file: any) => void, string][]} */ ([
      [(file) => (file.operations.create.status = 500), 'operations.create.status: 500 is too large'],
      [(file) => delete file.operations.restart, 'operations.restart: missing'],
      [(file) => (file.fields.state = 'x'), 'fields.state: unknown key; known here: figures, note, status'],
      [(file) => (file.tables.users.note = 'a`b'), 'tables.users.note: "a`b" does not match'],
      [
        (file) => (file.tables.users.row['a` = 1'] = 0),
        'tables.users.row["a` = 1"]: the name does not match',
      ],
      [
        (file) => delete file.tables.proxies.protocols.vless.settings,
        'tables.proxies.protocols.vless.settings: missing',
      ],
    ]))
      assert.ok(said(change).startsWith(`dialect own.json: ${line}`), said(change));
  } finally {
    folder.remove();
  }
});

test("a request's body has the environment's fields inside", () => {
  const body = readDialect('3x-ui').body(
    'create',
    { name: 'n', note: 'm' },
    { client: { limitIp: 1 }, inboundIds: [3] },
  );
  assert.deepEqual(JSON.parse(String(body)), {
    client: { limitIp: 1, email: 'n', enable: true, comment: 'm' },
    inboundIds: [3],
  });
  assert.equal(
    readDialect('3x-ui').listPath({ offset: 100, limit: 50, search: 'wt_', status: 'disabled' }),
    '/panel/api/clients/list/paged?page=3&pageSize=50&sort=email&order=ascend&search=wt_&filter=deactive',
  );
});

test('the key of each kind of link is one of the keys of its user', () => {
  const base64 = (/** @type {string} */ text) => Buffer.from(text).toString('base64');
  const uuid = '2b3f9f4e-1111-4222-8333-94aaaa00aaaa';
  const keys = keysOf({
    vless: { id: uuid },
    trojan: { password: 'its-secret' },
    hysteria: { auth: 'its-auth' },
  });
  const user = { name: 'n', address: '', protocols: [], keys, before: [] };
  const fault = (/** @type {string[]} */ ...links) =>
    faultOf(base64(links.join('\n')), { kind: 'links', agent: '' }, user, () => false);
  const right = [
    `vless://${uuid}@127.0.0.1:1?type=tcp#n`,
    `vmess://${base64(JSON.stringify({ id: uuid }))}`,
    'trojan://its-secret@127.0.0.1:1#n',
    'hysteria2://its-auth@127.0.0.1:1?sni=a#n',
    `ss://${base64('aes-256-gcm:its-secret')}@127.0.0.1:1#n`,
    'ss://aes-256-gcm:its-secret@127.0.0.1:1#n',
  ];
  assert.equal(fault(...right), null);
  for (const link of right)
    assert.match(
      String(fault(link.replace(/@|[A-Za-z0-9]{4}$/, 'x$&'))),
      /not the user's own|no subscription/,
      link,
    );
});

test('a link with a percent sign that the panel did not escape is read as it is', () => {
  const user = { name: 'n', address: '', protocols: [], keys: ['50%-secret'], before: [] };
  const fault = (/** @type {string} */ key) => {
    const text = Buffer.from(`trojan://${key}@127.0.0.1:1#n`).toString('base64');
    return faultOf(text, { kind: 'links', agent: '' }, user, () => false);
  };
  assert.deepEqual(['50%25-secret', '50%-secret'].map(fault), [null, null]);
  assert.match(String(fault('60%-secret')), /not the user's own/);
});
