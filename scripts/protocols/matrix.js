/**
 * How does each proxy protocol perform, and how does a candidate compare with the baseline?
 *
 * Each row of lib/protocols/matrix.js through a real client and a real server: time to a tunnel's first reply, round trip,
 * downloads in writes of 1 KiB, 64 KiB and 1 MiB, uploads, datagrams, 10, 100 and 1,000 tunnels at once, CPU seconds per GiB, and
 * peak memory. With CANDIDATE both sides of a row run at the same time, and their probes alternate in random order; each pair
 * of turns has new processes. The first pair determines the size of a transfer. Rows that the profile's turns leave undecided
 * then get further turns, for at most MINUTES. full also measures what each row costs to keep running: growth by connections, start, and
 * the smallest memory.
 */
import { said } from 'k6/x/windtunnel/record';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { linkOf } from '../../lib/link.js';
import { currentProfile, envCount, envList, sizesOf } from '../../lib/profiles.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { MANY_TUNNELS } from '../../lib/protocols/figures.js';
import { comparedOf, furtherMinutes, measureFurther } from '../../lib/protocols/further.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { MeasuredRow } from '../../lib/protocols/measured-row.js';
import { rowOperations } from '../../lib/protocols/row-operation.js';
import { namedProgram, selectedRows, sidesOf, smokeRows, targetsOf } from '../../lib/protocols/sides.js';
import { noteHalfClose } from '../../lib/protocols/traits.js';
import { halfCloseSection } from '../../lib/protocols/traits-shown.js';
import { secondsOver } from '../../lib/protocols/transfer.js';
import { given } from '../../lib/variables.js';

/** Turns of each side, `alone` or `compared`. The first `extra` turns also measure other sizes of writes, datagrams and tunnels. */
const TURNS = {
  smoke: { alone: 1, compared: 2, extra: 2, tunnels: '10,100' },
  quick: { alone: 3, compared: 8, extra: 2, tunnels: '10,100,1000' },
  full: { alone: 10, compared: 12, extra: 4, tunnels: '10,100,1000' },
};
/** Sizes of a turn. Round trips and transfers are per pass; a turn has PASSES. */
const SIZES = {
  smoke: { handshakes: 20, round_trips: 50, datagrams: 100, transfer_s: 0.025 },
  quick: { handshakes: 30, round_trips: 75, datagrams: 100, transfer_s: 0.06 },
  full: { handshakes: 100, round_trips: 250, datagrams: 500, transfer_s: 0.15 },
};
/** Sizes over a link: a round trip takes as long as a thousand on loopback, and varies little. */
const SIZES_OVER_LINK = {
  smoke: { handshakes: 3, round_trips: 3, datagrams: 20, transfer_s: 0.5 },
  quick: { handshakes: 5, round_trips: 8, datagrams: 50, transfer_s: 1 },
  full: { handshakes: 10, round_trips: 20, datagrams: 200, transfer_s: 2 },
};
/** Quiet period at the end of a turn, s: deferred work of a program counts too. */
const QUIET_S = { smoke: 0.5, quick: 0.5, full: 1 };
/** Passes of a turn. Round trips and transfers alternate between the sides: A B, B A, A B, B A. */
const PASSES = 4;

