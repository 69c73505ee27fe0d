/** Outcomes of rows, and their effect on a run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goesOn, ofFailedStart, ofProbes, worst } from '../../lib/protocols/outcome.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { besideBaseline, excused, knownOf, withFault } from '../../lib/protocols/excuse.js';
import { MIB, SHORT_BYTES, bytesFor } from '../../lib/protocols/transfer.js';

const TARGETS = { throughput: 0.9, latency: 1.2, first_reply: 2, round_trips: 2, memory: 1, tolerance: 0.05 };

test('a transfer is as long as the faster side needs, where the slower one can bear it', () => {
  assert.equal(bytesFor([400 * MIB, 200 * MIB], 0.25), 100 * MIB);
  assert.equal(bytesFor([400 * MIB, 20 * MIB], 0.25), 20 * MIB);
  assert.equal(bytesFor([400 * MIB, null], 0.25), 100 * MIB);
  assert.equal(bytesFor([1000], 0.25), MIB);
  assert.equal(bytesFor([null, null], 0.25), SHORT_BYTES);
});

test('a start that failed has a name', () => {
  const of = (/** @type {object | undefined} */ cause, more = {}) => {
    const { foreign = undefined, binary = '/x/candidate', cannot = false } = /** @type {any} */ (more);
    const failure = { error: 'as the sidecar says', cause: /** @type {any} */ (cause) };
    return ofFailedStart({ foreign }, binary, failure, cannot).outcome;
  };
  const ended = (/** @type {number} */ status, said = '', process = 'server') => ({
    is: 'ended',
    process,
    status,
    signal: null,
    said: said.split(' | '),
  });
  const missing = (/** @type {string} */ path) => ({ is: 'missing_file', path });
  const causes = /** @type {[object | undefined, string, object?][]} */ ([
    [missing('/x/candidate'), 'missing binary'],
    [missing('/x y/candidate'), 'missing binary', { binary: '/x y/candidate' }],
    [missing('/r/bin/sing-box'), 'missing binary', { binary: '' }],
    [missing('/usr/sbin/sshd'), 'impossible here'],
    [missing('/r/bin/naive-client'), 'not reached', { foreign: { client: 'naive-client' } }],
    [{ is: 'missing_program', program: 'iptables', process: null }, 'impossible here', { cannot: true }],
    [{ is: 'missing_program', program: '/x/candidate', process: 'client' }, 'missing binary'],
    [undefined, 'not reached'],
    [undefined, 'impossible here', { cannot: true }],
    [ended(1, 'no such device'), 'impossible here', { cannot: true }],
    [ended(1), 'impossible here', { foreign: { server: 'sshd' } }],
    [ended(1), 'ended at start', { foreign: { client: 'naive-client' } }],
    [ended(2, 'x', 'site'), 'not reached'],
    [ended(126, 'Exec format error'), 'missing binary'],
    [ended(127), 'missing binary'],
    [{ ...ended(0), status: null, signal: 11 }, 'crashed at start'],
    [{ ...ended(0), status: null }, 'ended at start'],
    [ended(2, 'panic: x'), 'crashed at start'],
    [ended(101), 'crashed at start'],
    [ended(2, "Usage: proxy [OPTIONS] | try '--help'"), 'ended at start'],
    [ended(1), 'ended at start'],
    [ended(0), 'ended at start'],
    [ended(1, 'bind: address already in use'), 'ended at start'],
    [ended(1, 'FATAL decode config at server.json: x'), 'refused configuration'],
    [ended(1, 'Error: unknown field `username`'), 'refused configuration'],
    [ended(1, 'unknown inbound type: anytls'), 'refused configuration'],
    [ended(1, 'QUIC is not included in this build'), 'impossible here'],
    [ended(2, 'parse config failed'), 'refused configuration'],
    [{ is: 'not_ready', process: 'client' }, 'not ready'],
    [{ is: 'killed_for_memory', times: 2 }, 'killed for memory'],
    [{ is: 'port_taken', process: 'server', port: 1 }, 'not reached'],
  ]);
  for (const [cause, outcome, more] of causes) assert.equal(of(cause, more), outcome, JSON.stringify(cause));
  const told = ofFailedStart({}, '/x', /** @type {any} */ ({ error: 'its words', cause: ended(126) }));
  assert.equal(told.detail, 'cannot be executed: its words');
});

