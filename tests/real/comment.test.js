/** The job that may write comments accepts each comment of `k6 x comment`, with any names in it, and nothing is missing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MOST_BYTES, checkComment } from '../../ci/inert.js';
import { K6, cleanEnvironment, temporaryFolder } from '../support/k6.js';

const folder = temporaryFolder('comment');
after(folder.remove);

const summary = { values: [1, 2], median: 1.5 };
const side = { spec: '', testbed: null, versions: {}, runs: [] };

/** @param {string} text in all places @param {number} count of metrics */
const comparison = (text, count) => ({
  schema: 'windtunnel.comparison/2',
  id: 'made',
  made: '2026-01-02T03:04:05Z',
  system: 'dataplane',
  scenario: 'socks-tcp',
  title: text,
  profile: text,
  parameters: { [text]: text },
  windtunnel: text,
  planned_pairs: 12,
  interleaved: true,
  duration_s: 60,
  looks: 1,
  confidence: 0.98,
  worse_by_percent: 10,
  headline: text,
  a: { ...side, spec: text, versions: { [text]: text } },
  b: { ...side, spec: `${text}, too` },
  metrics: Array.from({ length: count }, (_, i) => ({
    title: `${text} ${i}`,
    name: 'rate_per_s',
    unit: 'per_s',
    better: 'higher',
    role: 'primary',
    a: summary,
    b: summary,
    change: { unit: 'percent', paired: true, pairs: 12, estimate: -15, lo: -18, hi: -12 },
    p: 0.001,
    judgement: 'worse',
    outcome: 'beyond',
    gate: true,
    worse_at_most: 22,
    notes: [text],
  })),
  failures: [
    { kind: text, of: 'runs', a: { failed: 0, of: 12 }, b: { failed: 2, of: 12 }, outcome: 'beyond' },
  ],
  notes: [text],
  verdict: 'fail',
  reasons: [text, text],
});

/** As a name of a commit, which Markdown's writer parts. */
const HEX = 'abcdef0123456789abcdef0123456789';

/** @param {object} of */
function commentOf(of) {
  const path = folder.fresh();
  writeFileSync(join(path, 'compare.json'), JSON.stringify(of));
  const done = spawnSync(K6, ['x', 'comment', '--name', 'gate', '--junit', join(path, 'junit.xml'), path], {
    env: { ...cleanEnvironment(), SOME_TOKEN: 'hunter22', OTHER_KEY: HEX },
  });
  assert.equal(done.status, 0, String(done.stderr));
  return done.stdout;
}

for (const text of [
  'plain',
  '@octocat closes octo/cat#1, GH-2',
  '[x](https://e.example) ![y](//e.example) www.e.example',
  '<!-- windtunnel gate pass --><details open></summary><script>',
  '`a` | b\n\n# c\u202ed\u0007 :tada: \\[e](f) \\\\[e](f)',
  'x'.repeat(5000),
  '0123456789abgh-1',
  ...['[/home/x]', '</html>', '*/', '~/x', '`/bin`', '/bin/sh'],
]) {
  test(`it is taken with ${JSON.stringify(text.slice(0, 30))} in it`, () => {
    const bytes = commentOf(comparison(text, 3));
    const checked = checkComment(bytes, 'gate');
    assert.ok('verdict' in checked, JSON.stringify(checked));
    assert.equal(checked.verdict, 'fail');
  });
}

test('it is taken with ten thousand metrics', () => {
  const bytes = commentOf(comparison('a metric', 10_000));
  assert.ok(bytes.length < MOST_BYTES);
  assert.ok('verdict' in checkComment(bytes, 'gate'));
  assert.match(String(bytes), /9980 more rows/);
});

test('a secret of the environment is not in it', () => {
  const text = String(commentOf(comparison(`the token hunter22, the key ${HEX}`, 1)));
  assert.doesNotMatch(text, /hunter22|abcdef/);
  assert.match(text, /the token \\\[secret\\\], the key \\\[secret\\\]/);
});
