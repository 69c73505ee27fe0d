/** The judge, in Go: k6/internal/judge describes each field, and k6/modules/judge each function. */
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
    /** The load of each step, in words. */
    loads: string[];
  }
  /** A script's declaration before the run. */
  export interface Declared {
    operations: Operation[];
    /** Iterations of k6; undefined if time ends the run. */
    plan: { iterations: number | undefined; seconds: number };
    /** Only for a run that searches the limit. */
    steps: Steps | undefined;
  }
  /** Part of the result: k6/schemas/result.schema.json. */
  export interface Run {
    id: string;
    start: string;
    [field: string]: unknown;
  }
  /** CPUs of each program: lists such as 0-1; empty: not pinned. */
  export interface Placement {
    probe_cpus: string;
    echo_cpus: string;
    system_cpus: string;
  }
  export type CpuUsage = import('../types/sidecar.d.ts').CpuUsage;
  /** Disturbance of one CPU; cpu is null for all CPUs together. */
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
  /** A fixed number (null: unknown), or a sum of counters. */
  export type Amount = { said: number | null } | { counted: Term[] };
  /** Compares what the target holds with what the run counted. */
  export interface Fact {
    check: string;
    source: 'sql' | 'api' | 'dns' | 'far_end' | 'processes';
    found: Amount;
    reported: Amount;
    /** By how much the two may differ; default 0. */
    slack?: Term[];
    /** By how much less may be found; `slack` unless given. */
    fewer?: Term[];
    /** More than reported is allowed: other people may have added some. */
    may_grow?: boolean;
    /** Fewer than reported are allowed: other people may have removed some. */
    may_shrink?: boolean;
  }
  export interface Evidence extends Declared {
    run: Run;
    headline: { operation: string; figure: string | undefined } | undefined;
    load_s: number;
    counts: { iterations: number; dropped_iterations: number };
    silent_ms: number;
    placement: Placement | undefined;
    rest_before: import('../types/sidecar.d.ts').AtRest[] | null;
    leftovers: string;
    /** The command that removes leftovers; '': none. */
    remove_with: string;
    facts: Fact[] | undefined;
    /** The system must close all descriptors that the load makes it open. */
    closes_all: boolean | undefined;
    /** Holdings of the instances of the scenario's rows; empty for a scenario without instances. */
    held_by_rows: unknown[];
    notes: string[];
    /** The link between the ends of the pairs; null: loopback. */
    link?: { about: unknown; calibration: unknown; uses: unknown[] } | null;
    /** Rows of a protocol comparison, which decide the verdict if present. */
    protocols?: { compared: boolean; rows: unknown[] };
    interop?: { row: string; cells: unknown[] }[];
    /** Tables beyond the operations. */
    sections: Section[];
    runner?: Runner;
  }
  /** A figure of an operation that only the judge computes. `by`: divide by the same figure of another operation. */
  export interface FigureOf {
    operation: string;
    figure: 'rate_per_s' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'lost_share';
    by?: string;
  }
  type OfResult = import('../types/result.d.ts').Section;
  export type Cell = import('../types/result.d.ts').Cell | FigureOf;
  export type Column = OfResult['columns'][number];
  /** Part of the result: k6/schemas/result.schema.json describes each field. */
  export type Section = Omit<OfResult, 'rows'> & { rows: Cell[][] };
  /**
   * One of several k6 processes. Its load began `start_offset_ms` after the common start. `clock_offset_ms` converts its clock to
   * the coordinator's. `zero_unix_ms` is measureOffset(). `machine` is equal for runners on the same kernel. `teardown`: it ran
   * the run's teardown.
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
  /** In handleSummary: the record file (docs/explanation/judge.md). */
  export function recordOf(evidence: Evidence): ArrayBuffer;
  /** In handleSummary: the result file's text, and the terminal's text. */
  export function judge(evidence: Evidence): { result: string; text: string };
  /** Whether a number of samples suffices for a percentile; its share is 0 to 1. */
  export function carries(share: number, samples: number): boolean;
  /** Disturbances by other programs on a placement's CPUs, if they exceed the limit. */
  export function disturbances(byCpu: CpuUsage[], placement: Placement | undefined): Disturbance[];
  /** Indices of protocol rows that more turns would decide. Rows with the fewest needed turns come first. */
  export function undecided(rows: unknown[]): number[];
}
