/** The tables of the protocols' scenarios. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparisonSection } from '../../lib/protocols/comparison.js';
import { coverageSections } from '../../lib/protocols/coverage.js';
import { sideSection } from '../../lib/protocols/figures.js';
import { interopSections } from '../../lib/protocols/interop-sections.js';
import { programTitle } from '../../lib/protocols/programs.js';
import { rowsOf } from '../support/sections.js';

const spread = (median) => ({ median, min: median - 1, max: median + 1 });
const side = (outcome, detail = null) => ({
  outcome,
  detail,
  known: null,
  figures: { rtt_ms: spread(2), udp_rtt_ms: null, failed_share: spread(3) },
});
const line = (target, judged, ratio, different = false) => ({
  target,
  judged,
  ratio,
  low: ratio - 0.1,
  high: ratio + 0.1,
  different,
  pairs: 5,
});

/** The results of a baseline and a candidate. */
function compared() {
  const row = {
    multiplex: false,
    told_mbit_per_s: null,
    round_trips: null,
    turns: 5,
    comparison: [],
    baseline: side('measured'),
  };
  return /** @type {any} */ ({
    baseline: { engine: 'sing-box', binary: 'sing-box', version: '1.12.12', sha256: 'ab12', ran: [] },
    candidate: { engine: 'sing-box', binary: 'next', version: null, sha256: null, ran: [] },
    turns: 5,
    extra_turns: 2,
    turns_to_miss: 10,
    looks: [{ turns: null, confidence: 0.96 }],
    measuring_bound_cpus: 0.9,
    targets: {
      throughput: 0.9,
      latency: 1.2,
      first_reply: 1.1,
      round_trips: 1,
      memory: 1,
      tolerance: 0.05,
    },
    rows: [
      {
        ...row,
        row: 'trojan',
        round_trips: { baseline: 3, candidate: 4, ok: true },
        candidate: side('measured'),
        comparison: [
          line('throughput', 'missed', 0.5, true),
          line('latency', 'met', 1.01),
          line('memory', 'uncertain', 1.02),
          line('first reply', 'met', 1.5, true),
          line('CPU', null, 0.99),
        ],
      },
      {
        ...row,
        row: 'tuic',
        baseline: side('measured'),
        candidate: side('refused configuration', 'unknown type'),
      },
    ],
    coverage: {
      inbound: [{ type: 'trojan', rows: ['trojan'], reason: null, instead: null }],
      outbound: [],
      protocols: [{ protocol: 'naive', rows: ['naive', 'other'], needs: 'naive-client', left_out: [] }],
    },
  });
}

const notesOf = (/** @type {import('../../lib/section.js').Section} */ { notes }) => (notes ?? []).join('\n');

test('a program is called by its version, and by its file where that is another', () => {
  const program = { engine: 'sing-box', binary: 'sing-box', version: '1.12.12' };
  assert.equal(programTitle(program), 'sing-box 1.12.12');
  assert.equal(programTitle({ ...program, version: 'unknown', binary: 'next' }), 'sing-box (next)');
});

test('a side has a row for each protocol with its figures, those for programs beside them', () => {
  const found = compared();
  const section = sideSection(found, 'candidate');
  assert.equal(section.title, 'Candidate: sing-box (next)');
  assert.deepEqual(
    section.columns.filter(({ print }) => print === 'none').map(({ name, unit }) => [name, unit]),
    [
      ['failed_share', 'share'],
      ['detail', 'text'],
      ['known', 'text'],
    ],
  );
  const [trojan, tuic] = rowsOf(section);
  assert.deepEqual(
    [trojan.row, trojan.outcome, trojan.rtt_ms],
    ['trojan', 'measured', { value: 2, low: 1, high: 3 }],
  );
  assert.deepEqual(
    [tuic.outcome, tuic.detail, tuic.udp_rtt_ms],
    ['refused configuration', 'unknown type', null],
  );
  assert.match(notesOf(section), /^tuic: refused configuration: unknown type\.$/m);
  assert.deepEqual(sideSection(found, 'baseline').headline, { value: '1 of 2', of: 'rows measured' });
  assert.match(notesOf(sideSection(found, 'baseline')), /^SHA-256 of the program: ab12\.$/m);
});

test('CPU at rest has a column where it was measured', () => {
  const found = compared();
  const has = () => sideSection(found, 'baseline').columns.some(({ name }) => name === 'rest_cpu_percent');
  assert.equal(has(), false);
  found.rows[1].candidate.figures.rest_cpu_percent = spread(4);
  assert.equal(has(), true);
});

