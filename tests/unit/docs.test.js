/** The pages: their length, the place of dates, and lists that must be complete. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/k6.js';

const MOST_WORDS = 33_000;
const WORD = /\S*[\p{L}\p{N}]\S*/gu;
/** Tables are figures and lists to look something up in; nobody reads them through. */
const TABLE_ROW = /^ *\|.*$/gm;
/**
 * Pages that no author keeps short: `make variables` writes the help of the commands, and runs of `make protocols-traits` made the table of
 * traits.
 */
const GENERATED = ['docs/reference/windtunnel.md', 'docs/reference/traits.md'];
const MOST_LINES = { 'README.md': 90, 'CONTRIBUTING.md': 80 };

const read = (/** @type {string} */ name) => readFileSync(join(ROOT, name), 'utf8');
const PAGES = [
  ...Object.keys(MOST_LINES),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

test('the pages that people write have at most 33,000 words outside of tables', () => {
  const words = PAGES.filter((name) => !GENERATED.includes(name)).map(
    (name) => read(name).replace(TABLE_ROW, '').match(WORD)?.length ?? 0,
  );
  const sum = words.reduce((a, b) => a + b, 0);
  assert.ok(sum > 20_000 && sum <= MOST_WORDS, `${sum} words`);
});

test('README and CONTRIBUTING are short', () => {
  for (const [name, most] of Object.entries(MOST_LINES)) {
    const lines = read(name).trimEnd().split('\n').length;
    assert.ok(lines <= most, `${name} has ${lines} lines`);
  }
});

test('measurements have their date in one place', () => {
  // The README's table is of one run, and its line says which.
  const dated = PAGES.filter((name) => /\b20\d\d-\d\d-\d\d\b/.test(read(name)));
  assert.deepEqual(dated.sort(), ['README.md', 'docs/benchmarks.md']);
});

test('each target of make that has a help line is in the list of targets', () => {
  const page = read('docs/reference/targets.md');
  const help = spawnSync('setup/help', ['all'], { cwd: ROOT, encoding: 'utf8' }).stdout;
  const targets = [...help.matchAll(/^ {2}([a-z0-9-]+) {2}/gm)].map(([, name]) => name);
  assert.ok(targets.length > 40);
  assert.deepEqual(
    targets.filter((name) => !new RegExp(`\`make ${name}[\` ]`).test(page)),
    [],
  );
});

test('each schema and page is in its list', () => {
  const index = read('docs/README.md');
  const schemas = readdirSync(join(ROOT, 'k6/schemas')).filter((name) => name.endsWith('.json'));
  const missing = [
    ...schemas.filter((name) => !read('docs/reference/schemas.md').includes(`\`${name}\``)),
    ...PAGES.filter((name) => name.startsWith('docs/') && name !== 'docs/README.md').filter(
      (name) => !index.includes(`(${name.replace('docs/', '')}`),
    ),
  ];
  assert.deepEqual(missing, []);
});
