import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf, heardOf, readable } from '../../lib/protocols/hop.js';
import { atFault, pairsOf, untried, withHop } from '../../lib/protocols/interop.js';
import { MATRIX, rowsOf } from '../../lib/protocols/matrix.js';
import { complained, goesOn, tooSlow, worst } from '../../lib/protocols/outcome.js';
import { programsOf } from '../../lib/protocols/programs.js';

const rowNamed = (name) => MATRIX.find(({ row }) => row === name);
const nothing = { bytes: 1000, payload: false, request: false };
const ok = { outcome: 'interoperates', detail: null };
const deaf = { outcome: 'does not interoperate', detail: 'TCP: 0 of 30 answered' };
const plain = { outcome: 'not encrypted', detail: 'the payload can be read in the hop' };

const ROUTED = ['redirect', 'tproxy', 'tun', 'tun-system', 'tun-gvisor', 'tun-gvisor-1500', 'tun2proxy'];

test('rows that are to be encrypted are those that nobody else may read', () => {
  const plainRows = MATRIX.filter((row) => !row.encrypts).map(({ row }) => row);
  assert.deepEqual(plainRows, ['socks', 'http', 'mixed', 'vless', 'direct', ...ROUTED]);
  const without = MATRIX.filter((row) => !withHop(MATRIX).includes(row)).map(({ row }) => row);
  assert.deepEqual(without, ['direct', ...ROUTED]);
});

test('what is readable in a hop is told of encrypted rows alone', () => {
  const seen = { ...nothing, payload: true };
  assert.equal(readable(nothing), null);
  assert.match(
    readable({ ...seen, request: true }),
    /^the payload and the address that is asked for can be read/,
  );
  assert.equal(heardOf(rowNamed('vless'), null, seen).outcome, 'interoperates');
  assert.equal(heardOf(rowNamed('vless-tls'), null, seen).outcome, 'not encrypted');
  assert.equal(
    heardOf(rowNamed('shadowsocks-aes-128-gcm'), null, { ...nothing, request: true }).outcome,
    'not encrypted',
  );
  assert.equal(heardOf(rowNamed('vless-tls'), null, nothing).outcome, 'interoperates');
  assert.deepEqual(heardOf(rowNamed('vless-tls'), 'TCP: 0 of 30', nothing), {
    outcome: 'does not interoperate',
    detail: 'TCP: 0 of 30',
  });
});

test('a probe that did not bring back enough says what became of the rest', () => {
  const outcome = { succeeded: 30, attempted: 30, errors: {} };
  assert.equal(faultOf({ outcome }, 30), null);
  assert.equal(faultOf({ outcome: { ...outcome, succeeded: 29 } }, 15), null);
  assert.equal(
    faultOf({ outcome: { succeeded: 3, attempted: 5, errors: { closed: 2 } } }, 30),
    '3 of 30 answered, 2 × closed',
  );
  assert.equal(faultOf({ error: { kind: 'refused', message: 'no' } }, 30), 'refused: no');
});