test('a turn has the name of the worst that happened in it', () => {
  const alive = [{ name: 'server', exit: null }];
  assert.equal(ofProbes({}, alive).outcome, 'measured');
  assert.equal(ofProbes({ closed: 1 }, alive).outcome, 'errors');
  assert.equal(ofProbes({ closed: 1, corrupted: 1 }, alive).outcome, 'corrupted payload');
  assert.equal(ofProbes({ corrupted: 1 }, [{ name: 'server', exit: 'signal 9' }]).outcome, 'died in mid-run');
  const measured = /** @type {const} */ ({ outcome: 'measured', detail: null });
  const errors = /** @type {const} */ ({ outcome: 'errors', detail: '1 × closed' });
  assert.deepEqual(worst([measured, errors, measured]), errors);
  const lost = ofProbes({ lost: 2, timeout: 1 }, alive);
  assert.deepEqual(lost, { outcome: 'errors', detail: '2 × lost, 1 × timeout', busy: true });
  assert.equal(ofProbes({ lost: 2, closed: 1 }, alive).busy, undefined);
  assert.equal(ofProbes({ lost: 2, corrupted: 1 }, alive).busy, undefined);
  assert.deepEqual(worst([lost, errors, lost]), errors, 'one turn no busy machine explains');
  assert.deepEqual(worst([measured, lost]), lost);
  const slow = /** @type {const} */ ({ outcome: 'too slow', detail: '21 times slower', busy: true });
  assert.deepEqual(worst([slow, errors, lost]), errors, 'what no busy machine explains comes first');
  assert.deepEqual(worst([lost, slow]), slow);
  assert.equal(worst([]).outcome, 'not reached');
});

test('a side that answers nothing, or carries no transfer, has no further turn', () => {
  const of = (
    /** @type {any} */ outcome,
    rtt = /** @type {number | null} */ (0.2),
    rate = /** @type {any} */ (900),
  ) => goesOn({ outcomes: [{ outcome, detail: null }], turns: [{ rtt_ms: rtt, mbit_64k: rate }] });
  assert.deepEqual([of('measured'), of('errors'), goesOn({ outcomes: [], turns: [] })], [true, true, true]);
  assert.deepEqual(
    [of('died in mid-run'), of('errors', null), of('errors', 0.2, null), of('errors', null, undefined)],
    [false, false, false, false],
  );
});

const SPREAD = { median: 1, min: 1, max: 1 };
const FIGURES = { rtt_ms: SPREAD, mbit_64k: SPREAD, failed_share: { median: 0, min: 0, max: 0 } };

/** @param {object} [more] @returns {any} */
const side = (more) => ({ outcome: 'measured', detail: null, known: null, figures: FIGURES, ...more });

test('over a link errors name the known fault that may explain them, and nothing else does', () => {
  const about = { known: { xray: 'breaks uploads' } };
  const own = /** @type {any} */ ({ engine: 'xray', binary: '', server: null });
  const errors = /** @type {const} */ ({ outcome: 'errors', detail: '60 × connection_reset' });
  assert.deepEqual(withFault(about, own, errors), {
    outcome: 'errors',
    detail: '60 × connection_reset; known of xray: breaks uploads',
  });
  for (const [another, ended] of /** @type {[any, any][]} */ ([
    [{ ...own, engine: 'sing-box' }, errors],
    [{ ...own, binary: '/x/xray' }, errors],
    [own, { outcome: 'measured', detail: null }],
    [own, { outcome: 'crashed', detail: 'signal 9' }],
  ]))
    assert.deepEqual(withFault(about, another, ended), ended);
});

test('a known fault excuses a few operations of its own side, and no figure', () => {
  const failed = (/** @type {number} */ max) => ({ ...FIGURES, failed_share: { ...SPREAD, max } });
  const errors = side({ outcome: 'errors', detail: '1 × closed', figures: failed(0.01) });
  const faulty = { known: { 'sing-box': 'breaks' } };
  const own = { engine: /** @type {const} */ ('sing-box'), binary: '' };
  const of = (/** @type {object} */ more, about = faulty) =>
    excused(about, own, { ...errors, ...more }).known;
  assert.equal(of({}), 'breaks');
  assert.equal(of({}, /** @type {any} */ ({})), null);
  assert.equal(of({ figures: failed(0.2) }), null);
  assert.equal(of({ figures: { ...failed(0.01), mbit_64k: null } }), null);
  assert.equal(of({ outcome: 'corrupted payload' }), null);
});

