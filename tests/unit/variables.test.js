/** The list of variables: what scripts read, what their headers say, what the docs have. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VARIABLES, mostOf } from '../../lib/variables.js';
import { ROOT } from '../support/k6.js';

/** What bench tells its scripts, and no user. */
const OF_BENCH =
  'ASKED_FOR DATAPLANE_ROUTED ECHO_CPUS GENERATOR_PID INSTANCE MEASURED_AGAIN PROBE_CPUS SIDECAR_TOKEN SIDECAR_URL SYSTEM_CPUS'.split(
    ' ',
  );
const named = new Set(VARIABLES.map(({ name }) => name));

/** @param {string} folder @returns {string[]} */
const filesOf = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name));
/** @param {string} file */
const textOf = (file) => readFileSync(join(ROOT, file), 'utf8');

test('whatever a script reads is on the list', () => {
  const read = [...filesOf('lib'), ...filesOf('scripts')].flatMap((file) =>
    [...textOf(file).matchAll(/env(?:Count|Number|Choice)\('([A-Z_0-9]+)'|__ENV\.([A-Z_0-9]+)/g)].map(
      ([, one, other]) => one ?? other,
    ),
  );
  assert.ok(read.length > 100);
  assert.deepEqual(
    [...new Set(read)].filter((name) => !named.has(name) && !OF_BENCH.includes(name)),
    [],
  );
});

test('each script names the variables that are its own, and no other', () => {
  for (const file of filesOf('scripts').filter((name) => !/\/_/.test(name))) {
    const [, system, name] = /** @type {RegExpExecArray} */ (/^scripts\/([a-z]+)\/(.+)\.js$/.exec(file));
    const scenario = `${system}/${name}`;
    const header = /Variables:([^]*?)\*\//.exec(textOf(file))?.[1] ?? '';
    const told = new Set(header.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g));
    for (const word of told) {
      const variable = VARIABLES.find((one) => one.name === word);
      if (!variable) continue;
      assert.ok(
        variable.of.some((of) => ['*', system, scenario].includes(of)),
        `${file}: ${word} is of ${variable.of}`,
      );
    }
    for (const { name: own, of } of VARIABLES)
      assert.ok(!of.includes(scenario) || told.has(own), `${file}: its header does not name ${own}`);
  }
});

test('the docs have all', () => {
  const docs = textOf('docs/profiles.md');
  for (const { name, of } of VARIABLES) {
    const system = /^(PULSAR|PANEL|DATAPLANE|PROTOCOLS)_/.test(name);
    assert.ok(of.includes('make') || system || docs.includes(`\`${name}\``), name);
  }
});

test('a bound is that of the list', () => {
  assert.equal(mostOf('CLIENTS'), 10_000);
  assert.equal(mostOf('MESSAGES'), 10_000_000);
});
