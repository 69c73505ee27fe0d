/**
 * How does a SOCKS5 proxy carry many tunnels that are open at once?
 *
 * quick: 10, 100 and 1,000 tunnels, each with 5 requests a second of 256 bytes for 5
 * seconds: the time to open them all, the round trip while all are open, what failed,
 * and the memory that a proxy just started takes for each tunnel; each level beside the same direct.
 * spike and breakpoint begin with 100.
 */
import { Counter, Trend } from 'k6/x/windtunnel/record';
import { currentProfile, envCount, envList, envNumber } from '../../lib/profiles.js';
import { repeatedLoad } from '../../lib/dataplane/load.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { bytesPerTunnel, findOwn, stopOwn } from '../../lib/dataplane/tunnel-memory.js';
import { submetric } from '../../lib/thresholds.js';
import { mostOf } from '../../lib/variables.js';

const MOST = mostOf('TUNNELS');
/** The two shapes multiply them by up to 5 and 20. */
const LEVELS = /** @type {Record<string, string>} */ ({ smoke: '10,100', spike: '100', breakpoint: '100' });
const asked = new Counter('tunnels_asked');
const openAll = new Trend('tunnels_open_all_s');
const perTunnel = new Trend('tunnels_bytes_each');

const levels = envList('TUNNELS', LEVELS[currentProfile()] ?? '10,100,1000').map(Number);
const rate = envNumber('RATE', 'dataplane/concurrency');
const seconds = envCount('SECONDS', currentProfile() === 'smoke' ? 2 : 5);
const payloadBytes = envCount('PAYLOAD_BYTES', 'dataplane/concurrency');
const load = repeatedLoad(
  { smoke: { rounds: 1, count: 1 }, quick: { rounds: 2, count: 1 }, full: { rounds: 6, count: 1 } },
  'the shape varies the number of tunnels',
);
const steepest = Math.max(...load.rounds.map(({ factor }) => factor)) * Math.max(...levels);
if (steepest > MOST)
  throw `TUNNELS=${levels.join(',')}: profile ${currentProfile()} would open ${steepest} at once, and at most ${MOST} are possible: give fewer, such as TUNNELS=${Math.floor((MOST * Math.max(...levels)) / steepest)}`;

/** @param {number} level */
const rows = (level) => ({
  ...withControl(`open_${level}`, {
    title: `Open one of ${level} tunnels`,
    latencyIs: 'from dialling to the reply that the tunnel is open, all being opened at once',
    series: 'open',
    primary: 'p50',
    bounds: {},
  }),
  ...withControl(`request_${level}`, {
    title: `Request while ${level} tunnels are open`,
    loop: 'open',
    primary: 'p50',
    latencyIs: 'from the intended send time to the last byte of the answer received',
    bounds: { 'p(95)': 250 },
    ...(level === Math.max(...levels) ? { headline: 'p50' } : {}),
  }),
});

const script = planeScenario({
  name: 'concurrency',
  title: 'Many tunnels at once through SOCKS5 CONNECT',
  reaches: ['tcp'],
  connections: steepest,
  load,
  echo: 'events',
  parameters: {
    tunnels: levels.join(','),
    requests_per_s_each: rate,
    seconds,
    payload_bytes: payloadBytes,
    rounds: load.rounds.length,
  },
  operations: Object.assign({}, ...levels.map(rows)),
  prepare: () => ({ found: findOwn() }),
  end: (data) => stopOwn(data.found),
  round(round, index, plane) {
    const { found } = /** @type {any} */ (plane.data);
    for (const level of levels) {
      const tunnels = Math.max(1, Math.round(level * round.factor));
      const spec = {
        kind: 'concurrency',
        connections: tunnels,
        // Proxies answer CONNECT before the way is there: a tunnel's first request pays for the rest.
        warmup: tunnels,
        loop: { open: { rate_per_s: rate * tunnels } },
        count: Math.max(tunnels, Math.round(rate * tunnels * seconds)),
        payload_bytes: payloadBytes,
        limit_s: seconds + 60,
      };
      const names = [`request_${level}`, `open_${level}`];
      for (const [operation, measured] of plane.pair(index, names, spec)) note(operation, measured);
      const each = bytesPerTunnel(plane, found, { connections: tunnels, payload_bytes: payloadBytes, rate });
      if (each !== null) perTunnel.add(each, { operation: names[0] });
    }
  },
  more: (metrics) => ({ tunnels: levels.map((level) => tunnelsOf(metrics, level)) }),
});

/** @param {string} operation @param {import('../../lib/dataplane/meter.js').Measured | null} measured */
function note(operation, measured) {
  const tunnels = measured?.outcome.tunnels;
  if (!tunnels) return;
  asked.add(tunnels.asked, { operation });
  openAll.add(tunnels.open_all_s, { operation });
}

/** @param {import('../../lib/result.js').Metrics} metrics @param {number} level */
function tunnelsOf(metrics, level) {
  const of = (/** @type {string} */ metric, /** @type {string} */ operation) => {
    const values = metrics[submetric(metric, operation)]?.values;
    return values && values.count > 0 ? values.med : null;
  };
  const opened = metrics[submetric('operation_ms', `open_${level}`)]?.values.count ?? 0;
  return {
    asked: metrics[submetric('tunnels_asked', `request_${level}`)]?.values.count ?? 0,
    open: opened,
    open_all_s: of('tunnels_open_all_s', `request_${level}`),
    direct_open_all_s: of('tunnels_open_all_s', `request_${level}_direct`),
    bytes_per_tunnel: of('tunnels_bytes_each', `request_${level}`),
  };
}

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
