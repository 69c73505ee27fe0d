/** The CPU time of a whole turn: a program can put work off until nothing is sent, so that the CPU of its parts does not show it. */
import { sleep } from 'k6';
import { closeWindow, openCpuWindow, usageOf } from '../sidecar.js';

/** CPU time of a turn's processes, from before the first probe to the end of a quiet period after the last one. */
export class TurnCpu {
  /** @param {import('./turn.js').Turn} turn whose probes have not begun */
  constructor(turn) {
    this.turn = turn;
    this.windows = turn.instances.map(({ id }) => openCpuWindow(id));
  }

  /** CPU seconds so far; null where the sidecar cannot tell. */
  used() {
    const used = this.windows.map((window) => {
      const usage = usageOf(window);
      return usage?.processes.some(({ role }) => role === 'system') ? usage.total.cpu_s : null;
    });
    // The sum without one instance would look cheap.
    return used.includes(null) ? null : used.reduce((/** @type {number} */ sum, cpu) => sum + Number(cpu), 0);
  }

  /** @param {number | null} before CPU seconds when the quiet period began */
  end(before) {
    this.windows.forEach(closeWindow);
    const whole = this.used();
    const { figures, partsCpu } = this.turn;
    figures.turn_cpu_s = whole || null;
    figures.parts_cpu_s = Number.isFinite(partsCpu) ? partsCpu : null;
    figures.quiet_cpu_s = whole === null || before === null ? null : Math.max(0, whole - before);
  }
}

/**
 * Nothing is sent to any side: work that a side has put off is done now, and counts.
 * @param {TurnCpu[]} all of the turns side by side @param {number} seconds
 */
export function awaitQuiet(all, seconds) {
  const before = all.map((cpu) => cpu.used());
  sleep(seconds);
  for (const [index, cpu] of all.entries()) cpu.end(before[index]);
}
