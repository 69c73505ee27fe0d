/** The turns of a chain of rows, or of one row alone, each turn with processes of its own. */
import { say } from 'k6/x/windtunnel/record';
import { closeWindow, openWindow, usageOf } from '../sidecar.js';
import { startSides, stopSides } from './instances.js';
import { showTurns } from './live.js';
import { goesOn } from './outcome.js';
import { operationOf } from './row-operation.js';
import { bytesFor } from './transfer.js';
import { Turn } from './turn.js';
import { TurnCpu, awaitQuiet } from './turn-cpu.js';
import { undisturbed } from './undisturbed.js';

/** A process that used less than this share of the busiest one's CPU carried nothing. */
const IDLE = 0.01;

export class MeasuredChain {
  /**
   * @param {import('../dataplane/scenario.js').Plane} plane
   * @param {import('./chains.js').Chain} chain
   * @param {import('./sides.js').Side} side
   * @param {{ measure: (turn: Turn, chain: MeasuredChain) => void, quietS: number }} what a turn does, and seconds of the quiet period
   *   at its end
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
    /** @type {number | null} of a transfer, once it is known how fast it is */
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

  /** How long a transfer has to be, which is found out once. @param {Turn} turn @param {number} seconds */
  transferBytes(turn, seconds) {
    // A first turn that others disturbed has not told it.
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
        // The last hop goes over the run's link; those before it are at the near end.
        const within = last && this.plane.data.link ? last.started : undefined;
        const logName = `chain/hop-${this.hops.length - up.length}-${hop.row}`;
        up.push(...startSides([{ row: hop, side: this.side, more, within, logName }], this.plane));
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
    awaitQuiet([cpu], this.quietS);
    const ended = turn.end();
    const idle = instances.length > 1 && ended.outcome === 'measured' ? idleOf(windows, turn) : null;
    this.notes.outcomes.push(idle ? { outcome: 'errors', detail: idle } : ended);
    this.notes.turns.push(turn.figures);
  }
}

/**
 * A hop that the traffic has gone around; the CPU of each is among the figures.
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
    return 'the sidecar does not tell what each hop used, so that a hop may be idle';
  const most = Math.max(...used.map(({ cpu }) => cpu));
  for (const [hop] of windows.entries()) {
    const cpus = used.filter((process) => process.hop === hop + 1).map(({ cpu }) => cpu);
    turn.figures[`hop_${hop + 1}_cpu_s`] = Math.min(...cpus);
  }
  const idle = used.find(({ cpu }) => cpu < most * IDLE);
  return idle ? `${idle.name} of hop ${idle.hop} used no CPU: the traffic went around it` : null;
}
