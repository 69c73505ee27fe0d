/**
 * Metrics of ways over a link.
 *
 * | metric                 | type  | unit  | what                                                                                |
 * |------------------------|-------|-------|-------------------------------------------------------------------------------------|
 * | operation_round_trips  | trend | count | round trips of the link until a new tunnel's first bytes, computed from two delays, with fractions |
 * | link_goodput_mbit_per_s | trend | Mbit/s | payload rate of one saturated tunnel; tag `direction`                            |
 */
import { Trend } from 'k6/x/windtunnel/record';

const trips = new Trend('operation_round_trips');
const goodput = new Trend('link_goodput_mbit_per_s');

/** @param {string} operation @param {number | null | undefined} slope */
export function recordRoundTrips(operation, slope) {
  if (typeof slope === 'number') trips.add(slope, { operation });
}

/** @param {string} operation @param {'up' | 'down'} direction @param {number | null} mbit */
export function recordGoodput(operation, direction, mbit) {
  if (mbit !== null) goodput.add(mbit, { operation, direction });
}
