/**
 * The tutorials, command by command, in a separate checkout. Each block of sh runs in one shell, as a reader pastes it. The block ends
 * with 0 or with the code that its first line names (```sh exits 99). The lines of a block of text appear in the output of the block
 * before; … matches any text.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ON_ANY_MACHINE } from '../support/bench.js';
import { copyCheckout } from '../support/checkout.js';
import { ROOT, cleanEnvironment, start, temporaryFolder } from '../support/k6.js';
import { assertVerdict } from '../support/verdict.js';

const TUTORIALS = join(ROOT, 'docs/tutorials');
/** A busy machine may leave a verdict open. The exit code is then the bench's, or make's. */
const INCONCLUSIVE = /^verdict: inconclusive/m;
const CODES_OF_INCONCLUSIVE = [2, 3];

const folder = temporaryFolder('tutorials');
after(folder.remove);

/**
 * @typedef {{ kind: 'sh' | 'text', exits: number, text: string }} Block
 * @param {string} page
 * @returns {Block[]}
 */
const blocksOf = (page) =>
  [...page.matchAll(/^```(sh|text)(?: exits (\d+))?\n([^]*?)^```$/gm)].map(([, kind, exits, text]) => ({
    kind: /** @type {'sh' | 'text'} */ (kind),
    exits: Number(exits ?? 0),
    text,
  }));

/** @param {string} line of a block of text, whose spaces may be more in a table */
const patternOf = (line) =>
  new RegExp(
    line
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/\s*…\s*/g, '.*')
      .replaceAll(/\s+/g, '\\s+'),
  );

/** @param {string} checkout @returns {any[]} the results of the last run of a bench there */
function lastOf(checkout) {
  const latest = join(checkout, 'results/latest');
  if (!existsSync(latest)) return [];
  const names = readdirSync(latest).filter((name) => /^[a-z]+-.*\.json$/.test(name));
  return names.map((name) => JSON.parse(readFileSync(join(latest, name), 'utf8')));
}

for (const name of readdirSync(TUTORIALS)) {
  test(`${name}: each command ends as the page says`, async (context) => {
    const checkout = join(folder.path, name.replace('.md', ''));
    copyCheckout(checkout);
    const blocks = blocksOf(readFileSync(join(TUTORIALS, name), 'utf8'));
    assert.ok(blocks.some(({ kind }) => kind === 'sh'));
    let output = '';
    let undecided = false;
    for (const { kind, exits, text } of blocks) {
      if (kind === 'text') {
        for (const line of text.trim().split('\n')) {
          // A busy machine has counts to show, and no verdict.
          const counts = line.replace(/(?: … |^verdict: )(?:pass|fail)$/, '');
          assert.match(output, patternOf(undecided ? counts : line));
        }
        continue;
      }
      const run = start('bash', ['-c', text], {
        cwd: checkout,
        env: { ...cleanEnvironment(), ...ON_ANY_MACHINE, SETUP: '0' },
      });
      const code = await run.ended;
      output = run.output.stdout + run.output.stderr;
      undecided = code !== exits && INCONCLUSIVE.test(output) && CODES_OF_INCONCLUSIVE.includes(code);
      if (undecided) context.diagnostic(`a busy machine left the verdict open: ${text}`);
      if (undecided && exits === 0) for (const result of lastOf(checkout)) assertVerdict(result, 'pass');
      assert.ok(code === exits || undecided, `${text}ended with ${code}, not ${exits}:\n${output}`);
    }
  });
}