test('tunnels have columns of their own', () => {
  const found = compared();
  assert.match(
    notesOf(sideSection(found, 'baseline')),
    /tunnels are all open at once\. No tunnels are opened; datagrams/,
  );
  Object.assign(found.rows[0].baseline.figures, {
    tunnels_2000_p95_ms: null,
    tunnels_50_p95_ms: spread(1.5),
    tunnels_2000_anon_mib: spread(70),
  });
  const section = sideSection(found, 'baseline');
  assert.deepEqual(
    section.columns
      .filter(({ name }) => name.startsWith('tunnels'))
      .map(({ title, print }) => [title, print]),
    [
      ['50 tunnels P95', 'value'],
      ['2,000 tunnels P95', 'value'],
      ['Own memory, 2,000 tunnels', 'value'],
    ],
  );
  assert.match(notesOf(section), /tunnels are all open at once\. Tunnels, datagrams/);
  assert.match(notesOf(section), /are measured in 2 turns \(500 tunnels or more in 1\),/);
});

test('further turns, and what bounds a throughput, are said', () => {
  const found = compared();
  found.rows[0].turns = 18;
  found.rows[0].told_mbit_per_s = 1000;
  found.rows[0].baseline.figures.measuring_cpus = spread(0.97);
  found.baseline.ran = [{ file: 'other', sha256: 'cd34' }];
  const notes = notesOf(sideSection(found, 'baseline'));
  assert.match(notes, /did not decide: trojan \(18\)\. Each turn/);
  assert.match(notes, /A different program ran, in addition or instead: other, SHA-256 cd34\./);
  assert.match(notes, /used 0\.9 CPUs or more in writes of 64 KiB: trojan \(0\.97\)\./);
  assert.match(notes, /limits the throughput of: trojan \(1000 Mbit\/s\)\. Compare CPU instead\./);
  assert.match(
    notesOf(comparisonSection(found)),
    /may limit the throughput of the baseline\. Then a throughput is "bound"/,
  );
});

test('a comparison has what the candidate is of the baseline, and which targets it meets', () => {
  const section = comparisonSection(compared());
  assert.equal(section.rows.length, 1, 'tuic was not compared');
  const [row] = rowsOf(section);
  assert.deepEqual(row.throughput, { value: 0.5, low: 0.4, high: 0.6, significant: true });
  assert.deepEqual(
    [row.ok, row.row, row.round_trips, row.targets, row.memory_judged, row.turns],
    [false, 'trojan', '4 of 3', 'throughput missed, memory uncertain', 'uncertain', 5],
  );
  const notes = notesOf(section);
  assert.match(
    notes,
    /throughput \(64 KiB\) at least 90 %, RTT at most 120 %, memory at most 100 % .* at most 110 %/,
  );
  assert.match(notes, /signed-rank interval at 96 %\. /);
  assert.match(notes, /^5 turns meet and miss no target: with so many targets it takes 10 turns\.$/m);
});

test('looks are said, and whether so many turns could tell that a target is missed', () => {
  const found = compared();
  found.turns = 8;
  assert.match(
    notesOf(comparisonSection(found)),
    /^8 turns meet and miss no target: with so many targets it takes 10 turns\.$/m,
  );
  found.rows[0].turns = 18;
  found.looks = [
    { turns: 8, confidence: 0.98 },
    { turns: 18, confidence: 0.99333 },
  ];
  const notes = notesOf(comparisonSection(found));
  assert.match(notes, /interval at 98 % after 8 turns, 99\.33 % after 18 turns\. /);
  assert.doesNotMatch(notes, /it takes/);
});

test('what is not told is not met, and neither is a side that did not end well', () => {
  const found = compared();
  const [row] = found.rows;
  const judged = () => {
    const [{ ok, targets }] = rowsOf(comparisonSection(found));
    return [ok, targets];
  };
  row.comparison = [line('throughput', 'bound', 1), line('memory', 'uncertain', 1)];
  assert.deepEqual(judged(), [null, 'throughput bound, memory uncertain']);
  row.comparison = [line('throughput', 'met', 1)];
  assert.deepEqual(judged(), [true, 'met']);
  row.round_trips.ok = false;
  assert.deepEqual(judged(), [false, 'round trips missed']);
  row.round_trips.ok = true;
  row.candidate = side('errors', '14 × closed');
  assert.deepEqual(judged(), [false, 'errors']);
  row.candidate.known = 'closes now and then';
  assert.deepEqual(judged(), [true, 'met']);
});

test('two protocols of rows with mux are told apart', () => {
  const found = compared();
  found.rows[0].multiplex = true;
  assert.doesNotMatch(notesOf(comparisonSection(found)), /two protocols/);
  found.candidate.engine = 'xray';
  assert.match(notesOf(comparisonSection(found)), /h2mux of sing-box, and Mux.Cool of xray/);
});

