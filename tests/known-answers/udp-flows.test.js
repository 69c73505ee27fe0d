/** Relays that spoil a call, or carry too few associations: udp/flows names each fault with its figure. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBench } from '../support/bench.js';
import { startFlowRelay } from '../support/flow-relay.js';
import { temporaryFolder, writeEnvironment } from '../support/k6.js';
import { faultsOf, reasonsOf } from '../support/reasons.js';
import { rowsOf, sectionOf } from '../support/sections.js';

const folder = temporaryFolder('udp-flows');
after(folder.remove);

/** Levels and set-up send fewer datagrams. The faults leave its start alone, so that set-up and levels are right. */
const FROM = 20;
/** One in ten of the later datagrams. @param {number} number */
const isTenth = (number) => number > FROM && number % 10 === 5;
/** Datagrams of the call, and how many of these are a tenth. */
const SENT = 100;
const TENTHS = 8;
const STALL_MS = 300;

/** @param {Parameters<typeof startFlowRelay>[0]} behaviour @param {string} [flows] */
async function run(behaviour, flows = '1,20') {
  const proxy = await startFlowRelay(behaviour);
  const ENV = writeEnvironment(folder.fresh(), { auth: { mode: 'none' }, url: proxy.url }, 'udp');
  const given = { FLOWS: flows, SECONDS: '2', TIMEOUT_MS: '1500' };
  const bench = startBench({ ENV, ONLY: 'udp/flows', PROFILE: 'smoke', ...given });
  try {
    await bench.ended;
    const result = bench.result('udp-flows');
    const [call, direct] = rowsOf(sectionOf(result, 'call'));
    const { finding, ...associations } = sectionOf(result, 'associations');
    return { result, call, direct, finding, associations: rowsOf(associations) };
  } finally {
    bench.remove();
    proxy.stop();
  }
}

/** @type {Record<string, { swallows?: (number: number) => boolean, fault: import('../support/flow-relay.js').Fault, row: Record<string, unknown>, named: RegExp, reason: RegExp }>} */
const RELAYS = {
  'loses a burst of five on the way out and one on the way back': {
    swallows: (number) => number >= 31 && number < 36,
    fault: (number, send) => (number < 61 || number >= 66) && send(),
    row: { lost: 10, lost_up: 5, lost_down: 5, bursts: '5 in a row × 2', longest_burst: 5 },
    named: /Call: 10 of 100 lost \(5 in a row × 2\)/,
    reason: /call: 10 × lost/,
  },
  'sends each tenth datagram after the next one': {
    fault: (number, send, memory) => {
      if (isTenth(number)) {
        memory.held = send;
        return;
      }
      send();
      memory.held?.();
      memory.held = undefined;
    },
    row: { reordered: TENTHS },
    named: /Call: 8 reordered/,
    reason: /call: 8 × out_of_order/,
  },
  'sends each tenth datagram twice': {
    fault: (number, send) => {
      send();
      if (isTenth(number)) send();
    },
    row: { duplicated: TENTHS },
    named: /Call: 8 duplicated/,
    reason: /call: 8 × duplicated/,
  },
};
const RIGHT = {
  sent: SENT,
  lost: 0,
  lost_up: 0,
  lost_down: 0,
  bursts: '',
  longest_burst: 0,
  reordered: 0,
  duplicated: 0,
};

/** The fields that a test knows. @param {Record<string, unknown>} row */
const known = (row) => Object.fromEntries(Object.keys(RIGHT).map((name) => [name, row[name]]));

describe('a relay that', { concurrency: 3 }, () => {
  for (const [what, { row, named, reason, ...behaviour }] of Object.entries(RELAYS)) {
    test(what, async () => {
      const { result, call, direct, finding, associations } = await run(behaviour);
      assert.deepEqual(known(call), { ...RIGHT, ...row });
      assert.deepEqual(known(direct), RIGHT);
      assert.match(finding, named);
      assert.match(reasonsOf(result).join('\n'), reason);
      assert.ok(associations.every(({ asked, carried }) => asked === carried));
    });
  }

  test('stalls 300 ms, and repeats answers of ended associations, is named, and loses nothing', async () => {
    const fault = (
      /** @type {number} */ number,
      /** @type {() => void} */ send,
      /** @type {any} */ memory,
    ) => {
      if (number === 50) memory.until = Date.now() + STALL_MS;
      const waits = (memory.until ?? 0) - Date.now();
      if (waits > 0) setTimeout(send, waits);
      else send();
    };
    const { result, associations, call, finding } = await run({ fault, repeats: (answer) => answer });
    assert.deepEqual([call.lost, call.duplicated], [0, 0]);
    // The tag identifies a reply to a client of an earlier probe. Such a reply is no fault.
    const [, , many] = associations;
    assert.deepEqual([many.stale, many.lost, many.duplicated, many.carried], [20, 0, 0, 20]);
    assert.doesNotMatch(reasonsOf(result).join('\n'), /unexpected/);
    assert.ok(call.gaps >= 1 && call.longest_gap_ms > STALL_MS - 20, JSON.stringify(call));
    assert.ok(call.jitter_ms > 1, `${call.jitter_ms} ms of jitter`);
    assert.match(finding, /gaps? over 200 ms, the longest \d+ ms/);
  });

  test('repeats garbled answers of ended associations fails', async () => {
    const repeats = (/** @type {Buffer} */ answer) => {
      const garbled = Buffer.from(answer);
      garbled[garbled.length - 3] ^= 1;
      return garbled;
    };
    const { result, associations } = await run({ repeats }, '1');
    assert.equal(associations[0].stale, 0);
    assert.match(reasonsOf(result).join('\n'), /datagram_1: 1 × unexpected/);
  });

  test('refuses more than 100 associations', async () => {
    const { result, associations, finding } = await run({ most: 100 }, '1,100,150');
    const seen = associations.map(({ asked, opened, carried, errors }) => [asked, opened, carried, errors]);
    assert.deepEqual(seen, [
      [1, 1, 1, ''],
      [1, 1, 1, ''],
      [100, 100, 100, ''],
      [100, 100, 100, ''],
      [150, 100, 100, '50 × socks_general_failure'],
      [150, 150, 150, ''],
    ]);
    assert.match(finding, /^Carried 100 of 150 associations: 50 × socks_general_failure\./);
    assert.match(reasonsOf(result).join('\n'), /datagram_150: 100 × socks_general_failure/);
  });

  test('gives answers to another association', async () => {
    const { associations, finding } = await run({ crosses: true }, '1,4');
    const [, , proxied] = associations;
    // The first one gets the datagrams of three others, two each.
    assert.deepEqual([proxied.opened, proxied.carried, proxied.misdelivered, proxied.lost], [4, 1, 6, 6]);
    assert.match(finding, /^Carried 1 of 4 associations: 3 were silent\./);
  });

  test('is right passes', async () => {
    const { result, call, associations, finding } = await run({});
    assert.deepEqual(known(call), RIGHT);
    assert.match(finding, /^Carried 20 of 20 associations\. Call: /);
    assert.ok(
      associations.every(({ asked, carried, misdelivered }) => asked === carried && misdelivered === 0),
    );
    assert.deepEqual(faultsOf(result), []);
  });
});
