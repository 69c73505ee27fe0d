/** Limits of tests on a busy machine, which tests in Go and Rust read too (k6/internal/busy, sidecar/tests/common/busy.rs). */
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Limits
 * @property {number} busy_percent of all CPUs, over a whole test: as much as makes a measurement `disturbed`
 * @property {number} burst_percent of all CPUs, in burst_s: a burst may spoil one time of a long test
 * @property {number} burst_s
 * @property {number} sample_ms between two looks
 * @property {number} tries at most
 * @property {number} last_begins_s the last try begins at most so long after the first one
 * @property {number} usual_ms that a fixed computation takes on a machine of 2024 that does nothing else
 * @property {number} most_slowness limits a wait for something that is broken
 */

/** @type {Limits} */
export const LIMITS = JSON.parse(readFileSync(new URL('./busy.json', import.meta.url), 'utf8'));
