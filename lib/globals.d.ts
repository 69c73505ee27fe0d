/** What k6 has as globals beyond @types/k6. https://grafana.com/docs/k6/latest/javascript-api/ */
declare const console: Record<'log' | 'debug' | 'info' | 'warn' | 'error', (...values: unknown[]) => void>;

/** What our k6 has in it beyond k6: https://github.com/grafana/xk6-sql */
declare module 'k6/x/sql' {
  const sql: { open(driver: unknown, dsn: string): unknown };
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

/** The engine of comparisons, in Go: k6/modules/difference says what each field is. */
declare module 'k6/x/windtunnel/difference' {
  export type Outcome = 'within' | 'beyond' | 'unclear';
  export interface Pairs {
    /** A's value, and B's that was measured beside it; null: none. */
    pairs: [number | null, number | null][];
    /** Values are compared by their ratio, shares (0 to 1) by their difference. */
    scale: 'ratio' | 'share';
    better: 'higher' | 'lower';
  }
  export interface Metric extends Pairs {
    /** How many times A's value B has to reach, or may reach; 1 unless given. */
    target?: number;
    /** The share by which it may miss that. */
    bound: number;
    role: 'primary' | 'secondary' | 'shown';
  }
  /** By how much B differs from A: times A, of shares percentage points. */
  export interface Shown {
    estimate: number | null;
    low: number | null;
    high: number | null;
    /** Two-sided, of a difference at all. */
    p: number;
    pairs: number;
  }
  export interface Answer extends Shown {
    significant: boolean;
    outcome: Outcome;
    /** Of the interval, 0 to 1. */
    confidence: number;
    /** About how many pairs, their number fixed before, would decide it; null: it is decided, or none would. */
    to_decide: number | null;
  }
  export interface Told {
    outcome: Outcome;
    metrics: Answer[];
    looks: { pairs: number | null; confidence: number }[];
    /** Least number of pairs with which a primary metric can be beyond its bound; with fewer it is not within its bound either. */
    fewest_to_miss: number;
  }
  export interface Side extends Shown {
    better: 'a' | 'b' | null;
    /** About how many pairs would tell the sides apart; null: they are, or none would. */
    to_tell: number | null;
  }
  /** All metrics together, at each of the looks (numbers of pairs); at all pairs at once unless given. */
  export function judge(asked: { metrics: Metric[]; looks?: number[] }): Told;
  /** Which of two is the better one, of all comparisons together. One that lacks a value in a pair tells nothing: its pairs are 0. */
  export function tellApart(asked: { comparisons: Pairs[] }): {
    comparisons: Side[];
    fewest_pairs: number;
    confidence: number;
  };
  /** How often chance would make B fail so much more often than A, one-sided. */
  export function moreOften(a: number, b: number): number;
  /** The number of pairs of the next look after so many. */
  export function nextLook(pairs: number): number;
  /** For how long a comparison of a profile goes on until it knows, unless it is told. */
  export function mostMinutes(profile: string): number;
  /** In which order so many sides are measured in a round (from 1): by lot, from the name. */
  export function order(sides: number, round: number, name: string): number[];
}

/** What `k6 x validate` knows of environments, in Go: k6/modules/environment. */
declare module 'k6/x/windtunnel/environment' {
  /** What is wrong with the text of an environment file, a line each; none: it is valid. */
  export function problems(text: string): string[];
  /** The same of the thresholds that a system's scripts bring along. */
  export function thresholdProblems(text: string): string[];
  /** Whether a host, without its port, is this machine. */
  export function isLoopback(host: string): boolean;
  /** The settings that k6 takes from the shell, such as K6_ITERATIONS=5; '': none. */
  export function fromShell(): string;
  /** How a system is reached. k6's options may hold a key: they are no part of a result. */
  export interface Connection {
    /** Of requests; `from` is the environment's: they differ where the certificate has another name. */
    url: string;
    from: string;
    options: Record<string, unknown>;
    /** What decides whether two runs can be compared. */
    parameters: Record<string, string>;
    notes: string[];
    /** The addresses of the system's name; '': it is an address. */
    tried: string;
  }
  /** `asked`: url, tls and proxy of the environment and the file's folder, as JSON. `error`: '' where it can be told. */
  export function connection(asked: string): Connection & { error: string };
  /** Why TLS with a system of connection() fails, and what mends it; '': nothing is found. Asked after a request has failed. */
  export function tlsMend(url: string): string;
  /** What a secret ends in that it probably should not, and whether it cannot be meant; '': nothing. */
  export function endsBadly(secret: string): { what: string; never: boolean };
}

/** The registry of variables (k6/lists/variables.json), in Go: k6/modules/variables. */
declare module 'k6/x/windtunnel/variables' {
  /** The entry of a variable as JSON; '': the registry has none. */
  export function entry(name: string): string;
  /** A line on what is wrong with a value; '': nothing. `whole`: of a variable that the registry has not, whether it is a whole number. */
  export function wrong(name: string, value: string, whole: boolean): string;
  /** A line on a variable that `k6 run -e` was given and that was probably meant to be another; '': there is none. */
  export function misspelt(): string;
}

/** The protocol matrix, in Go: k6/modules/protocols. */
declare module 'k6/x/windtunnel/protocols' {
  /**
   * The matrix of a folder as JSON: `rows`, each with its `name`, its `protocol` and `row` (k6/schemas/protocol-row.schema.json),
   * in the order of tables; `protocols` and `engines` (protocol-engine.schema.json) by name. A malformed file is an exception
   * that names it.
   */
  export function matrix(folder: string): string;
}

/** What a script records with, in Go: k6/modules/record. Its metrics are those of k6/metrics; lib/operations.js names them. */
declare module 'k6/x/windtunnel/record' {
  /** Records one operation. Its methods are for setup, iterations and teardown. */
  export class Operation {
    /**
     * @param name of a row, [a-z_]+
     * @param kind bounded: time bounds the run, so that the end of a failure does not widen the window. uncounted: each
     *   iteration of a k6 scenario is one such operation that carries one item, and k6 counts them
     */
    constructor(name: string, kind?: { bounded?: boolean; uncounted?: boolean });
    /** Before a request is sent: one that never comes to a success or a failure was cut. */
    begin(): void;
    /** Start and end on the test's clock, the latency, ms, and the items that it carried. */
    success(startedAt: number, endedAt: number, ms: number, carried: number): void;
    /** `detail`: what came back in place of a success, such as HTTP 202; more than 20 of one kind are counted together. */
    failure(kind: string, startedAt: number, endedAt: number, detail?: string): void;
    /** Of a kind, so many that have failed; they widen no window. */
    failures(kind: string, count: number): void;
    /** Something wrong that is not a failed request. */
    anomaly(kind: string, count: number, detail?: string): void;
    /** How late the generator was, ms. */
    late(ms: number): void;
    /** A probe's latencies, ms, and when each ended, ms since 1970; all ended now unless given. */
    samples(ms: number[], ends?: number[]): void;
    /** What the far end of a probe counted (sidecar/README.md); null where it is none of the sidecar's. */
    farEnd(counts: Record<string, { least: number; most: number | null; found: number }> | null): void;
    /** How late a probe was, ms each. */
    lateness(ms: number[], ends?: number[]): void;
  }
  class Metric {
    constructor(name: string, isTime?: boolean);
    /** A sample that ended now. */
    add(value: number | boolean, tags?: Record<string, string>): void;
  }
  export class Counter extends Metric {}
  export class Gauge extends Metric {}
  export class Trend extends Metric {}
  /** Keeps any JSON value under a name until handleSummary; the last one stays. */
  export function say(name: string, value: unknown): void;
  /** What was said, by name. */
  export function said(): Record<string, any>;
  /**
   * In handleSummary: what was recorded, by names such as operation_ms{operation:publish}, of all samples that have these
   * tags; what was not recorded here is k6's own.
   */
  export function measured(own: Metrics): Metrics;
  /** Milliseconds since the test began, with fractions: one clock for all VUs. Not in the init context. */
  export function now(): number;
  /** The whole of a request as k6 timed it, ms; a new connection counts. */
  export function wholeMs(response: import('k6/http').RefinedResponse<any>): number;
  /** Whether a request opened a connection of its own. */
  export function opened(response: import('k6/http').RefinedResponse<any>): boolean;
  /** Whether no virtual user of this process has said the text before; false after 200 texts. */
  export function once(text: string): boolean;
  /** The target answered one of the virtual users. */
  export function answered(): void;
  /** Nobody answered a request: since when that is so for all virtual users, ms on the test's clock; -1: too few requests tell. */
  export function unanswered(startedAt: number): number;
  /** By name, such as operation_ms{operation:publish}: what k6's summary has of each. */
  export type Metrics = Record<string, { values: Record<string, number> }>;
}

/** The judge, in Go: k6/internal/judge says what each field is, and k6/modules/judge what each function does. */
declare module 'k6/x/windtunnel/judge' {
  export type Figure = 'mbit_per_s' | 'rate_per_s' | 'p50';
  export interface Operation {
    name: string;
    title: string;
    loop: 'closed' | 'open';
    latency_is: string;
    items?: string;
    control?: string;
    against_control?: boolean;
    saturates?: boolean;
    answers_itself?: boolean;
    optional?: boolean;
    uncounted?: boolean;
    primary?: Figure;
    least?: number;
    planned_s?: number;
    bounds: Partial<Record<string, number>>;
  }
  export interface Steps {
    seconds: number;
    /** Of each step, in words. */
    loads: string[];
  }
  /** What a script says of itself before it runs. */
  export interface Declared {
    operations: Operation[];
    /** Iterations of k6; undefined where time bounds the run. */
    plan: { iterations: number | undefined; seconds: number };
    /** Of a run that looks for the limit. */
    steps: Steps | undefined;
  }
  /** Of the result: k6/schemas/result.schema.json. */
  export interface Run {
    id: string;
    start: string;
    [field: string]: unknown;
  }
  /** Which CPUs did what: lists such as 0-1; empty where not pinned. */
  export interface Placement {
    probe_cpus: string;
    echo_cpus: string;
    system_cpus: string;
  }
  /** One CPU for a time: seconds that others than the run used, and that the hypervisor took. */
  export interface CpuUsage {
    cpu: number;
    span_s: number;
    busy_s: number;
    others_s: number;
    steal_s: number;
  }
  /** Of a part of a window, up to a moment. */
  export interface Sample {
    at_unix_ms: number;
    span_s: number;
    cpus: { cpu: number; others_s: number; steal_s: number }[];
  }
  /** Of a window, which a probe ran; dropped: it was thrown away, and measured again. */
  export interface Part {
    name: string;
    duration_s: number;
    by_cpu: CpuUsage[];
    dropped: boolean;
  }
  /** Of a CPU, null of all together. */
  export interface Disturbance {
    cpu: number | null;
    others_percent: number;
    steal_percent: number;
  }
  /** A counter of the record. */
  export interface Term {
    metric: string;
    tags: Record<string, string>;
    times: 1 | -1;
  }
  /** A number that was said (null: nobody could count), or the sum of counters. */
  export type Amount = { said: number | null } | { counted: Term[] };
  /** What the target holds, and what the run reported of it. */
  export interface Fact {
    check: string;
    source: 'sql' | 'api' | 'dns';
    found: Amount;
    reported: Amount;
    /** By how many the two may differ; 0 unless given. */
    slack?: Term[];
    /** More than was reported are somebody else's. */
    may_grow?: boolean;
    /** Fewer than were reported were removed by somebody else. */
    may_shrink?: boolean;
  }
  interface AtRest {
    name: string;
    cpu_percent: number;
    wakeups_per_s: number;
  }
  export interface Evidence extends Declared {
    run: Run;
    headline: { operation: string; figure: string | undefined } | undefined;
    load_s: number;
    counts: { iterations: number; dropped_iterations: number };
    silent_ms: number;
    usage: { duration_s: number } | null;
    cpus: Sample[];
    placement: Placement | undefined;
    rest_before: AtRest[] | null;
    rest_after: AtRest[] | null;
    leftovers: string;
    /** The command that removes them; '' where there is none. */
    remove_with: string;
    facts: Fact[] | undefined;
    notes: string[];
    /** What was between the ends of the pairs; null: loopback. */
    link?: { about: unknown; calibration: unknown; uses: unknown[] } | null;
    /** Rows of programs, which decide where there are any. */
    protocols?: { compared: boolean; rows: unknown[] };
    interop?: { row: string; cells: unknown[] }[];
    /** What the scenario shows beyond its operations. */
    sections: Section[];
    runner?: Runner;
  }
  /** A number with the least and the most, or the ends of an interval. */
  export interface Range {
    value: number | null;
    low: number | null;
    high: number | null;
    significant?: boolean;
  }
  /** What the judge alone knows of an operation, or how many times the same of another. */
  export interface FigureOf {
    operation: string;
    figure: 'rate_per_s' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'lost_share';
    by?: string;
  }
  export type Cell = number | string | boolean | null | Range | FigureOf;
  export interface Column {
    name: string;
    /** Without the unit. */
    title: string;
    unit: string;
    digits?: number;
    print?: 'value' | 'none';
    compare?: 'lower' | 'higher';
  }
  /** Of the result: k6/schemas/result.schema.json says what each field is for. */
  export interface Section {
    name: string;
    title: string;
    operation?: string;
    columns: Column[];
    rows: Cell[][];
    finding?: string;
    answer?: string;
    headline?: { value: string; of: string; detail?: string };
    notes?: string[];
    plot?: {
      kind: 'line' | 'bars' | 'curves' | 'course';
      x: string;
      y: string[];
      below?: { title: string; y: string[] };
      marks?: string;
    };
  }
  /**
   * One k6 process of several: `start_offset_ms` after the common start its load began, `clock_offset_ms` sets its clock forward
   * to the coordinator's, `zero_unix_ms` is measureOffset(), `machine` is the same for those that share a kernel, `teardown`:
   * it ran the run's teardown.
   */
  export interface Runner {
    number: number;
    of: number;
    segment: string;
    start_offset_ms: number;
    clock_offset_ms: number;
    zero_unix_ms: number;
    machine: string;
    cpu_s?: number | null;
    cpus?: number | null;
    teardown: boolean;
  }
  /** k6's options.thresholds. */
  export function thresholds(declared: Declared): Record<string, any[]>;
  /** In handleSummary: the text of the result's file, what the terminal shows, and the record's file (docs/explanation/judge.md). */
  export function judge(evidence: Evidence): { result: string; text: string; record: ArrayBuffer };
  /** Whether so many samples carry a percentile, whose share is 0 to 1. */
  export function carries(share: number, samples: number): boolean;
  /** Who else used the CPUs of a placement, where it was more than may be. */
  export function disturbances(byCpu: CpuUsage[], placement: Placement | undefined): Disturbance[];
  /** Places of the rows of protocols that more turns would decide, what takes the fewest first. */
  export function undecided(rows: unknown[]): number[];
}

/** One of several runners of a run, in Go: k6/modules/runner says what each function does, lib/runners.js when it is called. */
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