test('each end is blamed where the other one works', () => {
  assert.equal(atFault(ok, ok), null);
  assert.match(atFault(deaf, ok).detail, /^its server, with the baseline's client: TCP/);
  assert.match(atFault(ok, deaf).detail, /^its client, with the baseline's server: TCP/);
  assert.match(atFault(deaf, deaf).detail, /^its server with .*; its client with /);
  assert.equal(atFault(deaf, plain).outcome, 'not encrypted');
});

const mihomo = { name: 'mihomo', engine: 'mihomo', binary: '' };
const shoes = { name: 'shoes', engine: 'shoes', binary: '' };
const [singBox, xray, candidate] = [
  { name: 'sing-box', engine: 'sing-box', binary: '' },
  { name: 'xray', engine: 'xray', binary: '' },
  { name: 'candidate', engine: 'sing-box', binary: '/c' },
];

test('what cannot meet is not tried, with the reason', () => {
  const between = (row, client, server) => untried(rowNamed(row), { client, server });
  assert.equal(between('vless-tls', singBox, xray), null);
  assert.match(between('tuic', singBox, xray), /no tuic/);
  assert.match(between('vless-mux', singBox, xray), /two protocols/);
  assert.equal(between('vless-mux', singBox, candidate), null);
  assert.equal(between('vless-mux', singBox, mihomo), null);
  assert.match(between('vless-mux', mihomo, xray), /h2mux of mihomo and Mux.Cool of xray are two/);
  assert.equal(between('hysteria', mihomo, singBox), null);
  assert.match(between('hysteria', singBox, mihomo), /no server for hysteria/);
  assert.match(between('hysteria', mihomo, mihomo), /no server for hysteria/);
  assert.match(between('tuic', shoes, singBox), /shoes has no client of tuic/);
  assert.match(between('tuic', shoes, shoes), /no client of tuic/);
  assert.equal(between('tuic', singBox, shoes), null);
  assert.match(between('ssh', singBox, candidate), /server is sshd/);
  assert.match(between('naive', singBox, candidate), /client is naive-client/);
  assert.equal(between('ssh', candidate, candidate), null);
  assert.deepEqual(
    pairsOf([singBox, xray]).map(({ name }) => name),
    ['sing-box-to-sing-box', 'sing-box-to-xray', 'xray-to-sing-box', 'xray-to-xray'],
  );
});

test('an engine of one protocol runs the rows of that protocol, and says why it runs no other one', () => {
  const own = (engine) => rowsOf(engine).map(({ row }) => row);
  const shadowsocks = ['aes-128-gcm', 'aes-256-gcm', 'chacha20', '2022'].map(
    (cipher) => `shadowsocks-${cipher}`,
  );
  assert.deepEqual(own('shadowsocks-rust'), shadowsocks);
  assert.deepEqual(own('hysteria'), ['hysteria2', 'hysteria2-brutal']);
  for (const { engines } of MATRIX)
    for (const engine of ['shadowsocks-rust', 'hysteria', 'shoes'])
      assert.ok(engines[engine] === true || engines[engine].length > 10, `${engine}: ${engines[engine]}`);
});

test('programs are our own builds, and the candidate', () => {
  const given = (env) => {
    globalThis.__ENV = env;
    return programsOf('protocols/interop').map(({ name, engine, binary }) => [
      name,
      engine,
      binary.split('/').pop(),
    ]);
  };
  assert.deepEqual(given({}), [['sing-box', 'sing-box', '']]);
  assert.deepEqual(given({ PROGRAMS: 'sing-box-1.13, xray', CANDIDATE: '/bin/cat' }), [
    ['sing-box-1.13', 'sing-box', 'sing-box-1.13'],
    ['xray', 'xray', ''],
    ['candidate', 'sing-box', 'cat'],
  ]);
  assert.throws(() => given({ PROGRAMS: 'clash' }), /PROGRAMS: clash: an engine of testbeds/);
  assert.throws(() => given({ PROGRAMS: 'xray,xray' }), /xray is there twice/);
  globalThis.__ENV = {};
});

test("the programs' own complaints are told, cut, with the place of the rest", () => {
  const instance = {
    log_dir: '/somewhere/results/r/logs/vless/candidate-turn-1',
    processes: [
      { name: 'server', exit: null, complaint: { line: `ERROR ${'x'.repeat(1000)}`, count: 14320 } },
      { name: 'client', exit: null, complaint: null },
    ],
  };
  const told = complained(instance);
  assert.match(told, /^server says 14320 × "ERROR x+" \(logs\/vless\/candidate-turn-1\)$/);
  assert.ok(told.length < 250);
  assert.equal(complained({ ...instance, processes: [instance.processes[1]] }), null);
  assert.equal(complained(null), null);
});

test('a candidate that is twenty times slower is cut short, and says by what', () => {
  const baseline = { handshake_ms: 1, rtt_ms: 0.2, bytes_per_s: 1e8 };
  assert.equal(tooSlow(baseline, { handshake_ms: 20, rtt_ms: 4, bytes_per_s: 5e6 }), null);
  assert.equal(
    tooSlow(baseline, { ...baseline, rtt_ms: 88.1 })?.detail,
    "a round trip takes 88.1 ms, the baseline's 0.200: 440 times slower; cut short",
  );
  assert.match(
    tooSlow(baseline, { ...baseline, handshake_ms: 30.04 })?.detail ?? '',
    /^a first reply takes 30.0 ms/,
  );
  // A busy machine may make a program 30 times slower, but not 440 times.
  assert.equal(tooSlow(baseline, { ...baseline, handshake_ms: 30.04 })?.busy, true);
  assert.equal(tooSlow(baseline, { ...baseline, rtt_ms: 88.1 })?.busy, false);
  assert.equal(
    tooSlow(baseline, { ...baseline, bytes_per_s: 1e6 })?.detail,
    "a download reaches 8.00 Mbit/s, the baseline's 800: 100 times slower; cut short",
  );
  assert.equal(tooSlow(baseline, undefined), null);
  assert.equal(tooSlow(undefined, { rtt_ms: 1000 }), null);
  const outcomes = [
    { outcome: 'measured', detail: null },
    { outcome: 'too slow', detail: 'why' },
  ];
  assert.equal(worst(outcomes).outcome, 'too slow');
  assert.equal(goesOn({ outcomes, turns: [] }), false);
});