test('another build may have the fault of the baseline, where it does not show it more often', () => {
  const few = { ...FIGURES, failed_share: SPREAD, tunnels_10_carried_share: { median: 1, min: 1, max: 1 } };
  few.failed_share = { median: 0, min: 0, max: 0.01 };
  const errors = side({ outcome: 'errors', detail: '1 × closed', figures: few });
  const sides = (/** @type {any} */ engine) => ({
    baseline: { engine: /** @type {const} */ ('sing-box'), binary: '' },
    candidate: { engine, binary: '/x' },
  });
  const faulty = { known: { 'sing-box': 'breaks' } };
  const of = (/** @type {number[]} */ [baseline, candidate], engine = 'sing-box', about = faulty) =>
    besideBaseline(about, sides(engine), side({ figures: few }), errors, { baseline, candidate }).known;
  assert.deepEqual([of([0, 1]), of([1, 1]), of([0, 7])], ['breaks', 'breaks', null]);
  const more = besideBaseline(faulty, sides('sing-box'), side({ figures: few }), errors, {
    baseline: 0,
    candidate: 7,
  });
  assert.equal(more.detail, '1 × closed, more often than the baseline (7 against 0)');
  for (const failed of [
    { baseline: null, candidate: 1 },
    { baseline: 1, candidate: null },
  ])
    assert.equal(
      besideBaseline(faulty, sides('sing-box'), side({ figures: few }), errors, failed).known,
      null,
      'nobody knows how many failed',
    );
  assert.deepEqual([of([1, 1], 'xray'), of([1, 1], 'sing-box', /** @type {any} */ ({}))], [null, null]);
});

test('a candidate whose tunnels break under load has errors, whatever opened', () => {
  /** @param {number} share @param {number} [open] */
  const carries = (share, open = 1000) =>
    side({
      detail: 'of 1000 tunnels at once some broke',
      figures: {
        ...FIGURES,
        failed_share: { median: 0, min: 0, max: 0.01 },
        tunnels_1000_open: { median: open, min: open, max: open },
        tunnels_1000_carried_share: { median: share, min: share, max: share },
      },
    });
  const sides = {
    baseline: { engine: /** @type {const} */ ('sing-box'), binary: '' },
    candidate: { engine: /** @type {const} */ ('sing-box'), binary: '/x' },
  };
  const failed = { baseline: 0, candidate: 0 };
  /** @param {number} baseline @param {number} candidate @param {any} [about] */
  const of = (baseline, candidate, about = {}) =>
    besideBaseline(about, sides, carries(baseline), carries(candidate), failed).outcome;
  assert.deepEqual([of(1, 0.5), of(1, 0.79), of(1, 0.81)], ['errors', 'errors', 'measured']);
  assert.deepEqual([of(0.1, 0.1), of(0.1, 0.07), of(0.5, 1)], ['measured', 'errors', 'measured']);
  const known = { known: { 'sing-box': 'breaks' } };
  assert.deepEqual([of(1, 0.75, known), of(1, 0.65, known)], ['measured', 'errors']);
  const gone = besideBaseline({}, sides, carries(1), side({ figures: FIGURES }), failed);
  assert.equal(gone.outcome, 'errors');
  const few = { ...carries(0.5), outcome: /** @type {const} */ ('errors') };
  assert.equal(besideBaseline(known, sides, carries(1), few, failed).known, null);
  assert.equal(
    besideBaseline({}, sides, carries(1), carries(0.5), failed).detail,
    'the candidate carried fewer simultaneous tunnels than the baseline: of 1000 tunnels at once some broke',
  );
});

test('a fault is known of our own build of the engine alone', () => {
  const known = { 'sing-box': 'breaks' };
  const of = (/** @type {any} */ engine, binary = '') => knownOf({ known }, { engine, binary });
  assert.deepEqual([of('sing-box'), of('sing-box', '/x'), of('xray')], ['breaks', null, null]);
  assert.equal(knownOf({}, { engine: 'xray', binary: '' }), null);
});

test('what an engine has not is impossible, and there are no more extra turns than turns', () => {
  /** @type {any} */
  const tuic = {
    row: 'tuic',
    engines: { 'sing-box': true, xray: 'has none' },
    known: { xray: 'breaks' },
    variables: {},
  };
  const found = protocolsOf(
    {},
    {
      rows: [tuic, { ...tuic, row: 'hysteria', told: 'hysteria_mbps', variables: { hysteria_mbps: 1000 } }],
      baseline: { name: 'baseline', engine: 'sing-box', binary: '' },
      candidate: { name: 'candidate', engine: 'xray', binary: '' },
      turns: 1,
      extraTurns: 2,
      targets: TARGETS,
      digests: { baseline: 'ab12' },
    },
  );
  assert.equal(found.extra_turns, 1);
  assert.deepEqual([found.baseline.sha256, found.candidate?.sha256], ['ab12', null]);
  assert.deepEqual([found.rows[0].told_mbit_per_s, found.rows[1].told_mbit_per_s], [null, 1000]);
  const [{ baseline, candidate }] = found.rows;
  assert.deepEqual([baseline.known, baseline.outcome], [null, 'not reached']);
  assert.deepEqual([candidate?.known, candidate?.detail], [null, 'has none']);
});

