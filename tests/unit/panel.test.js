import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { bottleneckOf, bottleneckOfDatabase, wilsonLower } from '../../lib/panel/bottleneck.js';
import { Components, parseServerTiming } from '../../lib/panel/components.js';
import { databaseAt } from '../../lib/panel/database-url.js';
import { beginsWith } from '../../lib/panel/database.js';
import { OVERFLOW_TEXT, databaseOf, difference, keepDigests } from '../../lib/panel/digests.js';
import { factsOf } from '../../lib/panel/integrity.js';
import { Sequence, parseMix, patternOf, textOf } from '../../lib/panel/mix.js';
import { between, parseHistograms, quantile } from '../../lib/panel/prometheus.js';
import { noteOf, runPrefix, userName } from '../../lib/panel/users.js';

afterEach(() => {
  globalThis.__ENV = {};
});

test('user names fit Marzban, begin with the run, and differ between runs', () => {
  const longest = userName(runPrefix('20261121-164217.123-local-smoke'), 'lifecycle', 9_999_999);
  assert.match(longest, /^[a-z0-9_]{3,32}$/);
  assert.equal(longest.length, 32);
  assert.notEqual(runPrefix('a'), runPrefix('b'));
  assert.equal(runPrefix('a'), runPrefix('a'));
  assert.equal(noteOf('a'), 'windtunnel a');
});

test('an underscore of a name is no wildcard in SQL', () => {
  assert.equal(beginsWith('wt_a%!'), 'wt!_a!%!!%');
});

test('database URLs, as SQLAlchemy writes them', () => {
  const options = 'timeout=10s&readTimeout=120s&writeTimeout=120s&interpolateParams=true&charset=utf8mb4';
  assert.deepEqual(databaseAt('mysql+pymysql://marzban:p%40ss%2Fw@127.0.0.1:3307/marzban?charset=x', 'V'), {
    dialect: 'mysql',
    dsn: `marzban:p@ss/w@tcp(127.0.0.1:3307)/marzban?${options}`,
  });
  assert.deepEqual(
    databaseAt('mariadb://root:@localhost/db', 'V').dsn,
    `root:@tcp(localhost:3306)/db?${options}`,
  );
  assert.deepEqual(databaseAt('sqlite:////var/lib/marzban/db.sqlite3', 'V'), {
    dialect: 'sqlite',
    dsn: 'file:/var/lib/marzban/db.sqlite3?mode=rw&_pragma=busy_timeout(30000)',
  });
  assert.throws(
    () => databaseAt('postgresql://u:secret@h/d', 'V'),
    (line) => {
      assert.match(String(line), /^V: not a database URL that can be used/);
      assert.doesNotMatch(String(line), /secret/);
      return true;
    },
  );
  assert.throws(
    () => databaseAt('mysql://u:p@db.example.net/d', 'V'),
    /db\.example\.net is not this machine/,
  );
  globalThis.__ENV = { CONFIRM_REMOTE: 'panel.example.net,db.example.net' };
  assert.match(databaseAt('mysql://u:p@db.example.net/d', 'V').dsn, /tcp\(db\.example\.net:3306\)/);
});

test('Server-Timing: names, durations, quoted descriptions, entries without a duration', () => {
  assert.deepEqual(
    parseServerTiming('route;dur=12.5, db;desc="a, b;dur=9";dur=3, cache;desc=hit, crud.x; dur="1.25"'),
    [
      { name: 'route', ms: 12.5 },
      { name: 'db', ms: 3 },
      { name: 'crud.x', ms: 1.25 },
    ],
  );
  assert.deepEqual(parseServerTiming('miss'), []);
  assert.deepEqual(parseServerTiming('a ; DUR = 1.5 ;desc=x, cache, b;desc=y;dur=0'), [
    { name: 'a', ms: 1.5 },
    { name: 'b', ms: 0 },
  ]);
});

test('parts of a request do not overlap and add up to what the client waited', () => {
  const components = new Components(['route', 'database', 'xray_add']);
  const entries = parseServerTiming('route;dur=10, database;dur=2, database;dur=4, xray_add;dur=1');
  assert.deepEqual(components.partsOf(entries, 10, 25), {
    database: 6,
    xray_add: 1,
    'rest of the route': 3,
    'outside the route': 15,
  });
  // The clocks of two machines round differently.
  assert.equal(components.partsOf(entries, 10, 9.9)['outside the route'], 0);
});

test("Wilson's interval against published values", () => {
  // Newcombe 1998 (https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E), table I.
  assert.equal(wilsonLower(81, 263).toFixed(4), '0.2553');
  assert.equal(wilsonLower(15, 148).toFixed(4), '0.0624');
  assert.equal(wilsonLower(0, 20).toFixed(4), '0.0000');
  assert.equal(wilsonLower(1, 29).toFixed(4), '0.0061');
});

