/**
 * How long does a small request take while other traffic fills the tunnel?
 *
 * Round trips on a tunnel that carries transfers, on another tunnel beside it, and on new tunnels: idle, and beside 1 and more
 * transfers (TRANSFERS) in each direction over LINK. Each row, and plain TCP with cubic and bbr on the same link, is measured.
 * docs/how-to/bad-network.md
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { carriedAtOnce } from '../../lib/link/batch.js';
import { CONTROLS, cellsSaid, loadControl, loadRow, recordedLoad } from '../../lib/link/loaded.js';
import { loadedSections } from '../../lib/link/loaded-shown.js';
import { loadsOf } from '../../lib/link/loads.js';
import { roundsFor, runStep } from '../../lib/link/lockstep.js';
import { endNotes, outcomesOf, rowsOver } from '../../lib/link/one-row.js';
import { boundWhole, linkThresholds } from '../../lib/link/rows.js';
import { currentProfile, envList, envNumber, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { rowOperation } from '../../lib/protocols/row-operation.js';
import { spreadOf } from '../../lib/spread.js';

/** Default of LINK. Its deep queue shows the difference between protocols that fill it and others: links/throttled.toml. */
const LINK = currentProfile() === 'smoke' ? 'throttled,queue:200kb' : 'throttled';
const PROFILES = {
  smoke: { transfers: '1', warmup_s: 0.7, seconds: 1, tail_s: 0.3 },
  quick: { transfers: '1,8', warmup_s: 4, seconds: 5, tail_s: 5 },
  full: { transfers: '1,8', warmup_s: 8, seconds: 20, tail_s: 10 },
};

const base = sizesOf(PROFILES, 'latency is measured load by load, so that its shape does not apply');
const transfers = envList('TRANSFERS', base.transfers);
const loads = loadsOf(transfers.map(Number));
const sizes = { warmup_s: base.warmup_s, seconds: envNumber('SECONDS', base.seconds), tail_s: base.tail_s };
const { baseline, rows, able, named, parameters } = rowsOver('loaded', 'trojan', CONTROLS);
const latencyIs = `from when a request of 1 KiB was meant to be sent on a tunnel that is kept full (${recordedLoad(loads)?.title}) to its answer received`;
/** Requests have a fixed rate, so all operations are open loops. */
const open = Object.fromEntries(
  named.map(({ name, title }) => [
    name,
    { ...rowOperation(title, latencyIs), loop: /** @type {const} */ ('open') },
  ]),
);
const environment = linkThresholds('loaded', open);
const operations = boundWhole(open, environment, 'loaded');

/** @param {string} operation */
const figuresOf = (operation) => ({ rtt_ms: spreadOf([cellsSaid(operation).rest?.kept.p50 ?? null]) });

const script = planeScenario({
  ...startsRows,
  system: 'link',
  link: LINK,
  name: 'loaded',
  title: 'Latency under load',
  environment,
  // The first step measures the link alone.
  load: roundsLoad(equalRounds(roundsFor(able.length + 1))),
  parameters: {
    ...parameters,
    transfers: transfers.join(','),
    ...sizes,
  },
  operations,
  round(_round, index, plane) {
    const controls = CONTROLS.map(
      (congestion) => () => loadControl(plane, { side: baseline, congestion }, loads, sizes),
    );
    const rowsOf = able.map((row) => () => loadRow(plane, { row, side: baseline }, loads, sizes));
    const most = { carried: carriedAtOnce(plane), probes: 3 };
    runStep([controls, ...rowsOf.map((one) => [one])], index, most);
  },
  more: () => {
    const entries = named.map((one) => ({ ...one, cells: cellsSaid(one.name) }));
    return {
      protocols: { compared: false, rows: outcomesOf(rows, baseline, figuresOf) },
      sections: loadedSections(
        entries.filter(({ cells }) => Object.keys(cells).length > 0),
        loads,
        endNotes(rows, baseline, CONTROLS),
      ),
    };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
