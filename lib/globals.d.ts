/** Globals of k6 that @types/k6 lacks. https://grafana.com/docs/k6/latest/javascript-api/ */
declare const console: Record<'log' | 'debug' | 'info' | 'warn' | 'error', (...values: unknown[]) => void>;

/** Modules of this build of k6 that k6 lacks: https://github.com/grafana/xk6-sql */
declare module 'k6/x/sql' {
  const sql: { open(driver: unknown, dsn: string, options: { maxOpenConns: number }): unknown };
  export default sql;
}
declare module 'k6/x/sql/driver/mysql' {
  const driver: unknown;
  export default driver;
}
declare module 'k6/x/sql/driver/sqlite3' {
  const driver: unknown;
  export default driver;
}

/** The comparison engine, in Go: k6/modules/difference describes each field. */
declare module 'k6/x/windtunnel/difference' {
  export type Outcome = 'within' | 'beyond' | 'unclear';
  export interface Pairs {
    /** A's value, and B's value that was measured beside it; null: no value. */
    pairs: [number | null, number | null][];
    /** Values are compared by their ratio; shares (0 to 1) are compared by their difference. */
    scale: 'ratio' | 'share';
    better: 'higher' | 'lower';
  }
  export interface Metric extends Pairs {
    /** Target for B, as a multiple of A; default 1. */
    target?: number;
    /** Share by which B may miss the target. */
    bound: number;
    role: 'primary' | 'secondary' | 'shown';
  }
  /** Difference between B and A: a ratio to A, or percentage points for shares. */
  export interface Shown {
    estimate: number | null;
    low: number | null;
    high: number | null;
    /** Two-sided p-value for any difference. */
    p: number;
    pairs: number;
  }
  export interface Answer extends Shown {
    significant: boolean;
    outcome: Outcome;
    /** Confidence of the interval, 0 to 1. */
    confidence: number;
    /** Estimated number of pairs, fixed beforehand, for a decision; null: decided already, or no number would suffice. */
    to_decide: number | null;
  }
  export interface Told {
    outcome: Outcome;
    metrics: Answer[];
    looks: { pairs: number | null; confidence: number }[];
    /** Least number of pairs for a decision. With fewer, a primary metric is neither within nor beyond its bound. */
    fewest_to_miss: number;
  }
  export interface Side extends Shown {
    better: 'a' | 'b' | null;
    /** Estimated number of pairs that would show a difference; null: it is shown already, or no number would suffice. */
    to_tell: number | null;
  }
  /** Judges all metrics together, at each of the looks (numbers of pairs). Default: one look, at all pairs. */
  export function judge(asked: { metrics: Metric[]; looks?: number[] }): Told;
  /** Which of two sides is better, in one test over all comparisons. A comparison with a missing value gets no verdict and 0 pairs. */
  export function tellApart(asked: { comparisons: Pairs[] }): {
    comparisons: Side[];
    fewest_pairs: number;
    confidence: number;
  };
  /** One-sided p-value: the probability that B fails this much more often than A by chance. */
  export function moreOften(a: number, b: number): number;
  /** The number of pairs of the look that follows a look at `pairs`. */
  export function nextLook(pairs: number): number;
  /** Default time limit of a comparison in a profile, minutes. */
  export function mostMinutes(profile: string): number;
  /** A random order of sides for a round (from 1), with the name as seed. */
  export function order(sides: number, round: number, name: string): number[];
}

/** Checks of environment files as in `k6 x validate`, in Go: k6/modules/environment. */
declare module 'k6/x/windtunnel/environment' {
  /** Problems of an environment file's text, one line each; empty: it is valid. */
  export function problems(text: string): string[];
  /** Problems of a system's thresholds file, one line each. */
  export function thresholdProblems(text: string): string[];
  /** Problems of a panel's dialect file, one line each. */
  export function dialectProblems(text: string): string[];
  /** Whether a host, given without its port, is this machine. */
  export function isLoopback(host: string): boolean;
  /** Settings that k6 takes from the shell, such as K6_ITERATIONS=5; '': none. */
  export function fromShell(): string;
  /** How to reach a system. k6's options may hold a private key, so they never go into a result. */
  export interface Connection {
    /** `url` for requests; `from` is the environment's URL. They differ if the certificate has another name. */
    url: string;
    from: string;
    options: Record<string, unknown>;
    /** Two runs are comparable only if these are equal. */
    parameters: Record<string, string>;
    notes: string[];
    /** The addresses of the system's name; '': the URL has an address instead of a name. */
    tried: string;
    /** TLS of a SOCKS5 proxy as a probe takes it, as JSON; '': none. It may hold a key. */
    wrap: string;
  }
  /**
   * `asked`: JSON with url, tls and proxy of the environment, and the file's folder; `fresh`: a testbed made the certificate.
   * `error`: '' if it succeeded.
   */
  export function connection(asked: string): Connection & { error: string };
  /** After a failed request: why TLS to a system of connection() fails, and how to fix it; '': unknown. */
  export function tlsMend(url: string): string;
  /** Suspicious last characters of a secret, and whether they can never belong to it; '': none. */
  export function endsBadly(secret: string): { what: string; never: boolean };
}

