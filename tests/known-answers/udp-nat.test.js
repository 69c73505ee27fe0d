/** Relays that behave like known NATs: the probe `nat` names each behaviour, and udp/nat judges and shows it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { lifeOf, natOf } from '../../lib/udp/nat-words.js';
import { startBench } from '../support/bench.js';
import { ROOT, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { startNatRelay } from '../support/nat-relay.js';
import { reasonsOf, faultsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('udp-nat');
after(folder.remove);

/** @typedef {import('../support/nat-relay.js').Kind} Kind */

/** The probe's outcome. @param {Kind | null} kind null: without a relay @param {string} [idle] */
async function probed(kind, idle = '0.2') {
  const relay = kind && (await startNatRelay(kind));
  const path = relay ? ['--proxy', relay.address] : ['--direct'];
  const more = ['--target', '127.0.0.1:9', '--payload', '64', '--json', '--idle-s', idle];
  const child = start(join(ROOT, 'bin/sidecar'), ['probe', 'nat', ...path, ...more]);
  assert.equal(await child.ended, 0, child.output.stderr);
  relay?.stop();
  return JSON.parse(child.output.stdout).outcome;
}

/** @type {Record<string, { kind: Kind | null, nat: string, of?: object }>} */
const RELAYS = {
  'no relay': { kind: null, nat: 'full cone', of: { hairpinning: true, port: 'preserved', bound: null } },
  'a full cone NAT': {
    kind: {},
    nat: 'full cone',
    of: {
      hairpinning: true,
      port: 'other',
      checks_client: false,
      names_sender: true,
      answers_from: 'relay',
      after_control: { up: false, down: false },
      fragments: 'dropped',
      ipv6: false,
      both_families: false,
      domain: true,
    },
  },
  'a restricted cone NAT': {
    kind: { filtering: 'address', hairpins: false },
    nat: 'restricted cone',
    of: { hairpinning: false },
  },
  'a port restricted cone NAT': {
    kind: { filtering: 'port', lasts: true },
    nat: 'port restricted cone',
    of: { hairpinning: true, after_control: { up: true, down: true } },
  },
  'a NAT with a source for each address': {
    kind: { mapping: 'address', filtering: 'address' },
    nat: 'symmetric',
    of: { mapping: 'address_dependent' },
  },
  'a symmetric NAT': {
    kind: { mapping: 'port', filtering: 'port', fragments: 'pass' },
    nat: 'symmetric',
    of: { mapping: 'address_and_port_dependent', fragments: 'passed_on' },
  },
  'a relay that preserves ports, and names no address': {
    kind: { preserves: true, bound: 'unspecified', fragments: 'reassemble' },
    nat: 'full cone',
    of: { port: 'preserved', fragments: 'reassembled' },
  },
  'a relay that ends at a fragment, and has an empty name': {
    kind: { fragments: 'end', bound: 'empty', checks: true },
    nat: 'full cone',
    of: { fragments: 'ends', checks_client: true },
  },
  'a relay with a name that names wrong senders': {
    kind: { bound: 'domain', lies: true },
    nat: 'full cone',
    of: { names_sender: false },
  },
  'a relay behind a NAT': { kind: { bound: 'nated' }, nat: 'full cone' },
  'a relay that names an address of the other family': { kind: { bound: 'family' }, nat: 'full cone' },
  'a relay that answers from another port': {
    kind: { elsewhere: 'port' },
    nat: 'full cone',
    of: { answers_from: 'other_port' },
  },
  'a relay that answers from another address': {
    kind: { elsewhere: 'address' },
    nat: 'full cone',
    of: { answers_from: 'other_address' },
  },
};

const BOUND = {
  unspecified: ['unspecified', true],
  empty: ['empty', true],
  domain: ['domain', true],
  nated: ['other_address', false],
  family: ['other_family', false],
};

