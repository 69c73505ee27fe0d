/** Reading an environment in a script, and the errors in one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { loadSystem } from '../../lib/environment.js';
import { K6, ROOT, temporaryFolder } from '../support/k6.js';

const { base } = JSON.parse(readFileSync(`${ROOT}/tests/fixtures/environments.json`, 'utf8'));
const folder = temporaryFolder('environments');
after(folder.remove);
const path = `${folder.path}/trial.json`;

/** @param {object} change null removes a key @param {string} [system] */
function write(change, system = 'pulsar') {
  const entry = { ...base.systems[system], ...change };
  const kept = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
  writeFileSync(path, JSON.stringify({ ...base, systems: { [system]: kept } }));
}

test('a script refuses what k6 x validate refuses, by the same field', () => {
  write({ websocket: { auth: 'cookie' } });
  const validate = spawnSync(K6, ['x', 'validate', path], { encoding: 'utf8' });
  assert.equal(validate.status, 2, validate.stdout);
  const field = 'trial.json: systems.pulsar.websocket.auth';
  assert.ok(`${validate.stderr}${validate.stdout}`.includes(field), validate.stderr);
  assert.throws(given({}), (/** @type {unknown} */ thrown) => String(thrown).includes(field));
});

/** @param {Record<string, string>} variables */
function given(variables) {
  globalThis.__ENV = { ENV: path, ...variables };
  return () => loadSystem('pulsar');
}

/** @param {RegExp} pattern */
const line = (pattern) => (/** @type {unknown} */ thrown) =>
  typeof thrown === 'string' && pattern.test(thrown);

test('bad JSON, a missing file and a wrong name are told in one line', () => {
  writeFileSync(path, '{ "schema": ');
  assert.throws(given({}), line(/trial\.json: not valid JSON/));
  assert.throws(given({ ENV: 'nowhere' }), line(/environments\/nowhere\.json: no such environment/));
  assert.throws(given({ ENV: '../secrets' }), line(/ENV=\.\.\/secrets: neither/));
  writeFileSync(path, JSON.stringify({ ...base, name: 'other' }));
  assert.throws(given({}), line(/trial\.json: name: "other" is not the file's name trial/));
});

test('a secret comes from its variable only', () => {
  write({ auth: { mode: 'token', token_env: 'RELAY_TOKEN' } });
  assert.throws(given({}), line(/RELAY_TOKEN is not set/));
  assert.equal(given({ RELAY_TOKEN: 'abc' })().auth.token, 'abc');
});

test('who logs in comes from its variable before the file', () => {
  write({ auth: { mode: 'login', username: 'of-the-file', password_env: 'RELAY_PASSWORD' } });
  const user = (/** @type {Record<string, string>} */ variables) =>
    /** @type {any} */ (given({ RELAY_PASSWORD: 'p', ...variables })().auth).username;
  assert.equal(user({}), 'of-the-file');
  assert.equal(user({ PULSAR_USERNAME: 'of-the-testbed' }), 'of-the-testbed');
});

test('another host than this machine needs its name said again', () => {
  write({ url: 'https://relay.example.net' });
  assert.throws(
    given({}),
    line(/relay\.example\.net is not this machine: set CONFIRM_REMOTE=relay\.example\.net/),
  );
  assert.throws(given({ CONFIRM_REMOTE: 'other.example.net' }), line(/not this machine/));
  assert.equal(given({ CONFIRM_REMOTE: 'relay.example.net' })().url, 'https://relay.example.net');
  write({ url: 'https://relay.example.net:8443/base' });
  assert.equal(given({ CONFIRM_REMOTE: 'relay.example.net' })().url, 'https://relay.example.net:8443/base');
});

test('a variable comes before the URL of the file, and makes the WebSocket one', () => {
  write({ websocket: { auth: 'none', path: '/live' } });
  const system = given({ PULSAR_URL: 'http://127.0.0.1:9999/' })();
  assert.deepEqual([system.url, system.websocket.url], ['http://127.0.0.1:9999', 'ws://127.0.0.1:9999/live']);
});
