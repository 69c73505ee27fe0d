// Each fixture script writes a valid result with a chosen verdict.
export function write(data, name, verdict, extra) {
  const result = {
    schema: 'windtunnel.result/2',
    run: {
      id: __ENV.RUN_ID, start: '2026-01-02T03:04:05Z', end: '2026-01-02T03:04:06Z', duration_s: 1,
      system: 'pulsar', scenario: name, title: `Fixture ${name}`, profile: __ENV.PROFILE,
      environment: __ENV.ENV, target: __ENV.PULSAR_URL || 'http://127.0.0.1:1', parameters: { messages: 1 },
      testbed: null, host: null, versions: {},
    },
    operations: [{
      name: 'op', title: 'Operation', loop: 'closed', latency_is: 'from here to there', requests: 1, success: 1,
      errors: {}, window_s: 1, rate_per_s: 1,
      latency_ms: { count: 1, avg: 1, min: 1, p50: 1, p90: null, p95: null, p99: null, p99_9: null, max: 1 },
    }],
    sections: [], processes: [], thresholds: [], validity: [], notes: [],
    verdict, reasons: verdict === 'pass' ? [] : [`fixture says ${verdict}`],
    ...extra,
  };
  return { [`${__ENV.RESULT_DIR}/pulsar-${name}.json`]: JSON.stringify(result) };
}
