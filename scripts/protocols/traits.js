/**
 * What do applications get from each proxy protocol, beyond speed?
 *
 * Each row of lib/protocols/matrix.js through a real client and a real server: the largest datagram that comes back whole, whether
 * QUIC's 1,200 bytes do, what becomes of the client's end (half-close), whether CONNECT is granted before the far end accepts, and
 * the first byte; then the behaviour of its UDP associations (RFC 4787). A row that carries no traffic fails, as in the matrix. Traits are reported, not judged, except
 * garbled payload and a program that ends, unless the matrix lists that as a known fault with large datagrams.
 */
import { said } from 'k6/x/windtunnel/record';
import { equalRounds, roundsLoad } from '../../lib/dataplane/load.js';
import { planeScenario } from '../../lib/dataplane/scenario.js';
import { currentProfile, envCount, envList, sizesOf } from '../../lib/profiles.js';
import { digestOf } from '../../lib/protocols/digest.js';
import { startsRows } from '../../lib/protocols/instances.js';
import { MeasuredRow } from '../../lib/protocols/measured-row.js';
import { measureNats, natGroups } from '../../lib/protocols/nats.js';
import { protocolsOf } from '../../lib/protocols/result.js';
import { rowOperations } from '../../lib/protocols/row-operation.js';
import { candidateLeft, namedProgram, selectedRows, sidesOf, smokeRows } from '../../lib/protocols/sides.js';
import { traitsOf } from '../../lib/protocols/traits.js';
import { traitsSection } from '../../lib/protocols/traits-shown.js';

const PROFILES = {
  smoke: { handshakes: 20, round_trips: 50, datagrams: 30, tries: 3, idle: [0.5] },
  quick: { handshakes: 50, round_trips: 100, datagrams: 50, tries: 3, idle: [1, 5, 11, 31] },
  full: {
    handshakes: 500,
    round_trips: 500,
    datagrams: 500,
    tries: 10,
    idle: [5, 11, 29, 31, 59, 61, 119, 121, 299, 302],
  },
};

const { tries: base, idle, ...sizes } = sizesOf(PROFILES, 'traits have no shape');
const tries = envCount('TRIES', base);
const timeoutMs = envCount('TIMEOUT_MS', 'protocols/traits');
const idleS = envList('IDLE', idle.join(',')).map(Number);
const { baseline } = sidesOf();
const smoke = currentProfile() === 'smoke' ? smokeRows(baseline).split(',')[0] : undefined;
const rows = selectedRows('protocols/traits', smoke);
/** All rows alone, then groups of rows whose associations are left idle. */
const groups = natGroups(rows, baseline.engine);
const asked = {
  rows,
  baseline,
  candidate: null,
  turns: 1,
  extraTurns: 0,
  // Nothing is compared.
  targets: /** @type {any} */ ({}),
  digests: { baseline: digestOf(namedProgram(baseline)) },
  covers: false,
};

/** @type {import('../../lib/protocols/measured-row.js').Measures} */
const measures = {
  tunnelTurns: 0,
  quietS: 0,
  turn(both) {
    both.keep((turn) => turn.reach(sizes));
    both.each((turn) => both.row.udp && turn.datagrams(sizes.datagrams));
    for (const { side, own, turn } of both.carrying)
      own.traits = traitsOf(turn, both.row, side, { tries, timeoutMs });
  },
  tunnels() {},
};

const script = planeScenario({
  ...startsRows,
  name: 'traits',
  title: 'Traits of every proxy protocol',
  load: roundsLoad(equalRounds(rows.length + groups.length), candidateLeft()),
  parameters: {
    rows: rows.map(({ row }) => row).join(','),
    engine: baseline.engine,
    ...baseline.settings,
    ...sizes,
    tries,
    timeout_ms: timeoutMs,
    idle: idleS.join(','),
  },
  operations: rowOperations(rows, [baseline]),
  echo: 'events',
  round(_round, index, plane) {
    if (index < rows.length) new MeasuredRow(plane, rows[index], asked, measures).go(1);
    else measureNats(plane, groups[index - rows.length], baseline, { idleS, timeoutMs });
  },
  more() {
    const notes = said();
    const found = protocolsOf(notes, asked);
    return { protocols: { compared: false, rows: found.rows }, sections: [traitsSection(found, notes)] };
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.round;
