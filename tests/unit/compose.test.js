import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = new URL('../../', import.meta.url);
/** @param {string} path */
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');
/** @param {string} path */
const exists = (path) => existsSync(fileURLToPath(new URL(path, ROOT)));

const text = read('docker-compose.yml');
const { services, volumes } = parse(text, { merge: true });
const entries = Object.entries(services);
const { version } = JSON.parse(read('package.json'));

/** A tag of one release or of one day, such as 1.12.4 or bookworm-20260824-slim. */
const EXACT = /^[a-z0-9./-]+:[a-z0-9.-]*(\d+\.\d+\.\d+|\d{8})[a-z0-9.-]*$/;
const SECRET = /PASSWORD|TOKEN|SECRET/;

/** The stages of docker/Dockerfile in order. */
const stages = read('docker/Dockerfile')
  .split(/^FROM /m)
  .slice(1)
  .map((stage) => {
    const [from, ...lines] = stage.split('\n');
    const [base, , name] = from.split(' ');
    const words = lines.filter((line) => /^[A-Z]+ /.test(line)).map((line) => line.split(/\s+/));
    return { base, name, words };
  });

/** A stage and the stages that it is based on. @param {typeof stages[number] | undefined} stage @returns {typeof stages} */
const lineage = (stage) => (stage ? [stage, ...lineage(stages.find(({ name }) => name === stage.base))] : []);

test('the stack has its services, and what only a run needs is in a profile', () => {
  assert.deepEqual(Object.fromEntries(entries.map(([name, { profiles = [] }]) => [name, profiles])), {
    influxdb: [],
    grafana: [],
    k6: ['k6'],
    sidecar: ['sidecar'],
    bench: ['testbeds'],
  });
});

test('every port is published on loopback only', () => {
  const ports = entries.flatMap(([, { ports: published = [] }]) => published);
  assert.equal(ports.length, 2);
  for (const port of ports) assert.match(String(port), /^127\.0\.0\.1:\$\{[A-Z]+_PORT:-\d+\}:\d+$/);
  for (const [name, { network_mode: mode }] of entries) assert.equal(mode, undefined, name);
});

test('every image has an exact tag, ours that of the release', () => {
  for (const [name, { image, build }] of entries) {
    assert.match(image, EXACT, name);
    if (build) assert.equal(image.split(':')[1], version, name);
  }
  for (const line of ['golang:1.26-bookworm', 'debian:bookworm-slim', 'grafana/grafana:latest', 'influxdb'])
    assert.doesNotMatch(line, EXACT);
});

test('InfluxDB and Grafana are of lines that are maintained', () => {
  assert.match(services.influxdb.image, /^influxdb:1\.12\./);
  assert.match(services.grafana.image, /^grafana\/grafana:12\./);
});

test('every base is pinned or a stage above', () => {
  stages.forEach(({ base }, index) => {
    const above = stages.slice(0, index).map(({ name }) => name);
    if (!above.includes(base)) assert.match(base, EXACT);
  });
});

test('each of our images is a stage that ends as another user than root', () => {
  const built = entries.filter(([, { build }]) => build);
  assert.equal(built.length, 3);
  for (const [name, { build, user }] of built) {
    assert.equal(build.dockerfile, 'docker/Dockerfile');
    const stage = stages.find((one) => one.name === build.target);
    assert.ok(stage, `${name}: no stage ${build.target}`);
    const users = stage.words.filter(([instruction]) => instruction === 'USER').map(([, who]) => who);
    assert.match(users.at(-1) ?? 'none', /^windtunnel$/, name);
    assert.equal(user, '${WINDTUNNEL_USER:-1000:1000}');
    assert.ok(
      lineage(stage).some(({ words }) =>
        words.some((line) => line.join(' ').includes('useradd --uid 1000 ')),
      ),
      `${name}: it has no user 1000`,
    );
  }
});

test('no secret is written down, and none gets into an image', () => {
  for (const [name, { environment }] of entries) {
    for (const [variable, value] of Object.entries(environment)) {
      if (SECRET.test(variable))
        assert.match(value ?? '${X:?}', /^\$\{[A-Z_]+:\?[^}]*\}$/, `${name}: ${variable}`);
    }
  }
  for (const { words } of stages) {
    for (const [instruction, ...rest] of words) {
      if (instruction === 'ENV' || instruction === 'ARG') assert.doesNotMatch(rest.join(' '), SECRET);
    }
  }
});

test('what stays up has a health check, and what needs it waits for it', () => {
  for (const name of ['influxdb', 'grafana', 'sidecar']) {
    const { test: command, interval, timeout } = services[name].healthcheck;
    assert.equal(command[0], 'CMD', name);
    assert.doesNotMatch(command.join(' '), SECRET, `${name}: a command line is seen by others`);
    assert.ok(interval && timeout, name);
  }
  for (const [name, service] of entries) {
    if (name !== 'influxdb')
      assert.deepEqual(service.depends_on, { influxdb: { condition: 'service_healthy' } }, name);
  }
});

test('what is mounted is there, and nothing but results may be written', () => {
  const named = Object.keys(volumes);
  for (const [name, { volumes: mounts }] of entries) {
    for (const mount of mounts) {
      const [from, , mode] = mount.split(':');
      if (!from.startsWith('./')) assert.ok(named.includes(from), `${name}: ${mount}`);
      else {
        assert.ok(exists(from), `${name}: ${from} is not in the repository`);
        assert.equal(mode, from === './results' ? undefined : 'ro', `${name}: ${mount}`);
      }
    }
  }
});

test('what the Dockerfile copies is let through to it, and nothing else is', () => {
  const [first, ...rules] = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  assert.equal(first, '*');
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  const copied = stages
    .flatMap(({ words }) => words)
    .filter(([instruction, option]) => instruction === 'COPY' && !option.startsWith('--from='))
    .flatMap(([, ...paths]) => paths.slice(0, -1));
  const through = copied.map((path) => (allowed.includes(path) ? path : path.split('/')[0]));
  assert.deepEqual([...new Set(through)].sort(), allowed.sort());
  for (const path of copied) assert.ok(exists(path), path);
});

test('points are kept for a time, in the policy that queries without a name use', () => {
  const statement = read('docker/influxdb/retention.iql').trim();
  assert.match(statement, /^ALTER RETENTION POLICY "autogen" ON "windtunnel" DURATION 30d .*DEFAULT$/);
  assert.equal(services.influxdb.environment.INFLUXDB_DB, 'windtunnel');
});

test('boards are open to look at, and nothing more', () => {
  const { environment } = services.grafana;
  assert.equal(environment.GF_AUTH_ANONYMOUS_ORG_ROLE, 'Viewer');
  assert.equal(environment.GF_USERS_ALLOW_SIGN_UP, 'false');
  // A viewer can send any query, so the data source's user must not be able to drop anything.
  assert.equal(environment.INFLUX_USERNAME, services.influxdb.environment.INFLUXDB_READ_USER);
});

test('the home board is one that is mounted', () => {
  const home = services.grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
  const mount = services.grafana.volumes
    .map((one) => one.split(':'))
    .find(([, to]) => home.startsWith(`${to}/`));
  assert.ok(mount, home);
  const [from, to] = mount;
  assert.equal(JSON.parse(read(home.replace(to, from))).uid, 'windtunnel-overview');
});
