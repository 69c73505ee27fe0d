/** The running costs of a row: the table of made figures, and the search for the smallest memory. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';
import { rowsOf } from '../support/sections.js';

/** @type {any} */ (globalThis).__ENV = { PROFILE: 'full', SIDECAR_URL: 'http://127.0.0.1:9' };
const { LEVELS, LOAD, noStart, noteCosts, smallestBy } = await import('../../lib/protocols/costs.js');
const { costsSections } = await import('../../lib/protocols/costs-shown.js');
const { MATRIX } = await import('../../lib/protocols/matrix.js');

/** @param {string} title @param {number | null} slope @param {boolean | null} within @param {number} least */
const grown = (title, slope, within, least) => ({
  title,
  unit: title === 'own memory' ? 'B' : '',
  within,
  least,
  growth: slope === null ? null : { slope, low: slope - 10, high: slope + 10, step: 0 },
});
const growth = [
  grown('own memory', 20, true, 2000),
  grown('descriptors', 0, true, 0.002),
  grown('threads', 0, true, 0.002),
];
const start = (/** @type {number} */ ms) => ({ server_ms: ms, client_ms: ms + 1, first_ms: ms + 2 });
const starts = [start(40), start(30), { server_ms: null, client_ms: null, first_ms: null }, start(50)];

/** The table of a row and both its sides; null: not noted. @param {object | null} baseline @param {object | null} [candidate] @param {string} [outcome] */
function lineOf(baseline, candidate = null, outcome = 'measured') {
  const side = { outcome, figures: {} };
  const rows = [{ row: 'socks', baseline: side, candidate: candidate && side }];
  const notes = { socks: { baseline: { costs: baseline }, candidate: { costs: candidate } } };
  const [section] = costsSections(/** @type {any} */ ({ rows, candidate }), /** @type {any} */ (notes));
  return { section, line: section && rowsOf(section)[0] };
}

describe('the costs of a row', () => {
  test('both sides stand beside each other, and a comparison reads growth, start and memory as secondary figures', () => {
    const leaking = [grown('own memory', null, null, 2000), grown('descriptors', 1, false, 0.002), growth[2]];
    const { section, line } = lineOf(
      { growth, starts, smallest: 16 },
      { growth: leaking, starts: [start(60)], smallest: false },
    );
    assert.deepEqual(line, {
      row: 'socks',
      baseline_growth: '20.0 B (10.0 to 30.0)',
      baseline_leaks: 'no',
      baseline_growth_worst: 0.01,
      baseline_server_ms: { value: 40, low: 30, high: 50 },
      baseline_client_ms: { value: 41, low: 31, high: 51 },
      baseline_first_ms: { value: 42, low: 32, high: 52 },
      baseline_smallest_mib: 16,
      candidate_growth: null,
      candidate_leaks: 'yes: descriptors 1.00',
      candidate_growth_worst: null,
      candidate_server_ms: { value: 60, low: 60, high: 60 },
      candidate_client_ms: { value: 61, low: 61, high: 61 },
      candidate_first_ms: { value: 62, low: 62, high: 62 },
      candidate_smallest_mib: 'more than 128',
    });
    assert.deepEqual(
      section.columns.filter(({ secondary }) => secondary).map(({ name }) => name),
      ['baseline', 'candidate'].flatMap((one) =>
        ['growth_worst', 'first_ms', 'smallest_mib'].map((name) => `${one}_${name}`),
      ),
    );
  });

  test('the worst growth is that of any resource, and what is unclear says so', () => {
    const unclear = [
      grown('own memory', 1000, null, 2000),
      grown('descriptors', 0.004, null, 0.002),
      growth[2],
    ];
    const { line } = lineOf({ growth: unclear, starts, smallest: null });
    assert.deepEqual(
      [line.baseline_growth_worst, line.baseline_leaks, line.baseline_smallest_mib],
      [2, 'cannot tell: own memory, descriptors', 'cannot tell'],
    );
  });

  test('a reason stands in each cell that it explains, and so does the outcome of a side that failed', () => {
    const none = { growth: 'not ready', starts: 'sshd starts otherwise', smallest: 'over a link' };
    const {
      baseline_growth,
      baseline_leaks,
      baseline_growth_worst,
      baseline_first_ms,
      baseline_smallest_mib,
    } = lineOf(none).line;
    assert.deepEqual(
      [baseline_growth, baseline_leaks, baseline_growth_worst, baseline_first_ms, baseline_smallest_mib],
      ['not ready', 'not ready', 'not ready', 'sshd starts otherwise', 'over a link'],
    );
    assert.equal(lineOf(none, {}, 'impossible here').line.candidate_growth, '—');
    const rows = ['socks', 'http'].map((row) => ({
      row,
      baseline: { outcome: 'died in mid-run', figures: {} },
      candidate: null,
    }));
    const notes = { socks: { baseline: { costs: none } }, http: { baseline: {} } };
    const [section] = costsSections(
      /** @type {any} */ ({ rows, candidate: null }),
      /** @type {any} */ (notes),
    );
    assert.equal(rowsOf(section)[1].baseline_first_ms, 'died in mid-run');
  });

  test('a row without a server says so', () => {
    const alone = [
      { client_ms: 5, first_ms: 6 },
      { client_ms: null, first_ms: null },
    ];
    const { line } = lineOf({ growth, starts: alone, smallest: 8 });
    assert.deepEqual([line.baseline_server_ms, line.baseline_first_ms.value], ['no server', 6]);
  });

  test('a run that measured none has no table', () => {
    assert.equal(lineOf(null).section, undefined);
  });
});

