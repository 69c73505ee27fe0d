/**
 * Which value of a testbed's variable carries datagrams best?
 *
 * quick: each of VALUES of the variable SWEEP, 5 runs each in interleaved order, every
 * run with processes of its own: 6,000 datagrams of 512 bytes, 32 in flight, beside the
 * same direct. The value that the testbed has without the sweep is what others must beat.
 * Needs a testbed: it starts one anew for each run.
 * Variables: SWEEP, VALUES (a list; both are the testbed's own unless given), RUNS,
 * DATAGRAMS, PAYLOAD_BYTES, WINDOW, TIMEOUT_MS, ADDRESS, WAIT.
 */
import { Gauge } from 'k6/metrics';
import { loadPlane } from '../../lib/dataplane/environment.js';
import { roundsLoad } from '../../lib/dataplane/load.js';
import { ask } from '../../lib/dataplane/meter.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { sweepOf } from '../../lib/dataplane/sweep.js';
import { currentProfile, envCount } from '../../lib/profiles.js';

const SMALL = {
  smoke: { runs: 2, datagrams: 1000 },
  quick: { runs: 5, datagrams: 6000 },
  full: { runs: 10, datagrams: 20000 },
};
/** A gauge without a sample reads 0: `done` tells the two apart. */
const FIGURES = /** @type {const} */ (['mbit_per_s', 'rtt_p95_ms', 'peak_rss_bytes', 'lost_share', 'done']);

const profile = currentProfile();
if (!(profile in SMALL))
  throw `PROFILE=${profile}: a sweep compares values under one load, so that its shape does not apply; choose smoke, quick or full`;
const base = SMALL[/** @type {'smoke'} */ (profile)];

const variable = __ENV.SWEEP;
if (!variable)
  throw 'SWEEP is not set: name a variable of the testbed, and VALUES for it, such as SWEEP=gogc VALUES=50,100,200';
const values = (__ENV.VALUES || '').split(',').map((text) => text.trim());
const unfit = values.find((value) => !/^[A-Za-z0-9._-]+$/.test(value));
if (unfit !== undefined || new Set(values).size !== values.length || values.length < 2 || values.length > 12)
  throw `VALUES=${__ENV.VALUES ?? ''}: 2 to 12 different values of letters, digits, dots and dashes are wanted, such as 64,128`;
const runs = envCount('RUNS', base.runs);
if (runs > 50) throw `RUNS=${runs}: at most 50`;
const datagrams = envCount('DATAGRAMS', base.datagrams);
const payloadBytes = envCount('PAYLOAD_BYTES', 512);
const window = envCount('WINDOW', 32);
const timeoutMs = envCount('TIMEOUT_MS', 100);
const CONTROL = 'direct';

const gauges = Object.fromEntries(FIGURES.map((figure) => [figure, new Gauge(`sweep_${figure}`)]));
/** @param {string} value */
const operationOf = (value) => `value_${value.replace(/[^A-Za-z0-9]/g, '_')}`;
/** @param {string} figure @param {string} value @param {number} run */
const submetricOf = (figure, value, run) => `sweep_${figure}{operation:${operationOf(value)},run:${run}}`;

const row = {
  latencyIs: 'from the datagram sent to its answer received',
  saturates: window > 1,
  // What is lost is what the values are compared by.
  bounds: { failed: 0.5, errors: undefined },
};
const environment = loadPlane();

/** @typedef {{ testbed: string, variables: Record<string, string | number | boolean>, types: Record<string, string>, instances: string[] }} Found */

const script = planeScenario({
  name: 'queue-sweep',
  title: `UDP by ${variable}`,
  load: roundsLoad(
    Array.from({ length: runs * values.length }, () => ({ loop: 'closed', count: datagrams, factor: 1 })),
  ),
  parameters: {
    sweep: variable,
    values: values.join(','),
    runs,
    datagrams,
    payload_bytes: payloadBytes,
    window,
    timeout_ms: timeoutMs,
  },
  operations: {
    ...Object.fromEntries(
      values.map((value) => [
        operationOf(value),
        { ...row, title: `${variable} = ${value}`, control: CONTROL },
      ]),
    ),
    [CONTROL]: { ...row, title: 'direct', bounds: { failed: 0.01, errors: undefined } },
  },
  keep: Object.fromEntries(
    values.flatMap((value) =>
      Array.from({ length: runs }, (_, run) =>
        FIGURES.map((figure) => [submetricOf(figure, value, run), /** @type {const} */ ('gauge')]),
      ).flat(),
    ),
  ),
  prepare: findTestbed,
  ownInstances: true,
  round(round, index, plane) {
    const run = Math.floor(index / values.length);
    // Each run begins with another value.
    const value = values[((index % values.length) + run) % values.length];
    const count = round.loop === 'closed' ? round.count : 0;
    const spec = { kind: 'udp', payload_bytes: payloadBytes, window, timeout_ms: timeoutMs, count };
    const through = () => throughValue(plane, value, run, spec);
    const direct = () => plane.probe([CONTROL], plane.direct, spec);
    for (const step of index % 2 === 0 ? [direct, through] : [through, direct]) step();
  },
  end: (data) => stopInstances(/** @type {any} */ (data).found),
  more: (metrics, _rows, data) => ({
    sweep: sweepOf(
      variable,
      values.map((value) => ({ value: typed(value, data.found), runs: runsOf(metrics, value) })),
      data.found.variables[variable],
    ),
  }),
});

