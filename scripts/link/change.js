/**
 * What happens to a transfer while the link changes?
 *
 * A transfer downwards and four quiet tunnels beside it meet an outage of 2 s, a rate that halves, and a round trip that
 * doubles (LINK describes the link before the change). Each row, and plain TCP with cubic and bbr, is measured: time to
 * recover, dead tunnels, lost bytes. docs/how-to/bad-network.md
 */
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { stop } from '../../lib/meter.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { carriedAtOnce } from '../../lib/link/batch.js';
import { changeControl, changeRow, metSaid, possible } from '../../lib/link/change.js';
import { changeSections } from '../../lib/link/change-shown.js';
import { CHANGES as KNOWN } from '../../lib/link/changes.js';
import { CONTROLS } from '../../lib/link/loaded.js';
import { roundsFor, runStep } from '../../lib/link/lockstep.js';
import { endNotes, outcomesOf, rowsOver } from '../../lib/link/one-row.js';
import { boundWhole, linkThresholds } from '../../lib/link/rows.js';
import { currentProfile, envCount, envList, envNumber, sizesOf } from '../../lib/profiles.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { rowOperation } from '../../lib/protocols/row-operation.js';
import { spreadOf } from '../../lib/spread.js';

/** Default of LINK: no loss, so that the rate before a change is known, and a rate that every machine can carry. */
const LINK = `transatlantic,rate:20mbit${currentProfile() === 'smoke' ? ',rtt:20ms' : ''}`;
const PROFILES = {
  smoke: { rounds: 1, at_s: 2, seconds: 4, changes: 'outage' },
  quick: { rounds: 1, at_s: 4, seconds: 10, changes: 'outage,half,double' },
  full: { rounds: 5, at_s: 8, seconds: 30, changes: 'outage,half,double' },
};

const base = sizesOf(PROFILES, 'a transfer is followed change by change, so that its shape does not apply');
const rounds = envCount('ROUNDS', base.rounds);
const sizes = { at_s: base.at_s, after_s: envNumber('SECONDS', base.seconds) };
const asked = envList('CHANGES', base.changes);
const changes = KNOWN.filter(({ name }) => asked.includes(name));
const { baseline, rows, able, named, parameters } = rowsOver('change', 'trojan', CONTROLS);
const latencyIs = 'from when the link is as it stays until a transfer has recovered from its change';
const all = Object.fromEntries(named.map(({ name, title }) => [name, rowOperation(title, latencyIs)]));
const environment = linkThresholds('change', all);
const operations = boundWhole(all, environment, 'change');

const places = roundsFor(able.length + 1);

/** @param {string} operation */
const figuresOf = (operation) => {
  const met = Object.values(metSaid(operation)).flat();
  return { goodput_down_mbit: spreadOf(met.map((one) => one?.recovery.before ?? null)) };
};

const script = planeScenario({
  ...startsRows,
  system: 'link',
  link: LINK,
  name: 'change',
  title: 'A transfer while the link changes',
  environment,
  // Each round measures all rows in turn, and the link alone.
  load: roundsLoad(equalRounds(rounds * places)),
  parameters: {
    ...parameters,
    rounds,
    changes: changes.map(({ name }) => name).join(','),
    ...sizes,
  },
  operations,
  round(_round, index, plane) {
    if (possible(plane.data.link, changes).length === 0)
      stop(
        `CHANGES=${asked.join(',')}: ${plane.data.link?.about.text} has no setting that could change like this: use CHANGES=outage, or another LINK`,
      );
    const [round, place] = [Math.floor(index / places), index % places];
    const link = `${plane.data.link?.about.text},seed:${round + 1}`;
    const rowsOf = able.map((row) => () => changeRow(plane, { row, side: baseline }, changes, sizes, link));
    const controls = CONTROLS.map(
      (congestion) => () => changeControl(plane, { side: baseline, congestion }, changes, sizes, link),
    );
    const most = { carried: carriedAtOnce(plane), probes: 2 };
    runStep([...rowsOf.map((one) => [one]), controls], place, most);
  },
  more: (_metrics, { link }) => {
    const had = possible(link, changes);
    const left = changes
      .filter((change) => !had.includes(change))
      .map(({ title }) => `${title}: not on this link, which has none.`);
    return {
      protocols: { compared: false, rows: outcomesOf(rows, baseline, figuresOf) },
      sections: changeSections(named, had, [...endNotes(rows, baseline, CONTROLS), ...left]),
    };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