describe('the smallest memory of a row', () => {
  const fits = { tunnels: LOAD.tunnels, mbit_per_s: 1000, killed: 0, throttled: null, peak_mib: 9 };
  /** @param {number} least */
  const needing = (least) => {
    /** @type {number[]} */
    const tried = [];
    const found = smallestBy((mib) => {
      tried.push(mib);
      return mib >= least ? fits : { ...fits, tunnels: 0, killed: 1 };
    });
    return { found, tried };
  };

  test('levels go down to the first that does not carry the load', () => {
    assert.deepEqual(needing(20), { found: 32, tried: [128, 64, 32, 16] });
    assert.deepEqual(needing(128), { found: 128, tried: [128, 64] });
    assert.deepEqual(needing(200), { found: false, tried: [128] });
    assert.deepEqual(needing(1), { found: 4, tried: LEVELS.toReversed() });
  });

  test('an unknown number of kills is no answer, and a reason is one', () => {
    assert.equal(
      smallestBy(() => ({ ...fits, killed: null })),
      null,
    );
    assert.equal(
      smallestBy(() => 'not reached: no rights'),
      'not reached: no rights',
    );
  });
});

test('a row whose program starts otherwise, or that is in namespaces, has no start', () => {
  const reasonOf = (/** @type {string} */ name) =>
    noStart(MATRIX.find(({ row }) => row === name) ?? assert.fail(name));
  assert.deepEqual(['socks', 'direct', 'vless', 'hysteria2'].map(reasonOf), [null, null, null, null]);
  assert.deepEqual(['ssh', 'naive', 'tun'].map(reasonOf), [
    'sshd starts otherwise',
    'naive-client starts otherwise',
    'in network namespaces',
  ]);
});

