/** Relays that behave like known NATs: the probe `nat` names each behaviour, and udp/nat judges and shows it. */
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { lifeOf, natOf } from '../../lib/udp/nat-words.js';
import { assertRefused, startBench } from '../support/bench.js';
import { ROOT, start, temporaryFolder, writeEnvironment } from '../support/k6.js';
import { startNatRelay } from '../support/nat-relay.js';
import { reasonsOf, faultsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';
import { timely, undisturbed } from '../support/timely.js';

const folder = temporaryFolder('udp-nat');
after(folder.remove);

/** @typedef {import('../support/nat-relay.js').Kind} Kind */

/** The probe's outcome. @param {Kind | null} kind null: without a relay @param {string} [idle] @param {string[]} [further] options */
async function probed(kind, idle = '0.2', further = []) {
  const relay = kind && (await startNatRelay(kind));
  const path = relay ? ['--proxy', relay.address] : ['--direct'];
  const more = ['--target', '127.0.0.1:9', '--payload', '64', '--json', '--idle-s', idle, ...further];
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
  'a restricted cone NAT that stalls for longer than the timeout': {
    kind: { filtering: 'address', hairpins: false, stallsMs: 700 },
    nat: 'restricted cone',
  },
  'a port restricted cone NAT': {
    kind: { filtering: 'port' },
    nat: 'port restricted cone',
    of: { hairpinning: true },
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
    test(
      what,
      undisturbed(async () => {
        const outcome = await probed(kind);
        const report = outcome.nat;
        assert.equal(natOf(report)?.kind, nat, JSON.stringify(report));
        for (const [name, value] of Object.entries(of ?? {})) assert.deepEqual(report[name], value, name);
        if (kind)
          assert.deepEqual([report.bound.is, report.bound.works], BOUND[kind.bound ?? ''] ?? ['proxy', true]);
        const life = lifeOf(report.idle.inbound);
        timely(/^at least 0\.[234]/.test(life), life);
        const errors = kind?.elsewhere ? { other_source: outcome.attempted } : {};
        assert.deepEqual(outcome.errors, errors);
      }),
    );
  }

  for (const [what, kind, lasts] of /** @type {[string, Kind, [number, number] | null][]} */ ([
    ['ends with it', {}, [0, 0.3]],
    ['ends 1 s after it', { lastsMs: 1000 }, [0.8, 1.3]],
    ['does not end with it', { lastsMs: 600_000 }, null],
  ]))
    test(
      `an association that ${what}, the control connection`,
      undisturbed(async () => {
        const ended = (await probed(kind, '2.5')).nat.after_control;
        const lives = lasts === null;
        timely(ended.up === lives && ended.down === lives, JSON.stringify(ended));
        timely(ended.relay_closed === !lives && ended.source_closed === !lives, JSON.stringify(ended));
        for (const last of [ended.up_s ?? 0, ended.down_s ?? 0])
          timely(lives ? last > 2 : last >= lasts[0] && last <= lasts[1], JSON.stringify(ended));
        timely(lives ? ended.watched_s >= 2.5 : ended.watched_s < 2.5, JSON.stringify(ended));
      }),
    );

  test('a port that stays open after the association', async () => {
    const { nat } = await probed({ listens: true });
    const { up, down, relay_closed: relay, source_closed: source } = nat.after_control;
    assert.deepEqual([up, down, relay, source], [false, false, false, true]);
  });

  test('far ends at other addresses of this machine', async () => {
    const here = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal);
    for (const first of ['127.0.0.8', here?.address]) {
      if (!first) continue;
      const { nat } = await probed({ mapping: 'address', filtering: 'address' }, '0.2', [
        '--far-ends',
        `${first},127.0.0.9`,
      ]);
      assert.deepEqual([nat.mapping, nat.filtering], ['address_dependent', 'address_dependent'], first);
      // ::1 and the name are far ends only beside far ends on loopback.
      assert.deepEqual([nat.ipv6, nat.domain], first === here?.address ? [null, null] : [false, true], first);
    }
  });

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
    const found = foundIn(result);
    assert.equal(found['Datagrams of a third party'], 'do not reach the client');
    assert.match(found['After the control connection'], /^the association ends/);
    assert.match(found['Last datagram after it'], /^up (none|\d+ ms), down (none|\d+ ms)$/);
  });

  test('a relay that keeps associations, and far ends that are not here', async () => {
    const result = await run({ lastsMs: 600_000 }, { IDLE: '0.2', FAR_ENDS: '127.0.0.8,127.0.0.9' });
    assert.match(foundIn(result)['After the control connection'], /^datagrams go on both ways, for at least/);
    assert.equal(result.run.parameters.far_ends, '127.0.0.8,127.0.0.9');
    for (const FAR_ENDS of ['127.0.0.1', '127.0.0.1,127.0.0.1', '::1,::2'])
      await assertRefused(
        { ONLY: 'udp/nat', FAR_ENDS },
        /FAR_ENDS=.*: give two IPv4 addresses of this machine/,
      );
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
