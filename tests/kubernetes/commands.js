/**
 * The commands that k6-operator runs for pulsar/concurrent with two runners. `make cluster-manifests` writes the TestRun, and the
 * operator's own Go packages turn the TestRun into commands, without a cluster. As a program this file writes
 * tests/fixtures/k6-operator.json.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { K6, ROOT, cleanEnvironment, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { openEntry } from '../support/runners.js';

const FIXTURE = join(ROOT, 'tests', 'fixtures', 'k6-operator.json');
const TARGET = '192.0.2.1';

/** A TestRun and its other manifests, as text. */
function manifests() {
  const folder = temporaryFolder('operator');
  try {
    return execFileSync(K6, ['x', 'cluster', '--print', '--run-id', 'operator-commands'], {
      cwd: ROOT,
      env: {
        ...cleanEnvironment(),
        CONFIRM_REMOTE: TARGET,
        ENV: writeEnvironment(folder.path, openEntry(`http://${TARGET}:8080`)),
        IMAGE: 'localhost/windtunnel:test',
        ONLY: 'pulsar/concurrent',
        PROFILE: 'smoke',
        RUNNERS: '2',
      },
    });
  } finally {
    folder.remove();
  }
}

/** From the packages: the version of the operator, and the commands of its initializer, its runners and its starter. */
export const commandsOfOperator = () =>
  JSON.parse(
    execFileSync('go', ['run', '-trimpath', './commands'], {
      cwd: join(ROOT, 'tests', 'kubernetes', 'operator'),
      env: { ...process.env, CGO_ENABLED: '0' },
      input: manifests(),
      encoding: 'utf8',
    }),
  );

/** The same from the fixture. */
export const commandsThatAreKept = () => JSON.parse(readFileSync(FIXTURE, 'utf8'));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(FIXTURE, `${JSON.stringify(commandsOfOperator(), null, 2)}\n`);
}
