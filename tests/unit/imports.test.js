/** Files that neither tsc nor a test loads, such as benchmarks, must not import missing files. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/k6.js';

const FOLDERS = ['benchmarks', 'grafana', 'lib', 'scripts', 'tests'];
const IMPORT = /(?:from |import\()'(\.\.?\/[^']+)'/g;

test('each relative import, of a type as well, leads to a file', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(ROOT, folder, name)),
  );
  const imports = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path]) => ({ file, path })),
  );
  assert.ok(imports.length > 500, `${imports.length} imports`);
  // Imports of types alone refer to a .d.ts file.
  const lost = imports.filter(({ file, path }) => {
    const found = join(dirname(file), path);
    return !existsSync(found) && !existsSync(found.replace(/\.js$/, '.d.ts'));
  });
  assert.deepEqual(lost, []);
});
