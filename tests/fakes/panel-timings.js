/** The times that the fake panel reports: a Server-Timing header, and the same times as a histogram. */

/** @typedef {'create' | 'read' | 'disable' | 'enable' | 'delete' | 'list' | 'system' | 'core' | 'restart' | 'inbounds'} Operation */
/** @typedef {[name: string, ms: number][]} Durations the route's first; a name may repeat */

const ROUTES = /** @type {Record<Operation, string>} */ ({
  create: 'POST /api/user',
  read: 'GET /api/user/{username}',
  disable: 'PUT /api/user/{username}',
  enable: 'PUT /api/user/{username}',
  delete: 'DELETE /api/user/{username}',
  list: 'GET /api/users',
  system: 'GET /api/system',
  core: 'GET /api/core',
  restart: 'POST /api/core/restart',
  inbounds: 'GET /api/inbounds',
});

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Timings {
  /** @param {Partial<Record<Operation, Durations>> | ((operation: Operation, nth: number) => Durations) | undefined} told */
  constructor(told) {
    this.told = told;
    /** @type {Partial<Record<Operation, number>>} */
    this.counts = {};
    /** @type {Map<string, number[]>} seconds by label set */
    this.observed = new Map();
  }

  /**
   * The durations of the next answer to an operation. The histogram counts them from now on.
   * @param {Operation} operation
   * @returns {Durations}
   */
  next(operation) {
    const { told } = this;
    if (!told) return [];
    const nth = (this.counts[operation] ?? 0) + 1;
    const durations = typeof told === 'function' ? told(operation, nth) : (told[operation] ?? []);
    if (durations.length === 0) return durations;
    this.counts[operation] = nth;
    for (const [name, ms] of durations) {
      const labels = `component="${name}",route="${ROUTES[operation]}"`;
      const seconds = this.observed.get(labels) ?? [];
      seconds.push(ms / 1000);
      this.observed.set(labels, seconds);
    }
    return durations;
  }

  /** https://www.w3.org/TR/server-timing/ @param {Durations} durations */
  static header(durations) {
    return durations.map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`).join(', ');
  }

  /** The histogram in Prometheus's text format, with a metric of another program. */
  exposition() {
    const lines = [
      '# HELP python_info Python platform information',
      '# TYPE python_info gauge',
      'python_info{implementation="CPython",version="3.11.2"} 1.0',
      '# HELP panel_component_seconds Where the time of a route goes',
      '# TYPE panel_component_seconds histogram',
    ];
    for (const [labels, seconds] of this.observed) {
      for (const bound of [...BUCKETS, Infinity]) {
        const le = bound === Infinity ? '+Inf' : String(bound);
        const count = seconds.filter((value) => value <= bound).length;
        lines.push(`panel_component_seconds_bucket{${labels},le="${le}"} ${count}.0`);
      }
      lines.push(`panel_component_seconds_count{${labels}} ${seconds.length}.0`);
      lines.push(`panel_component_seconds_sum{${labels}} ${seconds.reduce((sum, value) => sum + value, 0)}`);
      lines.push(`panel_component_seconds_created{${labels}} 1.7e+09`);
    }
    return `${lines.join('\n')}\n`;
  }
}
