/**
 * What does TLS inside the tunnel cost a proxy, and what does Vision save?
 *
 * Most traffic of users is TLS, so that a proxy encrypts it twice. Vision hands records of an inner TLS 1.3 session on as they are.
 * Each row of lib/protocols/matrix.js carries downloads and uploads as plain bytes and in a real TLS 1.3 session between probe and far end. A row
 * with Vision and the same row without it run at the same time. All ways take turns in random order, with new processes in each turn.
 */
import { cpusOf, loadPlane } from '../../lib/dataplane/environment.js';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { echoWait } from '../../lib/dataplane/far-end.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { startEcho, stopEcho } from '../../lib/meter.js';
import { currentProfile, envChoice, envCount, sizesOf } from '../../lib/profiles.js';
import {
  INSIDES,
  MeasuredGroup,
  groupsOf,
  operationIn,
  withoutVision,
} from '../../lib/protocols/inner-tls.js';
import { innerTlsSections } from '../../lib/protocols/inner-tls-shown.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { baselineLeft, rowNamed, selectedRows } from '../../lib/protocols/sides.js';
import { programsOf } from '../../lib/protocols/programs.js';

const PROFILES = {
  smoke: { turns: 1, first_bytes: 5, transfer_s: 0.05, passes: 1 },
  quick: { turns: 8, first_bytes: 10, transfer_s: 0.1, passes: 2 },
  full: { turns: 20, first_bytes: 20, transfer_s: 0.25, passes: 2 },
};
/** A smoke run has one program and one pair of rows. */
const SMOKE = { programs: 'xray', rows: 'vless-vision,vless-tls' };

const sizes = sizesOf(PROFILES, 'ways are compared under one load, so that its shape does not apply');
const smoke = currentProfile() === 'smoke';
const turns = envCount('TURNS', sizes.turns);
const named = programsOf('protocols/inner-tls', smoke ? SMOKE.programs : undefined);
// A candidate is measured alone, unless PROGRAMS names others.
const programs = __ENV.CANDIDATE && !__ENV.PROGRAMS ? named.slice(-1) : named;
const rows = selectedRows('protocols/inner-tls', smoke ? SMOKE.rows : undefined);
const groups = groupsOf(programs, rows);
if (groups.length === 0) throw 'PROTOCOL and PROGRAMS: none of these programs runs one of these rows';
const environment = loadPlane('protocols');
const { placement } = environment;
if (environment.target.tcp)
  throw 'target: the far end with TLS is the own one of protocols/inner-tls: leave target out';
const host = envChoice('ADDRESS') === 'ipv6' ? '::1' : '127.0.0.1';

const operations = Object.fromEntries(
  groups.flatMap(({ program, rows: together }) =>
    together.flatMap((row) =>
      INSIDES.map((inside) => [
        operationIn(program, row, inside),
        {
          title: `${row.row}, ${program.name}, ${inside === 'tls' ? 'TLS 1.3' : 'plain bytes'} inside`,
          latencyIs: "from the dial to the first byte of the far end's answer",
          series: 'total',
          least: turns * sizes.first_bytes,
        },
      ]),
    ),
  ),
);

/** @type {MeasuredGroup[]} of this VU, the only one */
const measured = [];

const script = planeScenario({
  ...startsRows,
  environment,
  name: 'inner-tls',
  title: 'TLS inside the tunnel',
  load: roundsLoad(equalRounds(turns * groups.length), baselineLeft()),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    programs: programs.map(({ name }) => name).join(','),
    ...programs.at(-1)?.settings,
    ...sizes,
    turns,
  },
  operations,
  prepare: () => ({
    ...startsRows.prepare(),
    inner: startEcho({ host, tls: true, cpus: cpusOf(placement.echo_cpus), wait: echoWait(placement) }),
  }),
  end(data) {
    startsRows.end(data);
    stopEcho(data.inner.id);
  },
  round(_round, index, plane) {
    // All groups have their first turn before one has its second.
    const group = index % groups.length;
    measured[group] ??= new MeasuredGroup(plane, groups[group], sizes);
    measured[group].go(Math.floor(index / groups.length));
  },
  more: () => ({
    sections: innerTlsSections(
      Object.keys(operations),
      (row) => withoutVision(rowNamed(row, 'PROTOCOL'))?.row,
    ),
  }),
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
