/** Which rows of the matrix can use a link, and their bounds in scripts/link/thresholds.json. */
import { isOfLatency } from '../bounds.js';
import { currentProfile } from '../profiles.js';
import { loadPlane } from '../dataplane/environment.js';
import { MATRIX, hasHop } from '../protocols/matrix.js';
import { comesInBySocks } from '../protocols/instances.js';
import { operationOf } from '../protocols/row-operation.js';

/** The most common case: links/far.toml. */
const DEFAULT_LINK = 'far';
/** For smoke runs, with less delay and a lower rate: such a run only waits for round trips. */
const SMOKE_LINK = `${DEFAULT_LINK},rtt:30ms,rate:20mbit`;

/** The default of LINK. */
export const defaultLink = () => (currentProfile() === 'smoke' ? SMOKE_LINK : DEFAULT_LINK);

/** Whether a row has a client and a server, and takes traffic by SOCKS: docs/how-to/bad-network.md. @param {import('../protocols/matrix.js').Row} row */
export const overLink = (row) => hasHop(row) && comesInBySocks(row);

/**
 * The environment with the bounds of the rows that PROTOCOL selects.
 * @param {string} scenario
 * @param {Record<string, unknown>} operations
 */
export function linkThresholds(scenario, operations) {
  const environment = loadPlane('link');
  const { [scenario]: bounds = {}, ...others } = environment.thresholds;
  const known = MATRIX.flatMap(({ row }) => [operationOf(row), operationOf(row, { name: 'candidate' })]);
  const asked = Object.entries(bounds).filter(([name]) => name in operations || !known.includes(name));
  return { ...environment, thresholds: { ...others, [scenario]: Object.fromEntries(asked) } };
}

/**
 * Latency bounds imply a bound on errors. A changed or full link may delay requests without an error of the row, and a failed
 * request has no latency. So an operation with a latency bound must have latencies and no errors, unless `failed` is bounded.
 * @template {import('../scenario.js').Operations} One
 * @param {Record<string, One>} operations
 * @param {ReturnType<typeof linkThresholds>} environment
 * @param {string} scenario
 * @returns {Record<string, One>}
 */
export function boundWhole(operations, { thresholds }, scenario) {
  const all = thresholds[scenario] ?? {};
  const whole = (/** @type {string} */ name, /** @type {One} */ operation) => {
    const bounded = Object.keys(all[name] ?? {});
    if (!bounded.some(isOfLatency)) return operation;
    const errors = bounded.includes('failed') ? undefined : 0;
    return { ...operation, optional: false, bounds: { ...operation.bounds, errors } };
  };
  return Object.fromEntries(Object.entries(operations).map(([name, one]) => [name, whole(name, one)]));
}

/**
 * Variables of the testbed that set a protocol's sending rate to the rate of the line, as its users should do.
 * @param {import('../protocols/matrix.js').Row} row
 * @param {Pick<import('../link.js').Calibrated, 'about'> | null} link of the run's data
 * @returns {Record<string, number>} empty if the protocol measures the rate, or if the line has no rate
 */
export function toldRate({ told }, link) {
  const { up, down } = link?.about.settings ?? {};
  const bits = Math.min(up?.rate_bit_s ?? Infinity, down?.rate_bit_s ?? Infinity);
  return told && Number.isFinite(bits) ? { [told]: Math.max(1, Math.round(bits / 1e6)) } : {};
}
