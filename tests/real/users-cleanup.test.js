/** The users that an interrupted run left on an xray that stays up are removed, and no other user is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { K6, cleanEnvironment, start, temporaryFolder } from '../support/k6.js';
import { startSidecar } from '../support/sidecar.js';

test('clean-up removes the users of a run from the real xray', async () => {
  const folder = temporaryFolder('users-cleanup');
  const sidecar = await startSidecar(folder.path);
  try {
    const { outputs } = await sidecar.start('users-live', { users: 10 });
    const variables = { ...cleanEnvironment(), USERS_API: outputs.USERS_API };
    /** @param {string} add */
    const names = async (add = '') => {
      const script = start(K6, ['run', '--quiet', 'tests/fixtures/xray-users.js'], {
        env: { ...variables, ADD: add, K6_NO_USAGE_REPORT: 'true' },
      });
      assert.equal(await script.ended, 0, script.output.stderr);
      return /NAMES ([^"]*)/.exec(script.output.stderr)?.[1];
    };
    assert.equal(await names('run-0,run-17,run-1-5,runs-3'), 'run-0 run-1-5 run-17 runs-3');
    const command = start('bin/windtunnel', ['clean-up', 'run', '--system', 'users'], { env: variables });
    assert.equal(await command.ended, 0, command.output.stderr);
    assert.match(command.output.stdout, /users: nothing of run run is left/);
    assert.equal(await names(), 'run-1-5 runs-3');
  } finally {
    await sidecar.stop();
    folder.remove();
  }
});