test('a bottleneck is named only where the evidence says so', () => {
  const table = [
    { name: 'route', latency_share: 0.9 },
    { name: 'database', latency_share: 0.6 },
    { name: 'outside the route', latency_share: 0.1 },
  ];
  const largest = (/** @type {number} */ own, /** @type {number} */ other) => [
    { name: 'database', count: own },
    { name: 'outside the route', count: other },
  ];
  const clear = bottleneckOf('disable', table, largest(300, 200));
  assert.equal(clear?.component, 'database');
  assert.match(
    clear?.reason ?? '',
    /bottleneck is database: it took 60 % of the time .* of 300 of 500 requests\.$/,
  );
  // 52 % of 500 may be due to chance.
  const doubtful = bottleneckOf('disable', table, largest(260, 240));
  assert.equal(doubtful?.component, null);
  assert.match(doubtful?.reason ?? '', /^No single bottleneck/);
  assert.match(bottleneckOf('disable', table, largest(20, 0))?.reason ?? '', /^Too few requests/);
  assert.equal(bottleneckOf('disable', [], largest(0, 0)), undefined);
  // The component that is largest most often is not the largest by time.
  assert.equal(bottleneckOf('disable', table, largest(100, 400))?.component, null);
});

test('the database alone is a bottleneck only where its own time is most of what clients waited', () => {
  const named = bottleneckOfDatabase({ requests: 500, latency_share: 0.62 });
  assert.deepEqual([named.operation, named.component, named.largest_in], ['', 'database', null]);
  assert.match(named.reason, /worked for 62 % of the time/);
  const other = bottleneckOfDatabase({ requests: 500, latency_share: 0.02 });
  assert.equal(other.component, null);
  assert.match(other.reason, /^Not the database server: .* 2 %/);
  // An unknown share is not 0 %.
  const unknown = bottleneckOfDatabase({ requests: 500, latency_share: null });
  assert.deepEqual([unknown.component, unknown.latency_share], [null, null]);
  assert.match(unknown.reason, /is unknown/);
  assert.doesNotMatch(unknown.reason, / 0 %|Not the database/);
});

test('statement digests: what came in between, the longest first', () => {
  const before = [
    { id: 1, calls: 5, ms: 10, rows: 1 },
    { id: 2, calls: 1, ms: 1, rows: 0 },
  ];
  const after = [
    { id: 1, calls: 8, ms: 16, rows: 4 },
    { id: 2, calls: 1, ms: 1, rows: 0 },
    { id: 3, calls: 2, ms: 20, rows: 6 },
  ];
  assert.deepEqual(difference(before, after), [
    { id: 3, calls: 2, ms: 20, rows: 6 },
    { id: 1, calls: 3, ms: 6, rows: 3 },
  ]);
});

/** @param {number[]} counts @param {number} sum */
const exposition = (counts, sum) => {
  const labels = String.raw`component="db",route="a, \"x\"}"`;
  return [
    '# TYPE panel_seconds histogram',
    ...[0.1, 0.2, 0.4].map((le, index) => `panel_seconds_bucket{${labels},le="${le}"} ${counts[index]}`),
    `panel_seconds_bucket{${labels},le="+Inf"} ${counts[3]}`,
    `panel_seconds_sum{${labels}} ${sum}`,
    `panel_seconds_count{${labels}} ${counts[3]}`,
    'panel_seconds_count{component="db",route="b"} 2',
    'panel_seconds_other{component="db"} 99',
    'up 1',
  ].join('\n');
};

test('a histogram of Prometheus: difference, sum over other labels, quantiles', () => {
  const then = parseHistograms(exposition([1, 1, 1, 1], 0.05), 'panel_seconds', 'component').db;
  const now = parseHistograms(exposition([11, 51, 91, 101], 20.05), 'panel_seconds', 'component').db;
  assert.equal(now.count, 103);
  const own = between(now, then);
  assert.deepEqual(own.buckets, [
    [0.1, 10],
    [0.2, 50],
    [0.4, 90],
  ]);
  assert.deepEqual([own.count, own.sum], [100, 20]);
  // 30 of 100 is halfway between 10 and 50; 95 of 100 is above the last finite bound.
  assert.ok(Math.abs(quantile(own, 0.3) - 0.15) < 1e-9);
  assert.equal(quantile(own, 0.95), 0.4);
});

test('a mix is exact and evenly spread, and a malformed one is refused', () => {
  const kinds = { read: 40, create: 10 };
  assert.deepEqual(parseMix(undefined, kinds), kinds);
  assert.deepEqual(parseMix('create:3', kinds), { read: 0, create: 3 });
  const pattern = patternOf({ a: 3, b: 2, c: 0 });
  assert.deepEqual(pattern.toSorted(), ['a', 'a', 'a', 'b', 'b']);
  assert.notDeepEqual(pattern.slice(0, 3), ['a', 'a', 'a']);
  for (const wrong of ['read', 'read:-1', 'write:3', 'read:1,read:2', 'read:0', 'read:1001'])
    assert.throws(() => parseMix(wrong, kinds), /^MIX=/, wrong);
});

