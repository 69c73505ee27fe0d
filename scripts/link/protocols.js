/**
 * What do users of each proxy protocol get over a link?
 *
 * Each row of lib/protocols/matrix.js over LINK, beside the link alone: round trips to the first byte, idle RTT, a page, a video
 * stream, a call, throughput down and up, and bytes on the wire per byte of payload. docs/how-to/bad-network.md
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { Batch, carriedAtOnce } from '../../lib/link/batch.js';
import { CONGESTION, controlOperations, measureControls } from '../../lib/link/controls.js';
import { defaultLink, linkThresholds, overLink } from '../../lib/link/rows.js';
import { inStep, run, together } from '../../lib/link/lockstep.js';
import { shownOf } from '../../lib/link/shown.js';
import { PROBES_AT_ONCE } from '../../lib/link/way.js';
import { chunked } from '../../lib/lists.js';
import { currentProfile, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { runs } from '../../lib/protocols/matrix.js';
import { rowOperations } from '../../lib/protocols/row-operation.js';
import { selectedRows, sidesOf } from '../../lib/protocols/sides.js';

const PROFILES = {
  smoke: { first: 2, trips: 5, pages: 1, video_s: 1.5, call_s: 0.5, warmup_s: 0.3, goodput_s: 0.7 },
  quick: { first: 3, trips: 8, pages: 2, video_s: 5, call_s: 3, warmup_s: 1, goodput_s: 1.5 },
  full: { first: 10, trips: 30, pages: 10, video_s: 30, call_s: 20, warmup_s: 5, goodput_s: 10 },
};

const sizes = sizesOf(PROFILES, 'users of a link are measured one by one, so that its shape does not apply');
/** A smoke run only checks that everything works; other profiles take the rows from the registry. */
const SMOKE_ROWS = currentProfile() === 'smoke' ? 'trojan,hysteria2' : undefined;
const { baseline, candidate } = sidesOf();
const sides = candidate ? [baseline, candidate] : [baseline];
const rows = selectedRows('link/protocols', SMOKE_ROWS);
const entries = rows
  .filter(overLink)
  .flatMap((row) => sides.filter((side) => runs(row, side) === true).map((side) => ({ row, side })));
const batches = chunked(entries, PROBES_AT_ONCE);
const operations = { ...controlOperations(), ...rowOperations(rows, sides) };

const script = planeScenario({
  ...startsRows,
  system: 'link',
  link: defaultLink(),
  name: 'protocols',
  title: 'Every proxy protocol over a link',
  environment: linkThresholds('protocols', operations),
  // The first round measures the link alone; in lockstep it also measures the first rows.
  load: roundsLoad(equalRounds(batches.length + Number(!inStep()))),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    engine: baseline.engine,
    ...sizes,
    ...baseline.settings,
    ...candidate?.settings,
  },
  operations,
  round(_round, index, plane) {
    const batch = (/** @type {number} */ place) => new Batch(plane, batches[place], sizes).go();
    if (!inStep()) return run(index === 0 ? measureControls(plane, baseline, sizes) : batch(index - 1));
    if (index > 0) return run(batch(index));
    // Measure both at once only if the machine carries all full lines.
    if (batches[0].length + CONGESTION.length <= carriedAtOnce(plane))
      return run(together([measureControls(plane, baseline, sizes), batch(0)]));
    run(measureControls(plane, baseline, sizes));
    return run(batch(0));
  },
  more: (_metrics, { link }) => {
    const rateOf = (/** @type {'up' | 'down'} */ direction) => {
      const bits = link?.about.settings[direction].rate_bit_s;
      return bits ? bits / 1e6 : null;
    };
    return shownOf({ rows: rows.filter(overLink), sides, rates: { up: rateOf('up'), down: rateOf('down') } });
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
