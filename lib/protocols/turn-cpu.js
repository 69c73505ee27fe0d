/** The CPU time of a whole turn. It includes work that a program defers until nothing is sent, which the probes do not see. */
import { sleep } from 'k6';
import { closingSeconds } from '../link.js';
import { closeWindow, openCpuWindow, openSystemWindow, usageOf } from '../sidecar.js';
import { holdings, noteFootprint } from './footprint.js';

/** CPU time of a turn's processes, and what they hold, from before the first probe to the end of a quiet period after the last one. */
export class TurnCpu {
  /** @param {import('./turn.js').Turn} turn before its first probe */
  constructor(turn) {
    this.turn = turn;
    this.windows = turn.instances.map(({ id }) => openCpuWindow(id));
  }

  /** CPU seconds so far; null if unknown. */
  used() {
    const used = this.windows.map((window) => {
      const usage = usageOf(window);
      return usage?.processes.some(({ role }) => role === 'system') ? usage.total.cpu_s : null;
    });
    // A sum without one instance would be too small.
    return used.includes(null) ? null : used.reduce((/** @type {number} */ sum, cpu) => sum + Number(cpu), 0);
  }

  /** @param {number | null} before CPU seconds at the start of the quiet period */
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
 * How often the processes of closed windows woke in a second.
 * @param {(string | null)[]} windows @returns {number | null} null: a window is unknown, or the list is empty
 */
function wokenPerSecond(windows) {
  const rates = windows.map((window) => {
    const { processes = [], duration_s: seconds = NaN } = usageOf(window) ?? {};
    const system = processes.filter(({ role }) => role === 'system');
    const woken = system.reduce((sum, { voluntary_switches: one = NaN }) => sum + one, 0);
    return system.length > 0 ? woken / seconds : NaN;
  });
  const sum = rates.reduce((total, rate) => total + rate, 0);
  return rates.length > 0 && Number.isFinite(sum) ? sum : null;
}

/**
 * Waits while nothing is sent to any side. Deferred work happens now, and counts.
 * @param {TurnCpu[]} all of the sides' turns @param {number} seconds
 */
export function awaitQuiet(all, seconds) {
  // Deferred work begins at once: its CPU time counts from here.
  const before = all.map((cpu) => cpu.used());
  if (seconds > 0) sleep(closingSeconds(all[0]?.turn.plane.data.link));
  const quiet = all.map(({ turn }) =>
    seconds > 0 ? turn.instances.map(({ id }) => openSystemWindow(id)) : [],
  );
  sleep(seconds);
  // All windows close before any is read: they are of the same time.
  quiet.flat().forEach(closeWindow);
  for (const [index, cpu] of all.entries()) {
    const woken = wokenPerSecond(quiet[index]);
    // Without an end that has died the sum would be too small.
    const whole = !cpu.turn.hasEnded();
    noteFootprint(cpu.turn, whole ? holdings(cpu.windows) : null, whole ? woken : null);
    cpu.end(before[index]);
  }
}
