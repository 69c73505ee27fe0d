/** How the UDP associations of rows behave (RFC 4787). Many rows run at once, because an idle mapping takes its time. */
import { said, say } from 'k6/x/windtunnel/record';
import { chunked } from '../lists.js';
import { measureAll } from '../meter.js';
import { natProbe } from '../udp/nat.js';
import { UNKNOWN, lifeOf, natOf } from '../udp/nat-words.js';
import { comesInBySocks, withSides } from './instances.js';
import { entryOf } from './way.js';

/** @typedef {import('../udp/nat-words.js').NatReport} NatReport */

/** Rows that run at once: the sidecar's limit of probes. */
const AT_ONCE = 12;
const NOTE = 'behaviour of UDP associations';

/** @type {Record<string, NatReport>} by row, of this VU, the only one */
const reports = {};

/** The rows that can be asked, in groups. The probe has its far ends on loopback. @param {import('./matrix.js').Row[]} rows @param {import('./matrix.js').Engine} engine */
export function natGroups(rows, engine) {
  const able = rows.filter((row) => row.udp && comesInBySocks(row) && row.engines[engine] === true);
  return chunked(able, AT_ONCE);
}

/**
 * Asks for the behaviours of some rows. A row that does not start is unknown here, and fails as a row.
 * @param {import('../dataplane/scenario.js').Plane} plane
 * @param {import('./matrix.js').Row[]} rows
 * @param {import('./sides.js').Side} side
 * @param {{ idleS: number[], timeoutMs: number }} of
 */
export function measureNats(plane, rows, side, { idleS, timeoutMs }) {
  const wanted = rows.map((row) => ({ row, side, logName: `${row.row}/nat` }));
  withSides(wanted, plane, (up) => {
    const running = up.flatMap((one, index) =>
      'started' in one ? [{ row: rows[index].row, of: one.started }] : [],
    );
    const ended = measureAll(
      running.map(({ of }) => ({
        ...natProbe(idleS, timeoutMs),
        target: plane.target('udp'),
        proxy: { address: entryOf(of).address },
      })),
    );
    for (const [index, one] of ended.entries())
      if ('outcome' in one && one.outcome.nat) reports[running[index].row] = one.outcome.nat;
    say(NOTE, reports);
  });
}

/** In handleSummary: what was found of a row, in words; null: not asked. @param {string} row */
export function natWordsOf(row) {
  /** @type {NatReport | undefined} */
  const report = said()[NOTE]?.[row];
  if (!report) return { nat: null, out: null, back: null };
  const { kind = null, type = null } = natOf(report) ?? {};
  const { outbound, inbound } = report.idle;
  return {
    nat: kind ? `${kind} (${type})` : UNKNOWN,
    out: outbound && lifeOf(outbound),
    back: inbound && lifeOf(inbound),
  };
}
