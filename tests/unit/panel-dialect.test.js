/** Dialect files: what they may hold. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { DIALECTS, readDialect } from '../../lib/panel/dialect.js';
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
      [
        (file) => (file.operations.create.status = 500),
        'operations.create.status: not a number from 200 to 299',
      ],
      [(file) => delete file.operations.restart, 'operations.restart: not an object'],
      [(file) => (file.operations.read.path = 'api'), 'operations.read.path: not a path that begins with /'],
      [
        (file) => (file.fields.state = 'x'),
        'fields.state: no such field; there are users, total, figures, username, note, status',
      ],
      [(file) => (file.tables = 'marzban'), 'tables: not an object'],
      [(file) => delete file.tables.users.note, 'tables.users.note: not a name of letters, digits and _'],
      [
        (file) => (file.tables.users.row['a` = 1'] = 0),
        'tables.users.row.a` = 1: not a name of letters, digits and _',
      ],
      [
        (file) => (file.tables.users.row.expire = []),
        'tables.users.row.expire: not a text, a number, true, false or null',
      ],
      [
        (file) => delete file.tables.proxies.protocols.vless.settings,
        'tables.proxies.protocols.vless.settings: not an object',
      ],
      [
        (file) => (file.subscription.formats.clash.kind = 'yaml'),
        'subscription.formats.clash.kind: not links, clash, sing-box, outline',
      ],
    ]))
      assert.equal(said(change), `dialect own.json: ${line}`);
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
