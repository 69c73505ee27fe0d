/** Checks the links of all pages, and the pages that code names. `make lint` runs it; it needs no network. */
import { execFileSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenLinks } from './support/links.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Reports of runs name pages of their own time, and tests of the checker name none. */
const LEFT_OUT = /^results\/baselines\/[^/]+\/|\/testdata\/|^tests\/unit\/links\.test\.js$/;
const IS_TEXT =
  /(?:\.(?:md|js|ts|json|go|rs|toml|py|sh|ya?ml|txt|html|tmpl)|Makefile|Dockerfile|^ci\/\w+|^setup\/\w+|^docker\/\w+)$/;

const names = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => IS_TEXT.test(name) && !LEFT_OUT.test(name))
  .filter((name) => lstatSync(join(ROOT, name), { throwIfNoEntry: false })?.isFile());

const broken = brokenLinks(ROOT, names);
for (const line of broken) console.error(line);
if (broken.length > 0) process.exitCode = 1;
