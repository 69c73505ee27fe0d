/** Vale's rules find what docs/style.md advises against. Not `*.test.js`: `make lint-prose` builds Vale, `make test` does not. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'windtunnel-prose-test-'));
after(() => rmSync(folder, { recursive: true }));

/** Sentences by the rule that must find them. */
const BAD = {
  Openings: [
    'Who signs the request decides.',
    'Whoever reads it is surprised.',
    'Of the fields, two are null.',
    'What is measured is printed.',
    'The first sentence is fine. What the second one is, remains dark.',
    'So does the relay.',
    'So is the panel.',
    'None missed a target.',
    'Nobody reads this.',
  ],
  SentenceLength: [`The report shows ${'word '.repeat(32)}end.`],
  Words: [
    'The password of who signs in.',
    'Processes wait for so long.',
    'No so few pairs are enough.',
    'Print results that there are.',
  ],
};
const GOOD = [
  'The probe reports each timeout, in milliseconds.',
  `The report shows ${'word '.repeat(31)}end.`,
  'What does the gate compare?',
  'Who may run it?',
  'Of course the relay answers.',
  'The users who signed in have a session.',
  'The sidecar uses its own namespace, which belongs to a user of its own group.',
  'The field `mend` and the name `told` are code.',
  'An option rests attached to its recipient.',
];
const COMMENT = { md: '', go: '// ', rs: '/// ', py: '# ', js: '// ' };

/** @param {string} text @param {string} kind of file @returns {string} */
function source(text, kind) {
  const mark = COMMENT[/** @type {keyof typeof COMMENT} */ (kind)];
  const code = { go: 'package a\n\n', js: 'let a;\n', md: '', py: 'a = 1\n', rs: '' }[kind];
  return `${code}${mark}${text}\n${kind === 'rs' ? 'fn a() {}\n' : ''}`;
}

/**
 * Names of the rules that find something, by sentence.
 * @param {string[]} sentences @param {string} kind of the files @returns {string[][]}
 */
function found(sentences, kind) {
  const files = sentences.map((text, number) => {
    const file = join(folder, `${number}.${kind}`);
    writeFileSync(file, source(text, kind));
    return file;
  });
  const run = spawnSync('bin/vale', ['--config=setup/vale/.vale.ini', '--output=JSON', ...files], {
    encoding: 'utf8',
  });
  assert.equal(run.stderr, '');
  const alerts = JSON.parse(run.stdout);
  return files.map((file) =>
    (alerts[file] ?? []).map((/** @type {{ Check: string }} */ alert) => alert.Check.split('.')[1]),
  );
}

for (const kind of Object.keys(COMMENT)) {
  test(`rules find bad sentences in .${kind}, and pass good ones`, () => {
    const bad = Object.entries(BAD).flatMap(([rule, sentences]) => sentences.map((text) => ({ rule, text })));
    const rules = found([...bad.map(({ text }) => text), ...GOOD], kind);
    for (const [number, { rule, text }] of bad.entries())
      assert.ok(rules[number].includes(rule), `${rule} passes: ${text}`);
    for (const [number, text] of GOOD.entries()) assert.deepEqual(rules[bad.length + number], [], text);
  });
}

test('code is no prose', () => {
  const [rules] = found(['The value.\nlet told = "Nobody is told, besides whoever is at rest";'], 'rs');
  assert.deepEqual(rules, []);
});

test('rules find each word to avoid of docs/style.md', () => {
  const page = readFileSync('docs/style.md', 'utf8').split('## Words to avoid')[1].split('\n## ')[0];
  const cells = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)]
    .map((row) => row[1])
    .filter((cell) => cell !== 'avoid');
  const words = cells.flatMap((cell) => cell.replace(/\(.*\)/, '').split(', ')).map((word) => word.trim());
  assert.ok(words.length > 10, page);
  // These words have good uses as well. Only forms that are always wrong can be rules: "is told", "tells of", "who signs in".
  const context = { told: 'it is told', tells: 'it tells of a fault', 'who … is': 'who signs in' };
  const known = words.filter((word) => word !== 'away');
  const sentences = known.map(
    (word) => `The page says ${context[/** @type {keyof typeof context} */ (word)] ?? word}.`,
  );
  for (const [number, rules] of found(sentences, 'md').entries()) {
    assert.ok(rules.includes('Words'), `no rule finds: ${known[number]}`);
  }
});
