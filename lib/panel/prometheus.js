/**
 * Histograms of the panel's Prometheus endpoint, before and after the load.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import { carries } from 'k6/x/windtunnel/judge';
import http from 'k6/http';
import { said, say } from 'k6/x/windtunnel/record';
import { rounded } from './components.js';

/** Name of the note with the histograms. */
const PROMETHEUS_NOTE = 'prometheus';
const TIMEOUT_MS = 10_000;

/** @typedef {{ path: string, histogram: string, label: string }} Endpoint */
/** @typedef {{ buckets: [number, number][], sum: number, count: number }} Histogram buckets: finite upper bound in s, cumulative count */

const SAMPLE = /^([a-zA-Z_:][\w:]*)\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\}\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/**
 * The histograms of one metric by the value of one label, summed over all others.
 * @param {string} text in the exposition format, times in seconds
 * @param {string} name of the metric
 * @param {string} label
 * @returns {Record<string, Histogram>}
 */
export function parseHistograms(text, name, label) {
  /** @type {Record<string, { buckets: Map<number, number>, sum: number, count: number }>} */
  const found = {};
  for (const line of text.split('\n')) {
    const sample = line.startsWith(name) ? SAMPLE.exec(line) : null;
    if (!sample) continue;
    const labels = Object.fromEntries([...sample[2].matchAll(LABEL)].map(([, key, value]) => [key, value]));
    const of = labels[label];
    if (of === undefined) continue;
    found[of] ??= { buckets: new Map(), sum: 0, count: 0 };
    const value = Number(sample[3]);
    if (sample[1] === `${name}_sum`) found[of].sum += value;
    if (sample[1] === `${name}_count`) found[of].count += value;
    const bound = Number(labels.le);
    // The last bucket, +Inf, is equal to _count.
    if (sample[1] !== `${name}_bucket` || !Number.isFinite(bound)) continue;
    found[of].buckets.set(bound, (found[of].buckets.get(bound) ?? 0) + value);
  }
  return Object.fromEntries(
    Object.entries(found).map(([of, { buckets, ...rest }]) => [
      of,
      { ...rest, buckets: [...buckets].sort(([a], [b]) => a - b) },
    ]),
  );
}

/** @param {Histogram} now @param {Histogram | undefined} then @returns {Histogram} difference of the two */
export function between(now, then) {
  if (!then) return now;
  return {
    sum: now.sum - then.sum,
    count: now.count - then.count,
    buckets: now.buckets.map(([bound, count]) => [
      bound,
      count - (then.buckets.find(([other]) => other === bound)?.[1] ?? 0),
    ]),
  };
}

/**
 * A quantile, computed as Prometheus does: linear within a bucket, so it may be off by the bucket's width. Above the last
 * finite bound it is that bound.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile
 * @param {Histogram} histogram
 * @param {number} share 0 to 1
 */
export function quantile({ buckets, count }, share) {
  const rank = share * count;
  const index = buckets.findIndex(([, cumulative]) => cumulative >= rank);
  if (index < 0) return buckets.at(-1)?.[0] ?? NaN;
  const [upper, cumulative] = buckets[index];
  const [lower, below] = index > 0 ? buckets[index - 1] : [0, 0];
  return lower + ((upper - lower) * (rank - below)) / (cumulative - below);
}

/**
 * In setup() and teardown(): reads the endpoint.
 * @param {string} url of the panel
 * @param {Endpoint | null} endpoint
 * @returns {Record<string, Histogram> | null} null, with a warning in the log, if the endpoint cannot be read
 */
export function scrape(url, endpoint) {
  if (!endpoint) return null;
  const response = http.get(url + endpoint.path, { timeout: TIMEOUT_MS, responseType: 'text' });
  if (response.status === 200)
    return parseHistograms(String(response.body), endpoint.histogram, endpoint.label);
  console.warn(
    `panel: ${endpoint.path}: ${response.status || response.error}: its metrics are not in the result`,
  );
  return null;
}

/**
 * In teardown(): keeps the difference for handleSummary.
 * @param {Record<string, Histogram> | null} before
 * @param {Record<string, Histogram> | null} after
 * @param {string[]} components
 */
export function keepHistograms(before, after, components) {
  if (!before || !after) return;
  const found = components.flatMap((component) => {
    const histogram = after[component] && between(after[component], before[component]);
    if (!histogram || histogram.count <= 0) return [];
    const figures = {
      calls: histogram.count,
      avg_ms: (histogram.sum / histogram.count) * 1000,
      p95_ms: quantile(histogram, 0.95) * 1000,
      p99_ms: quantile(histogram, 0.99) * 1000,
    };
    return [[component, figures]];
  });
  say(PROMETHEUS_NOTE, Object.fromEntries(found));
}

/**
 * In handleSummary: rows of the profiler's table for the whole run.
 * @param {string[]} components the route first
 */
export function prometheusTable(components) {
  /** @type {Record<string, { calls: number, avg_ms: number, p95_ms: number, p99_ms: number }>} */
  const found = said()[PROMETHEUS_NOTE] ?? {};
  const total = (/** @type {string} */ component) =>
    (found[component]?.calls ?? 0) * (found[component]?.avg_ms ?? 0);
  const route = total(components[0]);
  return components
    .filter((component) => found[component])
    .map((component) => {
      const { calls, avg_ms: average, p95_ms: p95, p99_ms: p99 } = found[component];
      return {
        operation: '',
        source: /** @type {const} */ ('prometheus'),
        name: component,
        calls,
        avg_ms: rounded(average),
        p95_ms: carries(0.95, calls) ? rounded(p95) : null,
        p99_ms: carries(0.99, calls) ? rounded(p99) : null,
        share: route > 0 ? rounded(total(component) / route) : null,
        latency_share: null,
      };
    });
}
