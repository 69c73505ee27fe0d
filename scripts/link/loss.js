/**
 * What is each protocol's throughput with packet loss, and with a long round trip?
 *
 * Throughput of one tunnel over LINK with different losses (LOSSES), and with different round trips (RTTS), for each row, and for
 * plain TCP with cubic, bbr and reno on the same link. docs/how-to/bad-network.md
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { carriedAtOnce } from '../../lib/link/batch.js';
import { CONGESTION, controlOf, controlOperations, withDirect } from '../../lib/link/controls.js';
import { curveSaid, curveSection, keepPoint } from '../../lib/link/curves.js';
import { curveOf } from '../../lib/link/curve-point.js';
import { roundsFor, runStep } from '../../lib/link/lockstep.js';
import { outcomesOf, rowsOver } from '../../lib/link/one-row.js';
import { pointsOf } from '../../lib/link/points.js';
import { defaultLink, linkThresholds } from '../../lib/link/rows.js';
import { goodput } from '../../lib/link/parts.js';
import { envCount, envList, envNumber, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { rowOperations } from '../../lib/protocols/row-operation.js';
import { spreadOf } from '../../lib/spread.js';

const PROFILES = {
  smoke: { rounds: 1, seconds: 0.7, warmup_s: 0.3, losses: '0,5', rtts: '50' },
  quick: { rounds: 2, seconds: 2, warmup_s: 1, losses: '0,0.1,0.5,1,2,5,10', rtts: '20,50,100,200,400' },
  full: { rounds: 5, seconds: 10, warmup_s: 5, losses: '0,0.1,0.5,1,2,5,10', rtts: '20,50,100,200,400' },
};

const base = sizesOf(PROFILES, 'goodput is measured point by point, so that its shape does not apply');
const rounds = envCount('ROUNDS', base.rounds);
const flow = {
  direction: /** @type {const} */ ('down'),
  warmup_s: base.warmup_s,
  seconds: envNumber('SECONDS', base.seconds),
};
const points = pointsOf(envList('LOSSES', base.losses), envList('RTTS', base.rtts));
const { baseline, rows, able, named: curves, parameters } = rowsOver('loss', 'trojan,hysteria2', CONGESTION);
const operations = { ...controlOperations(), ...rowOperations(rows, [baseline]) };
const places = roundsFor(able.length + 1);

/** @param {string} operation */
const figuresOf = (operation) => ({
  goodput_down_mbit: spreadOf(Object.values(curveSaid(operation)).flat()),
});

/**
 * @param {import('../../lib/dataplane/scenario.js').Plane} plane
 * @param {string} congestion
 * @param {string} link
 */
const curveOfControl = (plane, congestion, link) =>
  withDirect(
    plane,
    baseline,
    (way) =>
      way.withFlows(function* (far) {
        for (const point of points) {
          way.at(point);
          keepPoint(controlOf(congestion), point, yield* goodput(way, far, { ...flow, congestion }));
        }
      }),
    { link },
  );

const script = planeScenario({
  ...startsRows,
  system: 'link',
  link: defaultLink(),
  name: 'loss',
  title: 'Goodput by loss and by round trip',
  environment: linkThresholds('loss', operations),
  // Each round measures all rows in turn, and the link alone.
  load: roundsLoad(equalRounds(rounds * places)),
  parameters: {
    ...parameters,
    rounds,
    seconds: flow.seconds,
    warmup_s: flow.warmup_s,
    losses: envList('LOSSES', base.losses).join(','),
    rtts: envList('RTTS', base.rtts).join(','),
  },
  operations,
  round(_round, index, plane) {
    const [round, place] = [Math.floor(index / places), index % places];
    // The seed of the link's losses differs between rounds, and is the same for all rows.
    const link = `${plane.data.link?.about.text},seed:${round + 1}`;
    const rowsOf = able.map((row) => () => curveOf(plane, { row, side: baseline }, flow, points, link));
    const controls = CONGESTION.map((congestion) => () => curveOfControl(plane, congestion, link));
    const most = { carried: carriedAtOnce(plane), probes: 1 };
    runStep([...rowsOf.map((one) => [one]), controls], place, most);
  },
  more: (_metrics, { link }) => {
    const side = link?.about.settings.down;
    const path = {
      rtt_ms: link ? (link.about.settings.up.delay_ns + link.about.settings.down.delay_ns) / 1e6 : 0,
      loss: side?.loss ?? 0,
      mbit: side?.rate_bit_s ? side.rate_bit_s / 1e6 : null,
    };
    return {
      protocols: { compared: false, rows: outcomesOf(rows, baseline, figuresOf) },
      sections: [curveSection('loss', curves, points, path), curveSection('rtt', curves, points, path)],
    };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
