/** Outcomes from the captures of a hop, turn by turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MATRIX, hasHop } from '../../lib/protocols/matrix.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { shownBy } from '../../lib/protocols/wire.js';

/** @param {string} name */
const rowOf = (name) =>
  /** @type {import('../../lib/protocols/matrix.js').Row} */ (MATRIX.find(({ row }) => row === name));
const TLS = rowOf('trojan');
const WELL = {
  bytes: 9000,
  payload: false,
  request: false,
  fault: null,
  greeted: true,
  carried: true,
  gaps: false,
};
const FIRST = { fresh: true, broken: null };
const LATER = { fresh: false, broken: null };

test('each row says once what its hop shows', () => {
  const wires = Object.fromEntries(MATRIX.filter(hasHop).map(({ row, wire }) => [row, wire]));
  for (const [row, wire] of Object.entries({
    socks: 'plain',
    vless: 'plain',
    'http-tls': 'tls',
    'vless-reality-vision': 'tls',
    'trojan-ws': 'tls',
    shadowtls: 'tls',
    anytls: 'tls',
    'shadowsocks-2022': 'random',
    vmess: 'random',
    'hysteria2-obfs': 'random',
    hysteria2: 'quic',
    tuic: 'quic',
    'vless-quic': 'quic',
    'vless-xhttp-packet-up': 'tls',
    'vless-xhttp-reality-stream-one': 'tls',
    'vless-xhttp-h3-stream-up': 'quic',
    'vless-encryption': 'random',
    'vless-encryption-random': 'random',
    'trojan-quic': 'quic',
    'vmess-quic': 'quic',
    hysteria: 'quic',
    openvpn: 'openvpn',
    'openvpn-tcp': 'openvpn',
    wireguard: 'wireguard',
    ssh: 'ssh',
  }))
    assert.equal(wires[row], wire, row);
  for (const { row, encrypts, wire } of MATRIX.filter(hasHop))
    assert.equal(encrypts, wire !== 'plain' || row.startsWith('snell'), row);
});

test('a hop that is what its row says leaves nothing', () => {
  assert.equal(shownBy(TLS, 'turn 5', WELL, FIRST), null);
  assert.equal(shownBy(TLS, 'turn 5', { ...WELL, greeted: false }, LATER), null);
  assert.equal(shownBy(rowOf('openvpn'), 'turn 5', { ...WELL, greeted: false }, FIRST), null);
  assert.equal(shownBy(rowOf('socks'), 'turn 5', { ...WELL, payload: true, request: true }, FIRST), null);
});

test('a hop that is not names the turn, whether or not the exchange came through', () => {
  for (const exchange of [FIRST, LATER, { fresh: true, broken: 'timeout' }]) {
    assert.deepEqual(shownBy(TLS, 'turn 5', { ...WELL, fault: 'no TLS: HTTP plaintext' }, exchange), {
      outcome: 'wrong wire',
      detail: 'turn 5: the hop shows no TLS: HTTP plaintext',
    });
    assert.deepEqual(shownBy(TLS, 'turn 5', { ...WELL, payload: true }, exchange), {
      outcome: 'wrong wire',
      detail: 'turn 5: the payload can be read in the hop',
    });
  }
});

test('a hop that nobody saw is no hop that is well', () => {
  for (const [found, exchange, why] of /** @type {const} */ ([
    [null, { fresh: true, broken: 'packets cannot be captured' }, 'packets cannot be captured'],
    [null, FIRST, 'nothing was captured'],
    [{ ...WELL, bytes: 100 }, FIRST, 'the payload did not pass through the hop'],
    [{ ...WELL, carried: false }, LATER, 'the capture has no complete connection'],
    [{ ...WELL, gaps: true }, LATER, 'not all of it was captured'],
    [{ ...WELL, greeted: false }, FIRST, 'the greeting was not seen'],
  ]))
    assert.deepEqual(shownBy(TLS, 'turn 2', found, exchange), {
      outcome: 'measured',
      detail: null,
      unchecked: `turn 2: ${why}`,
    });
});

/** @param {import('../../lib/protocols/outcome.js').Outcome[]} own @param {import('../../lib/protocols/outcome.js').Outcome[]} other */
function judged(own, other) {
  const side = { engine: /** @type {const} */ ('sing-box'), binary: '/x' };
  const turns = Array.from({ length: 12 }, () => ({
    mbit_64k: 100,
    rtt_ms: 1,
    peak_anon_mib: 5,
    handshake_ms: 1,
  }));
  const notes = (/** @type {any[]} */ outcomes) => ({ turns, outcomes, version: null });
  const found = protocolsOf(
    { trojan: { baseline: notes(own), candidate: notes(other) } },
    {
      rows: [TLS],
      baseline: { name: 'baseline', ...side },
      candidate: { name: 'candidate', ...side },
      turns: 12,
      extraTurns: 0,
      targets: { throughput: 0.9, latency: 1.2, first_reply: 1.2, round_trips: 2, memory: 1, tolerance: 0.1 },
      digests: {},
      covers: false,
    },
  );
  return { found, row: found.rows[0] };
}

test('one turn of many is enough, on either side', () => {
  const well = { outcome: /** @type {const} */ ('measured'), detail: null };
  const stripped = {
    outcome: /** @type {const} */ ('wrong wire'),
    detail: 'turn 5: the hop shows no TLS: HTTP plaintext',
  };
  const unseen = { ...well, unchecked: 'turn 2: nothing was captured' };
  const fine = judged([well, well], [well, well]).row;
  assert.deepEqual([fine.candidate?.outcome, fine.candidate?.unchecked], ['measured', null]);

  const failed = judged([well, well], [well, stripped, well]).row;
  assert.deepEqual([failed.candidate?.outcome, failed.candidate?.detail], ['wrong wire', stripped.detail]);
  assert.equal(judged([stripped, well], [well, well]).row.baseline.outcome, 'wrong wire');

  const doubted = judged([well, well], [well, unseen, well]).row;
  assert.deepEqual(
    [doubted.candidate?.outcome, doubted.candidate?.unchecked],
    ['measured', unseen.unchecked],
  );
  assert.equal(doubted.candidate?.detail, null);
});