/** The registry of variables (k6/lists/variables.json), in Go: k6/modules/variables. */
declare module 'k6/x/windtunnel/variables' {
  /** The entry of a variable as JSON; '': the registry lacks the variable. */
  export function entry(name: string): string;
  /** One line on an invalid value; '': it is valid. `whole`: whether a variable outside the registry is a whole number. */
  export function wrong(name: string, value: string, whole: boolean): string;
  /** One line on a variable of `k6 run -e` that is probably misspelt; '': none. */
  export function misspelt(): string;
}

/** A WebSocket client that stops reading, in Go: k6/modules/silent. */
declare module 'k6/x/windtunnel/silent' {
  /**
   * Connects to `url` within `ms`, sends the text `frame`, reads one frame (`answer`) and nothing after it. Blocks the VU until
   * then. Throws an exception that does not name the URL.
   */
  export function join(
    url: string,
    protocols: string[],
    frame: string,
    ms: number,
  ): { answer: string; close(): void };
}

/** Where both sides of a comparison meet if they run at once: k6/modules/barrier. */
declare module 'k6/x/windtunnel/barrier' {
  /** Whether the other side runs at the same time. */
  export const given: boolean;
  /** Waits until the other side's run is at this point, too. False: it has ended. Throws if the comparison has ended. */
  export function meet(point: string): boolean;
}

/** The protocol matrix, in Go: k6/modules/protocols. */
declare module 'k6/x/windtunnel/protocols' {
  /**
   * The matrix of a folder as JSON: `rows`, each with its `name`, `protocol` and `row` (k6/schemas/protocol-row.schema.json), in
   * the order of tables; `protocols` and `engines` (protocol-engine.schema.json) by name. A malformed file throws an
   * exception that names it.
   */
  export function matrix(folder: string): string;
  /** The `sides` (lib/protocols/sides.js) of the given variables as JSON, or an `error` of one line. `root` is the checkout. */
  export function sides(root: string, variables: Record<string, string>): { sides?: string; error?: string };
}

