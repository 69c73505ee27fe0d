/** tests/support/links.js: a link that leads nowhere is found, and no other. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../support/k6.js';
import { brokenLinks } from '../support/links.js';

const folder = temporaryFolder('links');
after(folder.remove);

/** @param {Record<string, string>} files @returns {string[]} */
function broken(files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), text);
  }
  return brokenLinks(folder.path, Object.keys(files));
}

const PAGE = '# A page\n\n## What is `LINK`?\n\n## Twice\n\n## Twice\n';

test('links to files and headings that exist are right', () => {
  const links = [
    '[a](docs/page.md)',
    '[a](docs/page.md#what-is-link)',
    '[a](docs/page.md#twice-1)',
    '[a](#here)',
    '[a](docs)',
    '[a](https://example.net/no-such.md)',
    '`[a](none.md)`',
    '![a](picture.svg)',
  ];
  const files = {
    'docs/page.md': PAGE,
    'picture.svg': '',
    'README.md': `# Here\n\n${links.join(' ')}\n\n    [a](none.md)\n`,
    'main.go': '// docs/page.md#twice says why, as https://example.net/docs/other.md does\n',
  };
  assert.deepEqual(broken(files), []);
});

test('each link that leads nowhere has a line', () => {
  const files = {
    'docs/page.md': `${PAGE}\n[up](../README.md)\n[out](../../README.md)\n`,
    'README.md': '# Here\n\n[a](docs/none.md)\n[a](docs/page.md#thrice)\n[a](#there) ![a](none.png)\n',
    'k6/main.go': 'package main\n\n// docs/gone.md and docs/page.md#thrice\n',
  };
  assert.deepEqual(broken(files), [
    'docs/page.md:9: ../../README.md: leads out of the checkout',
    'README.md:3: docs/none.md: no such file as docs/none.md',
    'README.md:3: docs/page.md#thrice: docs/page.md has no heading #thrice',
    'README.md:3: #there: README.md has no heading #there',
    'README.md:3: none.png: no such file as none.png',
    'k6/main.go:3: ../docs/gone.md: no such file as docs/gone.md',
    'k6/main.go:3: ../docs/page.md#thrice: docs/page.md has no heading #thrice',
  ]);
});
