/** Tables on the panel's time, and other tables of single scenarios. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tunnelsSection } from '../../lib/dataplane/open-tunnels.js';
import { databaseSections, partSections } from '../../lib/panel/time-sections.js';
import { dnsSection } from '../../lib/protocols/dns-upstream.js';
import { rangeOf, sectionOf } from '../../lib/section.js';
import { rowsOf } from '../support/sections.js';

test('a cell is the field of its column’s name, or what the column says, and nothing is null', () => {
  const section = sectionOf({
    name: 'own',
    title: 'Own',
    columns: [
      { name: 'a', title: 'A', unit: 'count' },
      { name: 'b', title: 'B', unit: 'ms', of: ({ a }) => a * 2 },
      { name: 'c', title: 'C', unit: 'text' },
    ],
    rows: [{ a: 1 }, { a: 0, c: '' }],
    notes: ['one'],
  });
  assert.deepEqual(section.rows, [
    [1, 2, null],
    [0, 0, ''],
  ]);
  assert.ok(section.columns.every((column) => !('of' in column)));
  assert.deepEqual(section.notes, ['one']);
  assert.deepEqual(
    [rangeOf(null), rangeOf({ median: 4, min: 2, max: 8 }, 2)],
    [null, { value: 2, low: 1, high: 4 }],
  );
});

const part = (operation, source, name) => ({
  operation,
  source,
  name,
  calls: 3,
  avg_ms: 1,
  p95_ms: null,
  p99_ms: null,
  share: 0.5,
  latency_share: 0.4,
});
const told = (operation, component) => ({
  operation,
  component,
  latency_share: 0.6,
  largest_in: 1,
  requests: 2,
  reason: `about ${operation}`,
});

test('each operation and source has a table, and the first of an operation its bottleneck', () => {
  const sections = partSections(
    [
      part('create', 'server_timing', 'route'),
      part('create', 'server_timing', 'outside the route'),
      part('create', 'prometheus', 'route'),
      part('list', 'server_timing', 'route'),
      part('', 'prometheus', 'route'),
    ],
    [told('create', 'route'), told('list', null)],
    (name) => `Title of ${name}`,
  );
  assert.deepEqual(
    sections.map(({ name, operation, answer, finding, rows }) => [
      name,
      operation,
      answer,
      finding,
      rows.length,
    ]),
    [
      ['component', 'create', 'route', 'about create', 2],
      ['prometheus', 'create', undefined, undefined, 1],
      ['component', 'list', '', undefined, 1],
      ['prometheus', undefined, undefined, undefined, 1],
    ],
  );
  assert.deepEqual(
    sections.map(({ title }) => title),
    [
      'Where the time goes: Title of create',
      'Where the time goes: Title of create (Prometheus)',
      'Where the time goes: Title of list',
      'Where the time goes: the whole run (Prometheus)',
    ],
  );
  assert.match(sections[0].notes?.[0] ?? '', /^The route is what the system itself timed/);
  assert.deepEqual(sections[2].notes, ['about list']);
  assert.deepEqual(sections[0].rows[0], ['route', 3, 1, null, null, 0.5, 0.4]);
});

test('the database has its totals and its statements, and what it is the bottleneck of', () => {
  const work = {
    source: 'performance_schema',
    requests: 2,
    statements: 6,
    statements_per_request: 3,
    total_ms: 12,
    mean_ms: 2,
    rows_examined: 9,
    route_share: null,
    latency_share: 0.1,
    digests: [{ text: 'COMMIT', calls: 6, total_ms: 12, mean_ms: 2, rows_examined: 9, share: 1 }],
  };
  const [totals, statements] = databaseSections(work, told('', null));
  const [row] = rowsOf(totals);
  assert.deepEqual(
    [row.requests, row.statements_per_request, row.total_ms, row.route_share],
    [2, 3, 12, null],
  );
  assert.equal(row.ms_per_request, 6);
  assert.deepEqual([totals.answer, totals.notes?.at(-1)], ['', 'about ']);
  assert.deepEqual(statements.rows, [['COMMIT', 6, 12, 2, 9, 1]]);
  assert.deepEqual(Object.keys(databaseSections(work, undefined)[0]).includes('answer'), false);
});

test('tunnels have their memory in KiB', () => {
  const row = { asked: 10, open: 9, open_all_s: 0.5, direct_open_all_s: null, bytes_per_tunnel: 2048 };
  const { rows } = tunnelsSection([row, { ...row, bytes_per_tunnel: null }]);
  assert.deepEqual(rows, [
    [10, 9, 0.5, null, 2],
    [10, 9, 0.5, null, null],
  ]);
});

test('queries through the proxy stand above the same direct, with figures that the judge puts in', () => {
  const metrics = {
    'operation_upstream_queries{operation:uncached}': { values: { count: 1050 } },
    'operation_upstream_expected{operation:uncached}': { values: { count: 1051 } },
  };
  const kind = { operation: 'uncached', loop: /** @type {const} */ ('closed'), repeated: false, inFlight: 1 };
  const open = {
    operation: 'cached_open',
    loop: /** @type {const} */ ('open'),
    repeated: true,
    inFlight: null,
  };
  const section = dnsSection(metrics, [kind, open], { via: 'xray 26.3.27, trojan', cache: true });
  const [proxied, direct, known] = rowsOf(section);
  assert.deepEqual(proxied, {
    operation: 'uncached',
    names: 'new',
    in_flight: 1,
    via: 'xray 26.3.27, trojan',
    rate_per_s: { operation: 'uncached', figure: 'rate_per_s' },
    p50_ms: { operation: 'uncached', figure: 'p50_ms' },
    p95_ms: { operation: 'uncached', figure: 'p95_ms' },
    p99_ms: { operation: 'uncached', figure: 'p99_ms' },
    lost_share: { operation: 'uncached', figure: 'lost_share' },
    by_direct: { operation: 'uncached', figure: 'p50_ms', by: 'uncached_direct' },
    upstream: 1050,
    expected: 1051,
  });
  assert.deepEqual(
    [direct.operation, direct.via, direct.by_direct, direct.upstream],
    ['uncached_direct', 'direct', null, null],
  );
  assert.deepEqual([known.names, known.in_flight], ['known', 'open loop']);
  assert.match(section.notes?.[0] ?? '', /^The client caches: /);
});
