/** k6/x/windtunnel/record as far as lib/ uses it: it keeps every sample and every message. */
import { isOfBusyMachine } from '../../lib/errors.js';
import execution from './k6-execution.js';

/** @type {{ metric: string, value: number | boolean, tags: Record<string, string> | undefined }[]} */
export const samples = [];
/** @type {Record<string, unknown>} */
const told = {};

class Metric {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {number | boolean} value @param {Record<string, string>} [tags] */
  add(value, tags) {
    samples.push({ metric: this.name, value, tags });
  }
}

export class Counter extends Metric {}
export class Gauge extends Metric {}
export class Trend extends Metric {}

const latency = new Trend('operation_ms');
const failed = new Metric('operation_failed');
const errors = new Counter('operation_errors');
const items = new Counter('operation_items');
const details = new Counter('operation_error_details');
const lateness = new Trend('operation_lateness_ms');

export class Operation {
  /** @param {string} name */
  constructor(name) {
    this.tags = { operation: name };
  }

  begin() {}

  /** @param {number} _start @param {number} _end @param {number} ms @param {number} carried */
  success(_start, _end, ms, carried) {
    answered();
    latency.add(ms, this.tags);
    failed.add(false, this.tags);
    items.add(carried, this.tags);
  }

  /** @param {string} kind @param {number} [_start] @param {number} [_end] @param {string} [detail] */
  failure(kind, _start, _end, detail) {
    this.failures(kind, 1);
    if (detail) details.add(1, { ...this.tags, kind, detail });
  }

  /** @param {string} kind @param {number} count */
  failures(kind, count) {
    if (!isOfBusyMachine(kind)) release();
    errors.add(count, { ...this.tags, kind });
    for (let index = 0; index < count; index += 1) failed.add(true, this.tags);
  }

  /** @param {string} kind @param {number} count @param {string} [detail] */
  anomaly(kind, count, detail) {
    errors.add(count, { ...this.tags, kind });
    if (detail) details.add(count, { ...this.tags, kind, detail });
  }

  /** @param {number} ms */
  late(ms) {
    lateness.add(ms, this.tags);
  }

  /** A probe was late for its requests. */
  lateness() {}

  /** @param {{ values: Record<string, number[]> }} measured @param {string} series */
  samples({ values }, series) {
    for (const ns of values[series]) latency.add(ns / 1e6, this.tags);
    values[series].forEach(() => failed.add(false, this.tags));
    items.add(values[series].length, this.tags);
  }
}

/** Number of samples before the held ones; null: nothing is held. @type {number | null} */
let before = null;
export const hold = () => void (before = samples.length);
export const isHeld = () => before !== null;
export const release = () => void (before = null);
export function drop() {
  samples.length = before ?? samples.length;
  release();
}

const none = () => {
  throw new Error('no unit test has a sidecar');
};
/** Answers requests to the sidecar, and ends probes; a test may replace both. @type {{ send: (method: string, path: string, body: any, limitMs: number) => any, end: (specs: any[]) => any[] }} */
export const sidecar = { send: none, end: none };
/** @param {any[]} specs */
export const probes = (specs) => sidecar.end(specs);
/** @param {string} method @param {string} path @param {unknown} body @param {number} limitMs */
export const request = (method, path, body, limitMs) => sidecar.send(method, path, body, limitMs);
/** @param {string} method @param {{ path: string, body?: unknown }[]} all @param {number} limitMs */
export const requestAll = (method, all, limitMs) =>
  all.map(({ path, body }) => request(method, path, body, limitMs));
export const [watch, keepLink] = [none, none];
/** @param {({ values: Record<string, number[]> } | null)[]} all @param {string} series */
export const quantile = (all, series) => (all.some((one) => one?.values[series].length) ? none() : null);
export const linkUses = () => [];

/** k6's own clock, which a test may set. */
export const now = () => execution.instance.currentTestRunDuration;

/** @param {{ timings: { duration: number } }} response on an existing connection */
export const wholeMs = ({ timings }) => timings.duration;

/** @param {{ timings?: { connecting?: number } }} response */
export const opened = ({ timings }) => (timings?.connecting ?? 0) > 0;

/** @param {() => any} send */
export function exchange(send) {
  const startedAt = now();
  const response = send();
  const { status, timings } = response;
  const [endedAt, ms] = [now(), timings?.duration];
  return { response, status, startedAt, endedAt, ms, fresh: opened(response) };
}

/** @type {Set<string>} */
const texts = new Set();
/** @param {string} text */
export const once = (text) => !texts.has(text) && Boolean(texts.add(text));

/** Requests in a row without an answer, as in k6/modules/record/shared.go. */
const silence = { row: 0, since: 0 };
export const answered = () => void (silence.row = 0);
/** @param {number} startedAt */
export function unanswered(startedAt) {
  if (silence.row === 0 || startedAt < silence.since) silence.since = startedAt;
  silence.row += 1;
  return silence.row < 3 ? -1 : silence.since;
}

/** @param {string} name @param {unknown} value */
export function say(name, value) {
  told[name] = JSON.parse(JSON.stringify(value));
}

export const said = () => told;

/** @type {Map<string, string>} */
const shares = new Map();
/** @param {string} name @param {string} text */
export const share = (name, text) => void shares.set(name, text);
/** @param {string} name */
export const shared = (name) => shares.get(name) ?? null;

/** @param {Record<string, { values: Record<string, number> }>} own */
export const measured = (own) => own;