/** In setup(): the testbed that the run was given is the one that is swept. @returns {{ found: Found }} */
function findTestbed() {
  if (!__ENV.INSTANCE)
    throw 'queue-sweep starts testbeds by itself and needs one to know which: run `make dataplane-queue-sweep`';
  const { testbed, variables } = ask('GET', `/instances/${__ENV.INSTANCE}`);
  const declared = ask('GET', '/testbeds').find((/** @type {any} */ { name }) => name === testbed).variables;
  if (!(variable in declared)) {
    throw `SWEEP=${variable}: testbed ${testbed} has no such variable; it has ${Object.keys(declared).join(', ')}`;
  }
  if (!values.includes(String(variables[variable]))) {
    throw `VALUES=${values.join(',')}: ${variables[variable]}, which testbed ${testbed} has without the sweep, must be among them`;
  }
  const types = Object.fromEntries(Object.entries(declared).map(([name, { type }]) => [name, type]));
  const instances = ask('GET', '/instances').map((/** @type {any} */ { id }) => id);
  return { found: { testbed, variables, types, instances } };
}

/** A value as the testbed's variable takes it. @param {string} text @param {Found} found */
function typed(text, { types }) {
  if (types[variable] === 'integer') return Number(text);
  return types[variable] === 'boolean' ? text === 'true' : text;
}

/**
 * One run of one value, with processes of its own.
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 * @param {string} value
 * @param {number} run
 * @param {Record<string, unknown>} spec
 */
function throughValue(plane, value, run, spec) {
  const { found } = /** @type {{ found: Found }} */ (/** @type {unknown} */ (plane.data));
  const free = Object.entries(found.types)
    .filter(([, type]) => type === 'port')
    .map(([name]) => [name, 0]);
  const variables = { ...found.variables, ...Object.fromEntries(free), [variable]: typed(value, found) };
  const instance = ask('POST', `/testbeds/${found.testbed}/start`, { variables }, 120_000);
  const { DATAPLANE_URL: url } = instance.outputs;
  const { DATAPLANE_PASSWORD: password = null } = instance.secret_outputs;
  const proxy = {
    ...environment.proxy,
    address: url.replace('socks5://', ''),
    ...(password ? { username: instance.outputs.DATAPLANE_USERNAME, password } : {}),
  };
  const measured = plane.probe(
    [operationOf(value)],
    { proxy, instance: instance.id, usage_window: plane.data.window },
    spec,
  );
  ask('DELETE', `/instances/${instance.id}`, undefined, 60_000);
  if (measured) note(value, run, measured);
  else noteFailure(value, run);
}

/** A run that could not be measured carried nothing. @param {string} value @param {number} run */
function noteFailure(value, run) {
  const tags = { operation: operationOf(value), run: String(run) };
  gauges.done.add(1, tags);
  gauges.mbit_per_s.add(0, tags);
  gauges.lost_share.add(1, tags);
}

/** @param {string} value @param {number} run @param {import('../../lib/dataplane/meter.js').Measured} measured */
function note(value, run, { outcome, values: series }) {
  const tags = { operation: operationOf(value), run: String(run) };
  const times = [...series.round_trip].sort((a, b) => a - b);
  gauges.done.add(1, tags);
  gauges.mbit_per_s.add((outcome.bytes * 8) / outcome.duration_s / 1e6, tags);
  gauges.lost_share.add(1 - outcome.succeeded / outcome.attempted, tags);
  if (times.length > 0) gauges.rtt_p95_ms.add(times[Math.ceil(times.length * 0.95) - 1] / 1e6, tags);
  if (outcome.usage) gauges.peak_rss_bytes.add(outcome.usage.total.peak_rss_bytes, tags);
}

/**
 * @param {import('../../lib/result.js').Metrics} metrics
 * @param {string} value
 * @returns {import('../../lib/dataplane/sweep.js').SweepRun[]}
 */
function runsOf(metrics, value) {
  const at = (/** @type {string} */ figure, /** @type {number} */ run) =>
    metrics[submetricOf(figure, value, run)]?.values.value ?? 0;
  const done = Array.from({ length: runs }, (_, run) => run).filter((run) => at('done', run) === 1);
  return done.map((run) => ({
    mbit_per_s: at('mbit_per_s', run),
    rtt_p95_ms: at('rtt_p95_ms', run) || null,
    peak_rss_bytes: at('peak_rss_bytes', run) || null,
    lost_share: at('lost_share', run),
  }));
}

/** Ends what an interrupt left of this sweep. @param {Found} found */
function stopInstances(found) {
  for (const { id, testbed } of ask('GET', '/instances')) {
    if (testbed === found.testbed && !found.instances.includes(id))
      ask('DELETE', `/instances/${id}`, undefined, 60_000);
  }
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