/** Records measurements, in Go: k6/modules/record. Metrics are like those of k6/metrics; lib/operations.js lists them. */
declare module 'k6/x/windtunnel/record' {
  /** Records one operation. Its methods work in setup, iterations and teardown. */
  export class Operation {
    /**
     * @param name of a row, [a-z_]+
     * @param kind bounded: time ends the run, so the end of a failure does not widen the window. uncounted: each iteration of
     *   a k6 scenario is one such operation with one item, and k6 counts them
     */
    constructor(name: string, kind?: { bounded?: boolean; uncounted?: boolean });
    /** Call it before a request is sent. A request without success or failure was cut off. */
    begin(): void;
    /** Start and end on the test's clock, the latency in ms, and the number of items. */
    success(startedAt: number, endedAt: number, ms: number, carried: number): void;
    /** `detail`: the answer in place of a success, such as HTTP 202. Beyond 20 different details of a kind, the rest are counted together. */
    failure(kind: string, startedAt: number, endedAt: number, detail?: string): void;
    /** Adds a number of failures of a kind. They do not widen the window. */
    failures(kind: string, count: number): void;
    /** A problem that is not a failed request. */
    anomaly(kind: string, count: number, detail?: string): void;
    /** Lateness of the generator, ms. */
    late(ms: number): void;
    /** Latencies of a probe, from one of its series. A missing series adds nothing. */
    samples(measured: Samples, series: string): void;
    /** Counts of a probe's far end (sidecar/README.md); null if the far end is not the sidecar's. */
    farEnd(counts: Record<string, { least: number; most: number | null; found: number }> | null): void;
    /** Lateness of each operation of a probe: its series `lateness`, if there is one. */
    lateness(measured: Samples): void;
  }
  class Metric {
    constructor(name: string, isTime?: boolean);
    /** Adds a sample that ended now. */
    add(value: number | boolean, tags?: Record<string, string>): void;
  }
  export class Counter extends Metric {}
  export class Gauge extends Metric {}
  export class Trend extends Metric {}
  /**
   * Samples of a probe by series: ns, and when each operation ended, ms since 1970; default: now. The samples of probes() stay in Go. A
   * script that reads a series gets a copy.
   */
  export interface Samples {
    values: Record<string, number[]>;
    ends: Record<string, number[]>;
  }
  /** status 0: no answer came. `error`: one line on anything but a success; null: a success. */
  export interface Answer {
    status: number;
    answer: any;
    error: string | null;
  }
  /** Sends a request to the sidecar of SIDECAR_URL and SIDECAR_TOKEN, with a time limit in ms. */
  export function request(method: string, path: string, body: unknown, limitMs: number): Answer;
  /** Sends several requests at once. */
  export function requestAll(
    method: string,
    all: { path: string; body?: unknown }[],
    limitMs: number,
  ): Answer[];
  /** Runs probes at the same time to their ends (sidecar/README.md). A failure of the sidecar ends the run. `outcome`: null if nothing was measured. */
  export function probes(specs: object[]): (Samples & {
    state: string;
    outcome: import('../types/sidecar.d.ts').Outcome | null;
    planned: number;
    error: { kind: string; message: string } | null;
  })[];
  /**
   * The value, ms, below which a share of a series' samples in all measurements lie. Default: the median. null: there are no samples.
   */
  export function quantile(
    all: (Samples | null | undefined)[],
    series: string,
    share?: number,
  ): number | null;
  /**
   * In handleSummary: adds to the evidence what the sidecar measured of the machine. Returns the usage in a closed window, or null.
   * `cpus`: whether the use of each CPU over time counts. `idle`: an instance to sample for `rest_s` unless the window's quiet period did.
   */
  export function watch(what: { window: string; cpus: boolean; idle: string; rest_s: number }): any;
  /** Traffic of consecutive links with one user. Counts: sidecar/README.md; null: unknown. */
  export interface LinkUse {
    name: string;
    links: number;
    real_time: boolean;
    failed: string | null;
    up: Record<string, number | null>;
    down: Record<string, number | null>;
  }
  /** Adds the traffic of an instance's link to the row's. Call it before the instance is stopped. */
  export function keepLink(row: string, instance: string): void;
  /** In handleSummary: the kept traffic. Without it, the traffic of the run's own instance; '' names no instance. */
  export function linkUses(instance: string): LinkUse[];
  /**
   * hold() holds the records of this virtual user back until release() makes them or drop() discards them. A failure that a busy
   * machine cannot cause, and counts of a far end, are evidence against the system: such a failure releases all, such counts never wait.
   */
  export function hold(): void;
  export function release(): void;
  export function drop(): void;
  export function isHeld(): boolean;
  /** Keeps any JSON value under a name until handleSummary. A later value replaces an earlier one. */
  export function say(name: string, value: unknown): void;
  /** All values of say(), by name. */
  export function said(): Record<string, any>;
  /**
   * In handleSummary: the recorded metrics, by names such as operation_ms{operation:publish}, over all samples with these tags.
   * Metrics that were not recorded here are k6's own.
   */
  export function measured(own: Metrics): Metrics;
  /** Milliseconds since the test began, with fractions: one clock for all VUs. Not available in the init context. */
  export function now(): number;
  /**
   * Sends one request. `startedAt` and `endedAt` are now() before and after, `ms` is wholeMs(), `fresh` is opened(). One call in place of
   * five: each call from a script to Go costs about 1 µs.
   */
  export function exchange<Response extends import('k6/http').RefinedResponse<any>>(
    send: () => Response,
  ): { response: Response; status: number; startedAt: number; endedAt: number; ms: number; fresh: boolean };
  /** Total time of a request as k6 measured it, ms, including a new connection. */
  export function wholeMs(response: import('k6/http').RefinedResponse<any>): number;
  /** Whether a request opened a new connection. */
  export function opened(response: import('k6/http').RefinedResponse<any>): boolean;
  /**
   * Keeps a text under a name for all virtual users of this process, and in no file. Each virtual user parses what setup() returned at its
   * first iteration, in measured time; it reads a shared text when it needs it.
   */
  export function share(name: string, text: string): void;
  /** The text of share(); null: there is none. */
  export function shared(name: string): string | null;
  /** Whether the text is new to all virtual users of this process; false after 200 texts. */
  export function once(text: string): boolean;
  /** Notes that the target answered a virtual user. */
  export function answered(): void;
  /** Notes a request without an answer. Returns when the silence began for all virtual users, ms on the test's clock; -1: too few requests yet. */
  export function unanswered(startedAt: number): number;
  /** k6's summary of each metric, by names such as operation_ms{operation:publish}. */
  export type Metrics = Record<string, { values: Record<string, number> }>;
}

/** One of several runners of a run, in Go: k6/modules/runner describes each function, lib/runners.js calls them. */
declare module 'k6/x/windtunnel/runner' {
  export function many(): boolean;
  export function setsUp(definition: string): boolean;
  export function made<T>(data: T): T;
  export function data(): any;
  export function start(): void;
  export function stopAll(why: string): void;
  export function tearsDown(early: string): boolean;
  export function tornDown(failed: string): void;
  export function deliver(evidence: import('k6/x/windtunnel/judge').Evidence, zeroUnixMs: number): void;
  export function draft(
    evidence: import('k6/x/windtunnel/judge').Evidence,
    zeroUnixMs: number,
    own: object,
  ): import('k6/x/windtunnel/record').Metrics | null;
  export function leave(why: string): void;
  /** In handleSummary: ends this k6 at once. */
  export function undelivered(why: string): void;
}
