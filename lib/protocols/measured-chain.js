/** Measures the turns of a chain of rows, or of one row alone. Each turn has new processes. */
import { say } from 'k6/x/windtunnel/record';
import { notePeaks } from '../left-open.js';
import { closeWindow, openWindow, usageOf } from '../sidecar.js';
import { startSides, stopSides } from './instances.js';
import { showTurns } from './live.js';
import { goesOn } from './outcome.js';
import { operationOf } from './row-operation.js';
import { bytesFor } from './transfer.js';
import { Turn } from './turn.js';
import { TurnCpu, awaitQuiet } from './turn-cpu.js';
import { undisturbed } from './undisturbed.js';

/** A process with less than this share of the busiest process's CPU time carried no traffic. */
const IDLE = 0.01;

export class MeasuredChain {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {import('./chains.js').Chain} chain
   * @param {import('./sides.js').Side} side
   * @param {{ measure: (turn: Turn, chain: MeasuredChain) => void, quietS: number }} what `measure` makes the measurements of a turn;
   *   `quietS` is the quiet period at its end, s
   */
  constructor(plane, { row, hops }, side, { measure, quietS }) {
    this.plane = plane;
    this.row = row;
    this.hops = hops;
    this.side = side;
    this.measure = measure;
    this.quietS = quietS;
    /** @type {import('./result.js').Notes} */
    this.notes = { turns: [], outcomes: [], version: null };
    /** @type {number | null} size of a transfer; null until the speed is known */
    this.bytes = null;
  }

  /** @param {number} number of the turn, from 0 */
  go(number) {
    const { row } = this.row;
    try {
      undisturbed(this.plane, `${row}, turn ${number + 1}`, [this.notes], () => {
        if (goesOn(this.notes)) this.once();
      });
    } finally {
      showTurns(operationOf(row), this.notes);
      say(row, { baseline: this.notes });
    }
  }

  /** Size of a transfer, which is determined once. @param {Turn} turn @param {number} seconds */
  transferBytes(turn, seconds) {
    // A disturbed first turn gives no valid speed.
    if (this.notes.turns.length === 0 || this.bytes === null) this.bytes = bytesFor([turn.rate()], seconds);
    return this.bytes;
  }

  once() {
    /** @type {import('./instances.js').Started[]} the last hop first */
    const up = [];
    try {
      for (const hop of this.hops.toReversed()) {
        const last = up[up.length - 1];
        if (last && 'failed' in last) break;
        const more = { next_port: last ? last.started.variables.socks_port : 0 };
        // The last hop uses the run's link. The earlier hops run at the link's near end.
        const within = last && this.plane.data.link ? last.started : undefined;
        const number = this.hops.length - up.length;
        const logName = `chain/hop-${number}-${hop.row}`;
        const name = `${this.row.row}, hop ${number}`;
        up.push(...startSides([{ row: hop, side: this.side, more, within, logName, name }], this.plane));
      }
      const started = up.flatMap((side) => ('started' in side ? [side.started] : [])).reverse();
      const failed = up.flatMap((side) => ('failed' in side ? [side.failed] : []));
      if (failed.length > 0) this.notes.outcomes.push(...failed);
      else this.through(started);
    } finally {
      stopSides(up);
    }
  }

  /** @param {any[]} instances the first hop first */
  through(instances) {
    this.notes.version = Object.values(instances[0].versions)[0] ?? null;
    const windows = instances.map(({ id }) => openWindow(id));
    const turn = new Turn(this.plane, instances, operationOf(this.row.row));
    const cpu = new TurnCpu(turn);
    this.measure(turn, this);
    windows.forEach(closeWindow);
    windows.forEach((window, hop) => notePeaks(instances[hop].id, usageOf(window)));
    awaitQuiet([cpu], this.quietS);
    const ended = turn.end();
    const idle = instances.length > 1 && ended.outcome === 'measured' ? idleOf(windows, turn) : null;
    this.notes.outcomes.push(idle ? { outcome: 'errors', detail: idle } : ended);
    this.notes.turns.push(turn.figures);
  }
}

/**
 * Reports a hop that the traffic bypassed. Adds the CPU time of each hop to the figures.
 * @param {(string | null)[]} windows
 * @param {Turn} turn
 */
function idleOf(windows, turn) {
  const used = windows.flatMap((window, hop) =>
    (usageOf(window)?.processes ?? [])
      .filter(({ role }) => role === 'system')
      .map(({ name, cpu_s: cpu }) => ({ hop: hop + 1, name, cpu })),
  );
  if (windows.some((_window, hop) => used.every((process) => process.hop !== hop + 1)))
    return 'the sidecar does not report the use of each hop, so a hop may be idle';
  const most = Math.max(...used.map(({ cpu }) => cpu));
  for (const [hop] of windows.entries()) {
    const cpus = used.filter((process) => process.hop === hop + 1).map(({ cpu }) => cpu);
    turn.figures[`hop_${hop + 1}_cpu_s`] = Math.min(...cpus);
  }
  const idle = used.find(({ cpu }) => cpu < most * IDLE);
  return idle ? `${idle.name} of hop ${idle.hop} used no CPU: the traffic went around it` : null;
}
