/** Keys in subscriptions: the scenario finds a panel that answers with wrong keys, and names the fault. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPanel } from '../support/faulty.js';
import { operation, runPanel } from '../support/k6.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { assertVerdict } from '../support/verdict.js';

const FEW = { CLIENTS: '2', USERS: '4', REQUESTS: '40' };
const FORMATS = ['v2ray', 'clash', 'clash_meta', 'sing_box', 'outline'];

test('right subscriptions pass in each format, and no key is in the result', async () => {
  await withPanel({}, async (panel) => {
    const { code, result } = await runPanel('subscription', panel.url, { ...FEW, REQUESTS: '200' });
    assertVerdict(result, 'pass', code);
    for (const name of FORMATS)
      for (const row of [name, `${name}_again`]) assert.equal(operation(result, row).success, 40, row);
    assert.equal(operation(result, 'renew').success, 40);
    const rows = rowsOf(sectionOf(result, 'subscriptions'));
    assert.deepEqual(
      rows.map(({ format, size }) => [format, size > 20]),
      FORMATS.map((name) => [name, true]),
    );
    assert.doesNotMatch(JSON.stringify(result), /password-of|key-\d+-of/);
    assert.deepEqual(panel.left(), []);
  });
});

for (const [subscription, said] of /** @type {const} */ ([
  ['others', /^HTTP 200: another user's keys$/],
  ['empty', /^HTTP 200: no server in it$/],
  ['stale', /^HTTP 200: the keys before their change$/],
  ['page', /^HTTP 200: no subscription of the format (links|clash|sing-box|outline)$/],
])) {
  test(`a panel whose subscriptions are wrong (${subscription}) fails, by name`, async () => {
    await withPanel({ subscription }, async (panel) => {
      const { code, result } = await runPanel('subscription', panel.url, { ...FEW, CLIENTS: '1' });
      assertVerdict(result, 'fail', code);
      for (const name of FORMATS) {
        const { success, errors, error_details: details } = operation(result, name);
        assert.deepEqual([success, errors], [0, { bad_response: 8 }], name);
        assert.match(details[0].detail, said);
      }
    });
  });
}

test('a panel of a dialect without subscriptions is refused in one line', async () => {
  const three = {
    dialect: '3x-ui',
    auth: { mode: 'token', token_env: 'PANEL_PASSWORD' },
    user: { inboundIds: [1] },
  };
  await assert.rejects(
    runPanel('subscription', 'http://127.0.0.1:9', FEW, three),
    /panel\/subscription: 3x-ui 3: its dialect has no subscription/,
  );
});
