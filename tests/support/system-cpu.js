/** CPU time of the system over the load and the quiet period after it, in a result of `smoke`. */
import assert from 'node:assert/strict';

const QUIET_S = 1;
/** Tolerance in seconds: the result's times are rounded to microseconds. */
const ROUNDED_S = 1e-5;

/** @param {any} result */
export function assertSystemCpu({ run, cpu, processes }) {
  const about = `${run.system}/${run.scenario}: ${JSON.stringify(cpu)}`;
  assert.ok(cpu, about);
  const measured = processes
    .filter((/** @type {any} */ { role }) => role === 'system')
    .reduce((/** @type {number} */ sum, /** @type {any} */ { cpu_s: seconds }) => sum + seconds, 0);
  assert.equal(cpu.quiet_s, QUIET_S, about);
  assert.ok(cpu.window_s > cpu.quiet_s, about);
  assert.ok(cpu.system_s >= measured + cpu.quiet_system_s - ROUNDED_S, `${about}, ${measured} s of the load`);
}