describe('the probe nat names', { concurrency: 4 }, () => {
  for (const [what, { kind, nat, of }] of Object.entries(RELAYS)) {
    test(what, async () => {
      const outcome = await probed(kind);
      const report = outcome.nat;
      assert.equal(natOf(report)?.kind, nat, JSON.stringify(report));
      for (const [name, value] of Object.entries(of ?? {})) assert.deepEqual(report[name], value, name);
      if (kind)
        assert.deepEqual([report.bound.is, report.bound.works], BOUND[kind.bound ?? ''] ?? ['proxy', true]);
      assert.match(lifeOf(report.idle.inbound), /^at least 0\.[234]/);
      const errors = kind?.elsewhere ? { other_source: outcome.attempted } : {};
      assert.deepEqual(outcome.errors, errors);
    });
  }

  for (const refreshedBy of /** @type {const} */ (['both', 'out', 'in'])) {
    test(
      `a mapping that is forgotten after 2 s, and renewed by ${refreshedBy}`,
      undisturbed(async () => {
        const { idle } = (await probed({ forgetsMs: 2000, refreshedBy }, '1,1.5,2.5')).nat;
        for (const life of [idle.inbound, idle.outbound]) {
          timely(life.kept_s >= 1.5 && life.kept_s < 2, JSON.stringify(idle));
          timely(life.forgotten_s > 2.4 && life.forgotten_s < 3, JSON.stringify(idle));
        }
        timely(idle.refreshed_by_outbound === (refreshedBy !== 'in'), JSON.stringify(idle));
        timely(idle.refreshed_by_inbound === (refreshedBy !== 'out'), JSON.stringify(idle));
      }),
    );
  }
});

/** @param {Kind} kind @param {Record<string, string>} variables */
async function run(kind, variables) {
  const relay = await startNatRelay(kind);
  const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, url: relay.url }, 'udp');
  const bench = startBench({ ENV, ONLY: 'udp/nat', PROFILE: 'smoke', ...variables });
  try {
    await bench.ended;
    return bench.result('udp-nat');
  } finally {
    bench.remove();
    relay.stop();
  }
}

/** @param {any} result */
const foundIn = (result) =>
  Object.fromEntries(rowsOf(sectionOf(result, 'nat')).map(({ what, found }) => [what, found]));

describe('udp/nat', { concurrency: 4 }, () => {
  test('a symmetric NAT passes, and shows how long its mappings live', async () => {
    const result = await run({ mapping: 'port', filtering: 'port', forgetsMs: 2000 }, {});
    assert.deepEqual(faultsOf(result), []);
    const { finding, answer } = sectionOf(result, 'nat');
    assert.match(finding, /^NAT type strict \(symmetric\)\. .* lives between 1\.5 s and 2\.5 s\.$/);
    assert.equal(answer, 'strict');
    assert.equal(foundIn(result)['Datagrams of a third party'], 'do not reach the client');
  });

  test('NAT_TYPE=open fails a port restricted cone NAT', async () => {
    const result = await run({ filtering: 'port' }, { NAT_TYPE: 'open', IDLE: '0.2' });
    assert.equal(result.verdict, 'fail');
    assert.match(reasonsOf(result).join('\n'), /nat_strict/);
  });

  test('a relay that swaps and duplicates answers fails', async () => {
    const result = await run({ swaps: true, duplicates: true }, { IDLE: '0.2' });
    assert.match(reasonsOf(result).join('\n'), /out_of_order/);
    assert.match(reasonsOf(result).join('\n'), /duplicated/);
    assert.equal(sectionOf(result, 'nat').answer, 'open');
  });

  test('a relay that answers from another port fails, and its behaviour is known', async () => {
    const result = await run({ elsewhere: 'port' }, { IDLE: '0.2' });
    assert.equal(result.verdict, 'fail');
    assert.match(reasonsOf(result).join('\n'), /other_source/);
    assert.equal(foundIn(result)['Answers come from'], 'another port than the relay’s');
  });
});