const why = 'the matrix compares protocols under one load, so that its shape does not apply';
const base = sizesOf(TURNS, why);
const { baseline, candidate } = sidesOf();
const overLink = linkOf('protocols/matrix') !== '';
/** A smoke run without a candidate only checks that everything works: it takes all round trips in one pass, and over a link no extra figures. */
const brief = currentProfile() === 'smoke' && candidate === null;
const passes = brief ? 1 : PASSES;
const ofPass = sizesOf(overLink ? SIZES_OVER_LINK : SIZES, why);
const sizes = brief ? { ...ofPass, round_trips: PASSES * ofPass.round_trips } : ofPass;
const sides = candidate ? [baseline, candidate] : [baseline];
const quietS = brief ? 0 : sizesOf(QUIET_S, why);
const digests = Object.fromEntries(sides.map((side) => [side.name, digestOf(namedProgram(side))]));
const rows = selectedRows('protocols/matrix', brief ? smokeRows(baseline) : undefined);
const turns = envCount('TURNS', candidate ? base.compared : base.alone);
const extra = brief && overLink ? 0 : Math.min(turns, base.extra);
/** Time for further turns of all rows, minutes; 0 if the number of turns is fixed, or if there is nothing to decide. */
const minutes =
  candidate && !__ENV.TURNS ? envCount('MINUTES', furtherMinutes(currentProfile(), rows.length)) : 0;
/** Whether to open many tunnels, which needs new processes. A smoke run without a candidate does so only if TUNNELS is set. */
const opensTunnels = !brief || given('TUNNELS') !== undefined;
const tunnels = opensTunnels ? envList('TUNNELS', base.tunnels).map(Number) : [];
const fewestFirst = tunnels.toSorted((a, b) => a - b);
const asked = {
  rows,
  baseline,
  candidate,
  quiet: true,
  turns,
  extraTurns: extra,
  targets: targetsOf(),
  digests,
};

/** @type {MeasuredRow[]} of this VU, the only one */
const measured = [];
/** The measurements of a turn, and their order. @type {import('../../lib/protocols/measured-row.js').Measures} */
const measures = {
  tunnelTurns: tunnels.length > 0 ? extra : 0,
  quietS,
  turn(both, number) {
    if (number === 0) both.each((turn) => turn.rest());
    both.drawLots();
    both.keep((turn) => turn.reach(sizes));
    const bytes = both.transferBytes(secondsOver(sizes.transfer_s, both.link));
    for (let pass = 0; pass < passes; pass += 1) {
      // Alternating order: a drift of the machine then affects both sides alike.
      const backwards = pass % 2 === 1;
      // `reach` has measured the first round trips.
      if (pass > 0) both.each((turn) => turn.trips(sizes.round_trips), { backwards });
      both.each((turn) => turn.bulk(bytes), { backwards });
      // A side without traffic would cost seconds in each pass.
      both.keep((turn) => turn.carries());
    }
    if (number >= extra) return;
    both.takeTurns();
    both.each((turn) => turn.extras(sizes, bytes, both.row.udp));
  },
  after(both, number) {
    if (number === 0) noteHalfClose(both);
  },
  tunnels(turn, number) {
    // Many tunnels take seconds to open, so only half of the extra turns open them.
    for (const count of fewestFirst) if (count < MANY_TUNNELS || number < extra / 2) turn.tunnels(count);
  },
};

const script = planeScenario({
  ...startsRows,
  name: 'matrix',
  title: 'Every proxy protocol',
  // The last round is for further turns.
  load: roundsLoad(equalRounds(rows.length + Number(minutes > 0))),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    engine: baseline.engine,
    turns,
    ...sizes,
    round_trips: passes * sizes.round_trips,
    transfer_s: passes * sizes.transfer_s,
    tunnels: tunnels.join(',') || 'none',
    quiet_s: quietS,
    ...(candidate ? asked.targets : {}),
    ...baseline.settings,
    ...candidate?.settings,
  },
  operations: rowOperations(rows, sides),
  // This engine has room for all tunnels, so every row has the same far end, also in namespaces.
  echo: 'events',
  round(_round, index, plane) {
    if (index === rows.length) return measureFurther(measured, asked, minutes);
    measured[index] = new MeasuredRow(plane, rows[index], asked, measures);
    measured[index].go(turns);
    return currentProfile() === 'full' ? measured[index].keep() : undefined;
  },
  more() {
    const { sections = [], ...rest } = comparedOf(asked, minutes > 0 ? [turns] : []);
    return { ...rest, sections: [...sections, halfCloseSection(rows, said(), sides)] };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