test('the coverage tells what was measured from what was not', () => {
  const found = compared();
  const known = { ...side('errors', '1 × closed'), known: 'breaks' };
  found.rows = Object.entries({
    trojan: side('measured', 'only 12 of 100 simultaneous tunnels opened'),
    'trojan-ws': side('measured'),
    tuic: side('measured'),
    'tuic-b': side('crashed at start', 'signal 11'),
    vmess: side('errors', '2 × timeout'),
    ssh: side('impossible here', 'no sshd'),
    vless: side('not reached'),
    upgrade: known,
    wireguard: side('measured'),
  }).map(([row, baseline]) => ({ row, baseline, candidate: null }));
  const type = (name, rows, more = {}) => ({ type: name, rows, reason: null, instead: null, ...more });
  found.coverage.inbound = [
    type('trojan', ['trojan', 'trojan-ws', 'trojan-grpc']),
    type('tuic', ['tuic-b', 'tuic']),
    type('vmess', ['vmess']),
    type('vless', ['vless']),
    type('upgrade', ['upgrade']),
    type('naive', ['naive']),
  ];
  found.coverage.outbound = [
    type('ssh', ['ssh']),
    type('wireguard', ['wireguard'], { instead: 'the endpoint' }),
    type('tor', [], { reason: 'needs the Tor network' }),
  ];
  const [section] = coverageSections(found);
  assert.deepEqual(section.rows, [
    [true, 'inbound trojan', 'inbound', 'trojan', 'trojan, trojan-ws: measured; trojan-grpc: not asked for'],
    [false, 'inbound tuic', 'inbound', 'tuic', 'tuic-b: crashed at start (signal 11); tuic: measured'],
    [false, 'inbound vmess', 'inbound', 'vmess', 'vmess: errors (2 × timeout)'],
    [null, 'inbound vless', 'inbound', 'vless', 'vless: not reached'],
    [true, 'inbound upgrade', 'inbound', 'upgrade', 'upgrade: errors (1 × closed)'],
    [null, 'inbound naive', 'inbound', 'naive', 'naive: not asked for'],
    [null, 'outbound ssh', 'outbound', 'ssh', 'ssh: impossible here (no sshd)'],
    [true, 'outbound wireguard', 'outbound', 'wireguard', 'wireguard: measured; it is the endpoint'],
    [null, 'outbound tor', 'outbound', 'tor', 'no row: needs the Tor network'],
  ]);
  assert.deepEqual(section.notes, ['Measured: 2 of 6 inbounds, 1 of 3 outbounds.']);
});

test('the coverage is of sing-box only', () => {
  const found = compared();
  const names = () => coverageSections(found).map(({ name }) => name);
  assert.deepEqual(names(), ['coverage_baseline', 'coverage_candidate', 'extent']);
  found.baseline.engine = 'xray';
  assert.deepEqual(names(), ['coverage_candidate', 'extent']);
  found.candidate.engine = 'xray';
  const [extent, ...others] = coverageSections(found);
  assert.deepEqual([extent.rows, others], [[['naive', 'naive, other', 'naive-client', null]], []]);
  found.coverage.protocols = [];
  assert.deepEqual(coverageSections(found), []);
});

test('who understands whom is a column for each pair, and what does not work has its reason', () => {
  const program = (name, version) => ({ name, engine: name, binary: name, version, sha256: null });
  const pairs = ['sing-box', 'xray'].flatMap((client) =>
    ['sing-box', 'xray'].map((server) => ({ client, server })),
  );
  const cells = (...ended) =>
    pairs.map((pair, index) => ({ ...pair, outcome: ended[index][0], detail: ended[index][1] }));
  const [good, deaf] = [
    ['interoperates', null],
    ['does not interoperate', 'TCP: 0 of 30'],
  ];
  const lacks = ['impossible here', 'xray-core has no tuic'];
  const sections = interopSections(
    /** @type {any} */ ({
      programs: [program('sing-box', '1.12.12'), program('xray', '26.3.27')],
      rows: [
        { row: 'vless-tls', cells: cells(good, ['not encrypted', 'the payload can be read'], deaf, deaf) },
        { row: 'tuic', cells: cells(['refused configuration', 'unknown field'], lacks, lacks, lacks) },
      ],
    }),
  );
  const [table, faults] = sections;
  assert.deepEqual(
    table.columns.map(({ title }) => title),
    ['Protocol', 'A→A', 'A→B', 'B→A', 'B→B'],
  );
  assert.deepEqual(table.rows, [
    ['vless-tls', true, 'plain', false, false],
    ['tuic', false, null, null, null],
  ]);
  assert.deepEqual(table.headline, { value: '1 of 5', of: 'pairs understand each other' });
  assert.deepEqual(table.notes?.slice(0, 2), ['A: sing-box 1.12.12.', 'B: xray 26.3.27.']);
  assert.deepEqual(faults.rows, [
    ['vless-tls', 'A→B', 'not encrypted', 'the payload can be read'],
    ['vless-tls', 'B→A, B→B', 'does not interoperate', 'TCP: 0 of 30'],
    ['tuic', 'A→A', 'refused configuration', 'unknown field'],
    ['tuic', 'A→B, B→A, B→B', 'impossible here', 'xray-core has no tuic'],
  ]);
});
