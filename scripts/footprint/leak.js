/**
 * Does a proxy, a relay or a panel keep memory, descriptors or threads of work that has ended?
 *
 * quick: after a warm-up, 48 cycles each of 500 connections, of 32 MiB, and of 100 UDP associations. After each cycle the sidecar reads
 * what the processes of the proxy hold. The slope has an interval; a step of an allocator and a collector's saw-tooth are no leak.
 *
 * A proxy may keep an ended association for minutes. If the testbed can shorten that (`udp_timeout_ms`), quick judges associations of a
 * new instance that ends them after 0.5 s. full judges the proxy as it is, after a warm-up that is longer than their idle life.
 *
 * TESTBED=pulsar-relay: cycles of 500 requests with a connection each, of 500 on one connection, and of 100 WebSocket subscribers.
 * TESTBED=panel: the same without subscribers.
 */
import { stop } from '../../lib/execution.js';
import { findTestbed, stopFresh } from '../../lib/dataplane/fresh.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { currentProfile, envCount, envNumber, sizesOf } from '../../lib/profiles.js';
import { clientLeak, clientWorksOf } from '../../lib/footprint/client-leak.js';
import { clientOf } from '../../lib/footprint/clients.js';
import { foundOf, probeLeak, udpTimeoutOf, worksOf } from '../../lib/footprint/leak.js';
import { LEAK_PROFILES } from '../../lib/footprint/leak-sizes.js';
import { leakFacts, leakSections } from '../../lib/footprint/leak-shown.js';

const base = sizesOf(LEAK_PROFILES, 'cycles come one after the other, so that its shape does not apply');
const lingerS = envNumber('LINGER_S', base.lingerS);
/** Idle time of associations in quick, if the testbed does not say another, ms. */
const shortMs = currentProfile() === 'quick' ? 500 : 0;
const { warmup, block } = base;
const times = { warmup, cycles: envCount('CYCLES', base.cycles), block, lingerS, udpTimeoutMs: 0 };
const each = {
  connections: envCount('CYCLE_CONNECTIONS', base.connections),
  mib: envCount('CYCLE_MIB', base.mib),
  associations: envCount('CYCLE_ASSOCIATIONS', base.associations),
};
const most = {
  bytes: envNumber('LEAK_BYTES', 'footprint/leak'),
  mibOfGib: envNumber('LEAK_MIB', 'footprint/leak'),
};
const client = clientOf();

/** In setup(). */
function checkTestbed() {
  if (!__ENV.INSTANCE)
    stop(
      'footprint/leak reads the processes of the system, which only a testbed names: give TESTBED=sing-box or another',
    );
  return {};
}

/** @typedef {{ udpTimeoutMs?: number }} Prepared 0: associations end when the proxy likes */
/** @param {Prepared} prepared */
const timesOf = ({ udpTimeoutMs = 0 }) => ({ ...times, udpTimeoutMs });

/** The parameter of a short idle time. @param {Prepared} prepared @returns {Record<string, number>} */
const stated = ({ udpTimeoutMs = 0 }) => (udpTimeoutMs > 0 ? { udp_timeout_ms: udpTimeoutMs } : {});

/** @param {import('../../lib/footprint/leak.js').Work[]} works */
const shownOf = (works) => ({
  facts: (/** @type {Prepared} */ data) => leakFacts(foundOf(works, timesOf(data), most)),
  more: (/** @type {unknown} */ _metrics, /** @type {Prepared} */ data) => ({
    sections: leakSections(foundOf(works, timesOf(data), most), timesOf(data)),
  }),
});

/** In setup(). */
function prepareProxy() {
  checkTestbed();
  const found = findTestbed();
  return { found, udpTimeoutMs: __ENV.LINGER_S ? 0 : udpTimeoutOf(found, shortMs) };
}

/** @param {import('../../lib/footprint/clients.js').Client} target */
function ofClient(target) {
  const works = clientWorksOf(target, { requests: each.connections, subscribers: each.associations });
  const title = 'What is kept of requests and subscribers that have ended';
  return clientLeak(target, { works, times, title, prepare: checkTestbed, ...shownOf(works) });
}

function ofProxy() {
  const works = worksOf(each);
  const [connections, bytes, associations] = works;
  return planeScenario({
    system: 'footprint',
    name: 'leak',
    title: 'What a proxy keeps of connections, bytes and associations that have ended',
    load: roundsLoad(equalRounds(works.length)),
    echo: 'events',
    reaches: ['tcp', 'udp'],
    connections: Math.max(associations.each, 1),
    socketsEach: 3,
    parameters: {
      cycles: times.cycles,
      connections: connections.each,
      transfer_mib: bytes.each / 2 ** 20,
      associations: associations.each,
      linger_s: lingerS,
    },
    operations: {
      connection: {
        title: 'Open a tunnel, 64 bytes, close',
        latencyIs: 'from dialling to the last byte of the first answer of the far end',
        series: 'total',
        headline: 'p50',
        least: times.cycles * connections.each,
      },
      transfer: {
        title: 'Transfer over one tunnel',
        latencyIs: 'from the first byte sent to the confirmation of the last one',
        series: 'transfer',
        least: times.cycles,
      },
      datagram: {
        title: 'First datagram of an association',
        loop: 'open',
        latencyIs: 'from the intended send time to the answer received',
        least: times.cycles * associations.each,
      },
    },
    prepare: prepareProxy,
    decided: stated,
    round: (_round, index, plane) => probeLeak(plane, works[index], timesOf(plane.data)),
    end: ({ found }) => stopFresh(found),
    ...shownOf(works),
  });
}

const script = client ? ofClient(client) : ofProxy();

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
