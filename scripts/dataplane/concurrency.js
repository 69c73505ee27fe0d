/**
 * How does a SOCKS5 proxy carry many tunnels that are open at once?
 *
 * quick: 10, 100 and 1,000 tunnels, each with 5 requests per second of 256 bytes for 5 seconds. It measures the time to open all
 * tunnels, round trips while all are open, failures, and the memory per tunnel of a newly started proxy. Each level has its
 * control beside it: the same direct. spike and breakpoint begin with 100 tunnels.
 */
import { currentProfile, envCount, envList, envNumber } from '../../lib/profiles.js';
import { repeatedLoad } from '../../lib/dataplane/load.js';
import {
  recordOpening,
  recordPerTunnel,
  tunnelsOf,
  tunnelsSection,
} from '../../lib/dataplane/open-tunnels.js';
import { planeScenario, withControl } from '../../lib/dataplane/scenario.js';
import { bytesPerTunnel, findOwn, stopOwn } from '../../lib/dataplane/tunnel-memory.js';
import { mostOf } from '../../lib/variables.js';

const MOST = mostOf('TUNNELS');
/** Default levels. The shapes spike and breakpoint multiply theirs by up to 5 and 20. */
/** @type {Record<string, string>} */
const LEVELS = { smoke: '10,100', spike: '100', breakpoint: '100' };

const levels = envList('TUNNELS', LEVELS[currentProfile()] ?? '10,100,1000').map(Number);
const rate = envNumber('RATE', 'dataplane/concurrency');
const seconds = envCount('SECONDS', currentProfile() === 'smoke' ? 1 : 5);
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
  end: ({ found }) => stopOwn(found),
  round(round, index, plane) {
    for (const level of levels) {
      const tunnels = Math.max(1, Math.round(level * round.factor));
      const spec = {
        kind: 'concurrency',
        connections: tunnels,
        // Some proxies answer CONNECT before they reach the target. The warm-up absorbs the delay of a tunnel's first request.
        warmup: tunnels,
        loop: { open: { rate_per_s: rate * tunnels } },
        count: Math.max(tunnels, Math.round(rate * tunnels * seconds)),
        payload_bytes: payloadBytes,
        limit_s: seconds + 60,
      };
      const names = [`request_${level}`, `open_${level}`];
      for (const [operation, measured] of plane.pair(index, names, spec)) recordOpening(operation, measured);
      const fresh = { connections: tunnels, payload_bytes: payloadBytes, rate };
      recordPerTunnel(names[0], bytesPerTunnel(plane, plane.data.found, fresh));
    }
  },
  more: (metrics) => ({ sections: [tunnelsSection(levels.map((level) => tunnelsOf(metrics, level)))] }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
