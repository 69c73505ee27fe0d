/** Compares the points that a run streamed to an InfluxDB with its results. */
import assert from 'node:assert/strict';

/** @typedef {ReturnType<typeof import('./influx.js').influx>} Influx */

/** @param {Influx} db @param {string} where */
export async function seriesOf(db, where) {
  const [{ values }] = await db.ask(`SHOW SERIES WHERE ${where}`);
  return /** @type {string[]} */ (values.flat());
}

/**
 * Sums over the run equal the figures of the result, to the last request.
 * @param {Influx} db
 * @param {string} testid
 * @param {any} result
 */
export async function assertSums(db, testid, result) {
  const { system, scenario } = result.run;
  for (const { name, requests, success, latency_ms: latency, items } of result.operations) {
    const where = `testid='${testid}' AND system='${system}' AND scenario='${scenario}' AND operation='${name}'`;
    // If an iteration is one request, k6's own count stands for items.
    const streamed = (await db.sum('count', 'operation_items', where)) || success;
    assert.deepEqual(
      {
        requests: await db.sum('count', 'operation_failed', where),
        failed: await db.sum('hits', 'operation_failed', where),
        latencies: await db.sum('count', 'operation_ms', where),
        inBuckets: await db.sum('count', 'operation_ms_bucket', where),
        items: streamed,
      },
      {
        requests,
        failed: requests - success,
        latencies: latency?.count ?? 0,
        inBuckets: latency?.count ?? 0,
        items: items?.count ?? success,
      },
      `${system}/${scenario}: ${name}`,
    );
  }
}
