/** Which rows of the matrix a link can be between, and the bounds that scripts/link/thresholds.json has for them. */
import { isOfLatency } from '../bounds.js';
import { currentProfile } from '../profiles.js';
import { loadPlane } from '../dataplane/environment.js';
import { MATRIX, hasHop } from '../protocols/matrix.js';
import { comesInBySocks } from '../protocols/instances.js';
import { operationOf } from '../protocols/row-operation.js';

/** The preset that most people ask about: links/far.toml. */
const DEFAULT_LINK = 'far';
/** The same with a shorter way and a slower line, where all is to work and a round trip is only waited for. */
const SMOKE_LINK = `${DEFAULT_LINK},rtt:30ms,rate:20mbit`;

/** Where LINK does not say another. */
export const defaultLink = () => (currentProfile() === 'smoke' ? SMOKE_LINK : DEFAULT_LINK);

/** It has a client and a server, and traffic comes in by SOCKS: docs/how-to/bad-network.md. @param {import('../protocols/matrix.js').Row} row */
export const overLink = (row) => hasHop(row) && comesInBySocks(row);

/**
 * The environment, with the bounds of those rows only that are measured: which ones, PROTOCOL says.
 * @param {string} scenario
 * @param {Record<string, unknown>} operations
 */
export function linkThresholds(scenario, operations) {
  const environment = loadPlane('link');
  const { [scenario]: own = {}, ...others } = environment.thresholds;
  const known = MATRIX.flatMap(({ row }) => [operationOf(row), operationOf(row, { name: 'candidate' })]);
  const asked = Object.entries(own).filter(([name]) => name in operations || !known.includes(name));
  return { ...environment, thresholds: { ...others, [scenario]: Object.fromEntries(asked) } };
}

/**
 * What a changed or a full link makes late is no error of a row; it has no latency either. So who bounds an operation's latency bounds
 * what had none, too, and asks that there is one.
 * @template {import('../scenario.js').Operations} One
 * @param {Record<string, One>} operations
 * @param {ReturnType<typeof linkThresholds>} environment
 * @param {string} scenario
 * @returns {Record<string, One>}
 */
export function boundWhole(operations, { thresholds }, scenario) {
  const all = thresholds[scenario] ?? {};
  const whole = (/** @type {string} */ name, /** @type {One} */ operation) => {
    const own = Object.keys(all[name] ?? {});
    if (!own.some(isOfLatency)) return operation;
    const errors = own.includes('failed') ? undefined : 0;
    return { ...operation, optional: false, bounds: { ...operation.bounds, errors } };
  };
  return Object.fromEntries(Object.entries(operations).map(([name, one]) => [name, whole(name, one)]));
}

/**
 * Variables of the testbed that tell a protocol how fast it may send: the rate of the line, as its users are to tell it.
 * @param {import('../protocols/matrix.js').Row} row
 * @param {Pick<import('./link.js').Calibrated, 'about'> | null} link of the run's data
 * @returns {Record<string, number>} none where it finds out by itself, or where the line has no rate
 */
export function toldRate({ told }, link) {
  const { up, down } = link?.about.settings ?? {};
  const bits = Math.min(up?.rate_bit_s ?? Infinity, down?.rate_bit_s ?? Infinity);
  return told && Number.isFinite(bits) ? { [told]: Math.max(1, Math.round(bits / 1e6)) } : {};
}
