import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { descendants, isAlive, processOf, until, watch } from '../support/processes.js';

test('a process is told by its pid and its start: another with that pid is not it', async () => {
  const child = spawn('sleep', ['60']);
  const one = processOf(Number(child.pid));
  assert.equal(one.parent, process.pid);
  assert.deepEqual([isAlive(one), isAlive({ ...one, born: one.born - 1 })], [true, false]);
  child.kill();
  await once(child, 'exit');
  assert.equal(isAlive(one), false);
  assert.throws(() => processOf(one.pid), new RegExp(`^Error: there is no process ${one.pid}$`));
});

test('what a watched process leaves running is told, and what ended with it is not', async () => {
  const child = spawn('bash', ['-c', 'sleep 61 & sleep 62 & echo begun; read -r; kill %2; wait %2'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const watched = watch(child);
  await once(child.stdout, 'data');
  const sleeping = () => descendants(Number(child.pid)).filter(({ command }) => /^sleep/.test(command));
  await until(() => sleeping().length === 2, 'both');
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.stdin.end('\n');
  await once(child, 'exit');
  const { shown, left } = watched();
  assert.match(shown, /sleep 62/);
  assert.deepEqual(
    left.map(({ command }) => command.trim()),
    ['sleep 61'],
  );
  process.kill(left[0].pid);
});
