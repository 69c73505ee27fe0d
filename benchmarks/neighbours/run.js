/**
 * How does another program on the CPU of a measurement affect it, and from which share on is the program detected?
 *
 * `make benchmark-neighbours` runs it. The load is that of `dataplane/socks-tcp` in quick: four rounds of 500 round trips
 * through sing-box, each beside 500 direct, all on the last CPU. It runs ROUNDS times, in random order, alone and beside a
 * neighbour. The neighbour takes 5, 10, 20 and 50 % of that CPU in a burst per PERIOD_MS. The benchmark prints P50, P99 and rate relative to those alone in the same turn, and the CPU use of
 * others that the sidecar saw. It also prints how often that use was above 5, 10, 15 and 20 %, and how often a scenario of four
 * rounds, and a single round, counts as disturbed (k6/internal/judge).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { disturbances } from 'k6/x/windtunnel/judge';
import { startSidecar } from '../../tests/support/sidecar.js';
import { ROOT, whole } from '../asked.js';

const CPU = availableParallelism() - 1;
const TAKEN = [0, 5, 10, 20, 50];
const BOUNDS = [5, 10, 15, 20];
const PARTS = 4;

const rounds = whole('ROUNDS', 40, { most: 1000 });
const count = whole('COUNT', 500, { most: 1000 });
const period = whole('PERIOD_MS', 100, { most: 1000 });

const logs = mkdtempSync(join(tmpdir(), 'windtunnel-'));
const sidecar = await startSidecar(logs);

/** @param {string} method @param {string} path @param {object} [body] */
async function ask(method, path, body) {
  const { status, body: answer } = await sidecar.ask(method, path, body);
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${answer.error}`);
  return answer;
}

/** @param {number} percent */
async function comes(percent) {
  if (percent === 0) return { leaves: async () => {} };
  const args = [join(import.meta.dirname, 'neighbour.py'), String(CPU), String(percent), String(period)];
  const child = spawn('python3', args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    async leaves() {
      child.stdin.end();
      await once(child, 'close');
    },
  };
}

/** @param {object} spec @returns {Promise<{ duration_s: number, values: number[] }>} round trips, ns */
async function probe(spec) {
  const { id } = await ask('POST', '/probes', {
    kind: 'tcp',
    warmup: 50,
    cpus: [CPU],
    count,
    keep: count,
    ...spec,
  });
  const { outcome } = await ask('GET', `/probes/${id}?wait_s=20`);
  if (outcome?.succeeded !== count) throw new Error(`a probe ended early: ${JSON.stringify(outcome)}`);
  const { values } = await ask('GET', `/probes/${id}/series/round_trip`);
  await ask('DELETE', `/probes/${id}`);
  return { duration_s: outcome.duration_s, values };
}

/** @typedef {import('k6/x/windtunnel/judge').CpuUsage} Time */
/** @typedef {{ p50: number, p99: number, rate: number, parts: Time[] }} Measured */

/** @param {string} instance @param {string} proxy @param {string} echo @returns {Promise<Measured>} */
async function measure(instance, proxy, echo) {
  const { id } = await ask('POST', '/windows', { instance, paused: true, sidecar: true, by_cpu: true });
  const parts = [];
  let seconds = 0;
  /** @type {number[]} */
  const times = [];
  for (let part = 0; part < PARTS; part += 1) {
    await ask('POST', `/windows/${id}/part`, { name: `round ${part + 1}` });
    const target = { target: echo, payload_bytes: 1024 };
    await probe({ ...target, watched_by: id });
    const through = await probe({ ...target, proxy: { address: proxy }, instance, usage_window: id });
    seconds += through.duration_s;
    times.push(...through.values);
    const { by_cpu: cpus } = await ask('GET', `/windows/${id}/part`);
    parts.push(cpus.find((/** @type {any} */ { cpu }) => cpu === CPU));
  }
  await ask('POST', `/windows/${id}/close`, {});
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => times[Math.ceil(times.length * share) - 1] / 1e6;
  return { p50: at(0.5), p99: at(0.99), rate: times.length / seconds, parts };
}

/** @template T @param {T[]} items */
function shuffled(items) {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]);
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Median, and the range of the middle 80 %. @param {number[]} values */
const spread = (values) =>
  `${quantile(values, 0.5).toFixed(2)} (${quantile(values, 0.1).toFixed(2)}–${quantile(values, 0.9).toFixed(2)})`;

/** @param {Time[]} times @returns {Time} */
function together(times) {
  const sum = (/** @type {(time: Time) => number} */ of) => times.reduce((all, time) => all + of(time), 0);
  return {
    cpu: CPU,
    span_s: sum(({ span_s: span }) => span),
    busy_s: sum(({ busy_s: busy }) => busy),
    others_s: sum(({ others_s: others }) => others),
    steal_s: sum(({ steal_s: steal }) => steal),
  };
}

/** @param {Time} time */
const percentOf = ({ span_s: span, others_s: others, steal_s: steal }) => (100 * (others + steal)) / span;

const PLACEMENT = { probe_cpus: String(CPU), echo_cpus: String(CPU), system_cpus: String(CPU) };

/** @param {number} some @param {unknown[]} all */
const often = (some, all) => `${((100 * some) / all.length).toFixed(0)} %`;

/** Share of measurements that count as disturbed. Each has one value, of the placement's CPU. @param {Time[]} times */
const disturbed = (times) => often(disturbances(times, PLACEMENT).length, times);

/** @type {Record<number, Measured[]>} */
const all = Object.fromEntries(TAKEN.map((percent) => [percent, []]));
try {
  const instance = await sidecar.start('sing-box', { cpus: String(CPU) });
  const proxy = instance.outputs.DATAPLANE_URL.replace('socks5://', '');
  const echo = await ask('POST', '/echoes', { cpus: [CPU] });
  for (let round = 0; round < rounds; round += 1) {
    for (const percent of shuffled(TAKEN)) {
      const neighbour = await comes(percent);
      all[percent].push(await measure(instance.id, proxy, echo.tcp));
      await neighbour.leaves();
    }
  }
} finally {
  await sidecar.stop();
  rmSync(logs, { recursive: true, force: true });
}

console.log(
  `${rounds} turns of ${PARTS} rounds of ${count} round trips, CPU ${CPU}, a burst each ${period} ms`,
);
console.log(
  `\n| neighbour | P50 | P99 | rate | seen of others, % | ${BOUNDS.map((bound) => `over ${bound} %`).join(' | ')} | disturbed | a round is |`,
);
console.log(`|---|---:|---:|---:|---:|${BOUNDS.map(() => '---:|').join('')}---:|---:|`);
for (const percent of TAKEN) {
  const beside = all[percent];
  const ratio = (/** @type {'p50' | 'p99' | 'rate'} */ of) =>
    spread(beside.map((one, index) => one[of] / all[0][index][of]));
  const scenarios = beside.map(({ parts }) => together(parts));
  const seen = scenarios.map(percentOf);
  const figures =
    percent === 0
      ? ['p50', 'p99', 'rate'].map((of) =>
          spread(beside.map((one) => one[/** @type {'p50'} */ (of)] / (of === 'rate' ? 1000 : 1))),
        )
      : [ratio('p50'), ratio('p99'), ratio('rate')];
  const cells = [
    percent === 0 ? 'none (ms, ms, 1000/s)' : `${percent} %`,
    ...figures,
    spread(seen),
    ...BOUNDS.map((bound) => often(seen.filter((one) => one > bound).length, seen)),
    disturbed(scenarios),
    disturbed(beside.flatMap(({ parts }) => parts)),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

/** CPU use of others that the sidecar sees without a neighbour: the kernel's ticks. @param {Time[]} times */
function ticks(times) {
  const ms = times.map(({ others_s: others, steal_s: steal }) => 1000 * (others + steal));
  return `${quantile(ms, 0.5).toFixed(0)} ms at the median, ${quantile(ms, 0.95).toFixed(0)} at P95, ${Math.max(...ms).toFixed(0)} at most`;
}

const alone = all[0].map(({ parts }) => parts);
console.log(
  `\nalone, others seem to use ${ticks(alone.map(together))} of a scenario, ${ticks(alone.flat())} of a round`,
);
