/** Limits of tests on a busy machine, which tests in Go and Rust read too (k6/internal/testsupport/busy, sidecar/tests/common/busy.rs). */
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Limits
 * @property {number} busy_percent of all CPUs, over a whole test: the bound above which a measurement is `disturbed`.
 * @property {number} burst_percent of all CPUs, in burst_s: a burst may spoil one time of a long test.
 * @property {number} burst_s
 * @property {number} sample_ms between two samples.
 * @property {number} tries at most.
 * @property {number} last_begins_s most seconds between the start of the first try and the start of the last.
 * @property {number} usual_ms that a fixed computation takes on an idle machine of 2024.
 * @property {number} most_slowness limits a wait for a broken program.
 */

/** @type {Limits} */
export const LIMITS = JSON.parse(readFileSync(new URL('./busy.json', import.meta.url), 'utf8'));