describe('a made row', () => {
  const [SERVER, CLIENT, START_SERVER, START_CLIENT] = [1, 2, 3, 4];
  const LISTENS_MS = { server: 30, client: 20 };
  const CARRIES_MS = 45;
  /** A connection takes a millisecond. */
  let clock = 0;
  /** When each program was started. @type {Record<number, number>} */
  let started = {};
  let connections = 0;
  /** Limits of all starts. @type {(string | undefined)[]} */
  const limits = [];

  const holding = () => ({
    role: 'system',
    anon_bytes: 2 ** 20,
    threads: 4,
    descriptors: { all: 20 + connections, tcp: {}, left: 0, udp: 0, pipes: 0, other: 20 + connections },
  });
  /** It needs 20 MiB, and keeps a descriptor of each connection. @param {string} path @param {any} body */
  function answerOf(path, body) {
    if (path.endsWith('/holding')) return { answer: { processes: [holding()] }, error: null };
    if (path === '/windows') return { answer: { id: 'w1' }, error: null };
    if (path !== '/testbeds/protocols/start')
      return {
        answer: { processes: [], limits: { cpu_percent: null, peak_memory_bytes: 1, killed: 0 } },
        error: null,
      };
    limits.push(body.limits);
    started = {};
    connections = 0;
    const mib = Number(/memory:(\d+)mib/.exec(body.limits)?.[1] ?? Infinity);
    if (mib < 20) {
      const cause = { is: 'killed_for_memory', times: 1 };
      return { status: 500, answer: { error: 'it ended', cause }, error: 'it ended' };
    }
    const variables = {
      server_port: SERVER,
      socks_port: CLIENT,
      server_control: START_SERVER,
      client_control: START_CLIENT,
    };
    const outputs = { DATAPLANE_URL: `socks5://127.0.0.1:${CLIENT}` };
    return {
      answer: { id: 'i1', variables: body.variables.control ? variables : {}, outputs, versions: {} },
      error: null,
    };
  }

  /** @param {number} program @param {number} ms */
  const isUp = (program, ms) => clock - (started[program] ?? Infinity) >= ms;

  /** Whether a connection succeeds. @param {any} via @param {any} spec */
  function reaches({ proxy }, { target }) {
    if (proxy) return isUp(START_CLIENT, CARRIES_MS) || Object.keys(started).length === 0;
    const port = Number(target.split(':')[1]);
    if (port === SERVER) return isUp(START_SERVER, LISTENS_MS.server);
    if (port === CLIENT) return isUp(START_CLIENT, LISTENS_MS.client);
    started[port] = clock;
    return true;
  }

  const plane = {
    data: { link: null, runId: 'r' },
    environment: { placement: {} },
    target: () => '127.0.0.1:9',
    measure(/** @type {any} */ via, /** @type {any} */ spec) {
      const succeeded = reaches(via, spec) ? spec.count : 0;
      clock += 1;
      connections += succeeded;
      const outcome = { succeeded, attempted: spec.count, bytes: 2 ** 27, duration_s: 1, usage: null };
      return { outcome, ends: { total: [clock] }, values: { total: [1e6] } };
    },
  };

  test('has the times of its starts, a descriptor of each connection, and the memory that it needs', async () => {
    sidecar.send = (_method, path, body) => answerOf(path, body);
    const row = MATRIX.find((one) => one.row === 'vless') ?? assert.fail();
    const notes = /** @type {any} */ ({
      baseline: { outcomes: [{ outcome: 'measured' }], turns: [{ rtt_ms: 1, mbit_64k: 1 }] },
    });
    const side = { name: 'baseline', engine: 'sing-box', binary: '' };
    await noteCosts(/** @type {any} */ (plane), row, /** @type {any} */ ([side]), notes);
    const { line } = lineOf(notes.baseline.costs);
    for (const [name, ms] of Object.entries({ ...LISTENS_MS, first: CARRIES_MS })) {
      const { value } = line[`baseline_${name}_ms`];
      // In steps of a connection.
      assert.ok(value >= ms && value <= ms + 2, `${name}: ${value} ms`);
    }
    assert.equal(line.baseline_leaks, 'yes: descriptors 1.00');
    assert.equal(line.baseline_growth, '0.00 B (0.00 to 0.00)');
    assert.equal(line.baseline_smallest_mib, 32);
    const tried = [128, 64, 32, 16].map((mib) => `memory:${mib}mib`);
    assert.deepEqual(limits, [undefined, undefined, undefined, undefined, ...tried]);
  });
});

test('over a link nothing starts, and each figure says so; a side that cannot go on has no costs', async () => {
  const notes = /** @type {any} */ ({
    baseline: { outcomes: [{ outcome: 'measured' }], turns: [{ rtt_ms: 1, mbit_64k: 1 }] },
    candidate: { outcomes: [{ outcome: 'not ready' }], turns: [] },
  });
  const sides = /** @type {any} */ ([{ name: 'baseline' }, { name: 'candidate' }]);
  await noteCosts(/** @type {any} */ ({ data: { link: {} } }), MATRIX[0], sides, notes);
  const far = 'over a link';
  assert.deepEqual(notes.baseline.costs, { starts: far, growth: far, smallest: far });
  assert.equal(notes.candidate.costs, undefined);
});
