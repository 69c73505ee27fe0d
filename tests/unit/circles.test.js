/** Files and folders of JavaScript and Rust import each other in no circle. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { circlesOf, foldersOf, rustImports, scriptImports } from '../support/circles.js';
import { ROOT } from '../support/k6.js';

/** Text by path below `from`. @param {string} ending @param {string[]} folders @param {string} [from] */
function sources(ending, folders, from = '') {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, from, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name)),
  );
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, from, file), 'utf8')]));
}

/** The folder directly below src/. @param {string} module */
const topOf = (module) => module.split('::')[0];

test('JavaScript has no circle of files or folders', () => {
  const files = scriptImports(sources('.js', ['benchmarks', 'grafana', 'lib', 'scripts', 'tests']));
  assert.ok(files.size > 200, `${files.size} files`);
  assert.ok(files.get('lib/scenario.js')?.has('lib/link.js'));
  assert.deepEqual(circlesOf(files), []);
  assert.deepEqual(circlesOf(foldersOf(files)), []);
});

test('the sidecar has no circle of modules or folders', () => {
  const modules = rustImports(sources('.rs', [''], 'sidecar/src'));
  assert.ok(modules.size > 150, `${modules.size} modules`);
  assert.ok(modules.get('testbed::attempt')?.has('testbed::setting'));
  assert.deepEqual(circlesOf(modules), []);
  assert.deepEqual(circlesOf(foldersOf(modules, topOf)), []);
});

test('circles of files and of folders are found in JavaScript', () => {
  // unit/imports would look for the planted files if their paths were written out.
  const planted = (/** @type {string} */ text) => text.replaceAll('~', './');
  const files = scriptImports(
    new Map(
      /** @type {[string, string][]} */ ([
        ['a/one.js', "import { two } from '~two.js';\nimport { far } from '~../b/far.js';\n"],
        ['a/two.js', "export { three } from '~three.js';\n"],
        [
          'a/three.js',
          "import {\n  one,\n} from '~one.js';\n/** @typedef {import('~four.js').Four} Four */\n",
        ],
        ['a/four.js', "import { three } from '~three.js';\n"],
        ['b/far.js', "import '~near.js';\n"],
        ['b/near.js', "import { five } from '~../a/five.js';\n"],
        ['a/five.js', ''],
      ]).map(([file, text]) => [file, planted(text)]),
    ),
  );
  assert.deepEqual(circlesOf(files), [['a/one.js', 'a/three.js', 'a/two.js']]);
  assert.deepEqual(circlesOf(foldersOf(files)), [['a', 'b']]);
});

test('circles of modules are found in Rust, by every way to name one', () => {
  const files = new Map([
    ['main.rs', 'mod probe;\nmod link;\n'],
    ['probe/mod.rs', 'mod udp;\nuse udp::Part;\n'],
    ['probe/udp.rs', 'use super::Shared;\n'],
    ['link/mod.rs', 'mod ends;\nmod pipe;\n'],
    ['link/ends.rs', 'use super::{\n    pipe::{self, Pipe},\n};\n'],
    [
      'link/pipe.rs',
      'fn made() { crate::link::ends::End::new() }\n#[cfg(test)]\nmod tests {\n    use crate::probe::udp;\n}\n',
    ],
  ]);
  const modules = rustImports(files);
  assert.deepEqual(circlesOf(modules), [
    ['link::ends', 'link::pipe'],
    ['probe', 'probe::udp'],
  ]);
  assert.deepEqual(circlesOf(foldersOf(modules, topOf)), []);
  files.set('probe/udp.rs', 'use crate::link::pipe::Pipe;\n');
  files.set('link/pipe.rs', 'use crate::probe::udp::Part;\n');
  assert.deepEqual(circlesOf(foldersOf(rustImports(files), topOf)), [['link', 'probe']]);
});