test('clients that each send their part of a sequence send its exact ratio', () => {
  const mix = { a: 3, b: 2 };
  assert.equal(textOf(mix), 'a:3,b:2');
  const sent = [0, 1, 2, 3].flatMap((client) => {
    const sequence = new Sequence(mix, 5);
    return Array.from({ length: 5 }, () => sequence.next(client));
  });
  assert.equal(sent.filter((kind) => kind === 'a').length, 12);
  const unbounded = new Sequence(mix);
  assert.deepEqual(Array.from({ length: 5 }, () => unbounded.next(7)).toSorted(), ['a', 'a', 'a', 'b', 'b']);
});

/** @typedef {import('k6/x/windtunnel/judge').Term} Term */
/** @typedef {import('k6/x/windtunnel/judge').Amount} Amount */
/** @typedef {{ found: number | null, reported: number | null, slack: number, fewer: number }} Figures */

const before = { users: 0, active: 0, disabled: 0, incomplete: 0, orphans: 1, seeded: 0, others: 7 };
const loaded = { ...before, users: 9, active: 6, disabled: 3 };

/**
 * The facts' figures by their checks, for given numbers of sent, done and refused changes.
 * @param {Record<string, [number, number, number]>} changes
 * @param {Parameters<typeof factsOf>[0]} taken
 * @param {boolean} sql
 * @returns {Record<string, Figures>}
 */
function figuresOf(changes, taken, sql) {
  const count = (/** @type {Term} */ { metric, tags, times }) => {
    assert.equal(metric, 'user_changes');
    return times * (changes[tags.change]?.[['sent', 'done', 'refused'].indexOf(tags.outcome)] ?? 0);
  };
  const sum = (/** @type {Term[]} */ terms) => terms.map(count).reduce((all, one) => all + one, 0);
  const of = (/** @type {Amount} */ amount) => ('counted' in amount ? sum(amount.counted) : amount.said);
  return Object.fromEntries(
    factsOf(taken, sql).map(({ check, found, reported, slack = [], fewer = slack }) => [
      check,
      { found: of(found), reported: of(reported), slack: sum(slack), fewer: sum(fewer) },
    ]),
  );
}

test('facts: users are reported by what was done, and what got no clear answer may differ in its own direction', () => {
  const changes = /** @type {const} */ ({
    created: [14, 12, 1],
    disabled: [8, 6, 1],
    enabled: [3, 2, 0],
    deleted_active: [2, 1, 1],
    deleted_disabled: [3, 1, 0],
  });
  const removed = { ...before, users: 2, orphans: 3, seeded: 4, others: 8 };
  assert.deepEqual(figuresOf(/** @type {any} */ (changes), { before, loaded, removed }, true), {
    'users: created less deleted': { found: 9, reported: 12 - 1 - 1, slack: 1, fewer: 0 + 2 },
    'users: disabled': { found: 3, reported: 6 - 2 - 1, slack: 1, fewer: 1 + 2 },
    'users: active': { found: 6, reported: 10 - 3, slack: 1 + 1, fewer: 0 + 1 },
    'users: left after removal': { found: 2, reported: 0, slack: 0, fewer: 0 },
    'users of others': { found: 8, reported: 7, slack: 0, fewer: 0 },
    'users without a proxy of each protocol': { found: 0, reported: 0, slack: 0, fewer: 0 },
    'seeded users: left after removal': { found: 4, reported: 0, slack: 0, fewer: 0 },
    'proxies without a user': { found: 3, reported: 1, slack: 0, fewer: 0 },
  });
});

test('facts: only others may come to be more', () => {
  const growing = factsOf({ before, loaded, removed: before }, true).filter(({ may_grow: more }) => more);
  assert.deepEqual(
    growing.map(({ check, source }) => [check, source]),
    [['users of others', 'sql']],
  );
});

test('facts: a run that removes nothing has none about the removal, and the last count stands for the rest', () => {
  const last = { ...loaded, others: 8, orphans: 2 };
  const [all, few] = [{ removed: before }, {}].map((more) =>
    figuresOf({}, { before, loaded: last, ...more }, true),
  );
  assert.deepEqual(
    Object.keys(all).filter((check) => !(check in few)),
    ['users: left after removal', 'seeded users: left after removal'],
  );
  assert.equal(few['users of others'].found, 8);
  assert.equal(few['proxies without a user'].found, 2);
});

test('facts: a census that could not be taken is no number', () => {
  const facts = factsOf({ before: null, loaded: null, removed: null }, false);
  assert.equal(facts.length, 5);
  assert.ok(facts.every(({ found, source }) => 'said' in found && found.said === null && source === 'api'));
});

test('statements that the digest table had no room for are told as such', () => {
  const digest = (
    /** @type {string | null} */ id,
    /** @type {number} */ calls,
    /** @type {number} */ ms,
  ) => ({
    id,
    calls,
    ms,
    rows: 0,
    text: 'SELECT ?',
  });
  keepDigests([digest('ab', 2, 1)], [digest('ab', 2, 1), digest(null, 10, 5)]);
  const found = databaseOf({ requests: 5, waitedMs: 50, routeMs: 0 });
  assert.deepEqual(
    found?.digests.map(({ text, calls }) => [text, calls]),
    [[OVERFLOW_TEXT, 10]],
  );
});