test('round trips that one side has not are not within the target', () => {
  const of = (/** @type {any} */ own, /** @type {any} */ other) => {
    const counted = (/** @type {any} */ roundTrips) => ({
      turns: [],
      outcomes: [],
      version: null,
      roundTrips,
    });
    const program = (/** @type {any} */ name) => ({
      name,
      engine: /** @type {const} */ ('xray'),
      binary: '',
    });
    const asked = {
      rows: [/** @type {any} */ ({ row: 'vless', engines: { xray: true }, variables: {} })],
      baseline: program('baseline'),
      candidate: program('candidate'),
      turns: 1,
      extraTurns: 0,
      targets: TARGETS,
      digests: {},
    };
    return protocolsOf({ vless: { baseline: counted(own), candidate: counted(other) } }, asked).rows[0]
      .round_trips;
  };
  assert.deepEqual(of(3, 6), { baseline: 3, candidate: 6, ok: true });
  assert.deepEqual(of(3, 7), { baseline: 3, candidate: 7, ok: false });
  for (const none of [null, 0, -1, NaN])
    assert.deepEqual(of(3, none), { baseline: 3, candidate: null, ok: null });
  assert.deepEqual(of(null, 3), { baseline: null, candidate: 3, ok: null });
  assert.equal(of(null, null), null);
});

test('a row that is newer than the program is impossible here, and a candidate must have what the baseline has', () => {
  const refused = /** @type {const} */ ({
    outcome: 'refused configuration',
    detail: 'unknown inbound type: snell',
    lacks: 'unknown type',
  });
  const measured = /** @type {const} */ ({ outcome: 'measured', detail: null });
  /** @type {any} */
  const snell = { row: 'snell', since: '1.14', engines: { 'sing-box': true }, variables: {} };
  const turn = { rtt_ms: 1, mbit_64k: 1 };
  /** @param {any} asked @param {any} own @param {any} other */
  const of = (asked, own, other) => {
    const notes = (/** @type {any} */ outcome) => ({
      outcomes: [outcome],
      turns: outcome === measured ? [turn] : [],
      version: null,
    });
    const program = (/** @type {any} */ name) => ({
      name,
      engine: /** @type {const} */ ('sing-box'),
      binary: '',
    });
    const found = protocolsOf(
      { snell: { baseline: /** @type {any} */ (notes(own)), candidate: /** @type {any} */ (notes(other)) } },
      {
        rows: [asked],
        baseline: program('baseline'),
        candidate: program('candidate'),
        turns: 1,
        extraTurns: 0,
        targets: TARGETS,
        digests: {},
      },
    ).rows[0];
    for (const one of [found.baseline, found.candidate]) assert.ok(!('lacks' in (one ?? {})));
    return [found.baseline.outcome, found.candidate?.outcome, found.comparison.length > 0];
  };
  const none = 'impossible here';
  assert.deepEqual(of(snell, refused, measured), [none, 'measured', false]);
  assert.deepEqual(of(snell, refused, refused), [none, none, false]);
  assert.deepEqual(of(snell, measured, refused), ['measured', 'refused configuration', true]);
  const field = { ...refused, detail: 'unknown field "psk"', lacks: undefined };
  assert.deepEqual(of(snell, field, field), ['refused configuration', 'refused configuration', true]);
  const without = {
    outcome: none,
    detail: 'QUIC is not included in this build, rebuild with -tags with_quic',
    lacks: 'left out',
  };
  assert.deepEqual(of(snell, measured, without), ['measured', 'refused configuration', true]);
  assert.deepEqual(of(snell, without, without), [none, none, false]);
  const sshd = { outcome: none, detail: 'testbed protocols needs /usr/sbin/sshd, which does not exist' };
  assert.deepEqual(of(snell, measured, sshd), ['measured', none, true], 'it is judged, and not met');
  assert.deepEqual(of({ ...snell, since: undefined }, refused, measured), [
    'refused configuration',
    'measured',
    true,
  ]);
});
