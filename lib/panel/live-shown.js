/** Results of panel/users-live: tables, plots, facts and notes. */
import { quantile } from 'k6/x/windtunnel/record';
import { sectionOf } from '../section.js';
import { named } from './data-plane.js';
import { aliveSaid, changesSaid, effectOf, laterSaid } from './live.js';
import { flowsSaid } from './live-flows.js';
import { KINDS } from './live-plan.js';
import { restartsOf } from './live-restarts.js';
import { EVERY_MS, SILENT_MS } from './live-tries.js';

/** @typedef {import('./live.js').Change} Change */
/** @typedef {import('./live-flows.js').Lost} Lost */

const EFFECTS = {
  create: 'created: carries data',
  disable: 'disabled: is refused',
  enable: 'enabled: carries data',
  delete: 'deleted: is refused',
};
const SHOWN = 10;

/** @param {number[]} values ms @param {number} share @returns {number | null} */
const shareOf = (values, share) =>
  quantile([{ values: { all: values.map((ms) => ms * 1e6) }, ends: {} }], 'all', share);

/** @param {Change[]} changes @param {'least_ms' | 'most_ms'} field @returns {number[]} */
const boundsOf = (changes, field) => changes.flatMap(({ [field]: ms }) => ms ?? []);

/** Untouched flows that were lost: flows of other users, and flows that ended before the change of their user. */
function lostFlows() {
  const flows = flowsSaid();
  if (!flows) return null;
  const changes = changesSaid();
  const early = flows.left.filter(({ name, at }) => {
    const own = changes.find(({ user, kind }) => user === name && kind === 'disable');
    // If the flow never opened, its user may have been disabled before.
    if (own) return at !== null && at < own.sent;
    return at === null || at < flows.watched_until;
  });
  return [...flows.lost, ...early];
}

/** The ends of flows of disabled users, ms after the answer. */
function endsOf() {
  const flows = flowsSaid();
  const disabled = changesSaid().filter(({ kind }) => kind === 'disable');
  const found = disabled.map((change) => {
    const left = flows?.left.find(({ name }) => name === change.user);
    if (left && (left.at === null || left.at < change.sent)) return undefined; // not open at the change
    return left?.at ? Math.max(0, left.at - change.answered) : null;
  });
  const open = flows ? found.filter((ms) => ms !== undefined) : [];
  return { flows: open.length, ended: open.filter((ms) => ms !== null) };
}

/** @param {Lost} lost */
function aboutLost({ name, at, why }) {
  if (at === null) return `${name} (never opened: ${why})`;
  const changes = changesSaid().filter(({ sent }) => sent <= at);
  const last = changes.sort((a, b) => b.sent - a.sent)[0];
  const beside = last
    ? `, ${(at - last.sent).toFixed(0)} ms after the request to ${last.kind} ${last.user}`
    : '';
  return `${name} (${why}${beside})`;
}

/** @returns {import('../section.js').Section[]} */
export function liveSections() {
  const changes = changesSaid();
  const { flows, ended } = endsOf();
  const rows = KINDS.map((kind) => ({ kind, own: changes.filter((one) => one.kind === kind) }));
  const restarts = restartsOf(aliveSaid());
  return [
    sectionOf({
      name: 'effects',
      title: 'Time to effect in the data plane',
      columns: [
        {
          name: 'change',
          title: 'A new connection of a user',
          unit: 'text',
          of: ({ kind }) => EFFECTS[kind],
        },
        { name: 'changes', title: 'Changes', unit: 'count', of: ({ own }) => own.length },
        {
          name: 'rate',
          title: 'Rate',
          unit: 'per_s',
          of: ({ kind }) => figure(`${kind}_open`, 'rate_per_s'),
        },
        { name: 'api', title: 'Answer P50', unit: 'ms', of: ({ kind }) => figure(`${kind}_open`, 'p50_ms') },
        {
          name: 'least',
          title: 'Effect after at least, P50',
          unit: 'ms',
          of: ({ own }) => shareOf(boundsOf(own, 'least_ms'), 0.5),
        },
        {
          name: 'most',
          title: 'at most, P50',
          unit: 'ms',
          compare: 'lower',
          of: ({ own }) => shareOf(boundsOf(own, 'most_ms'), 0.5),
        },
        {
          name: 'slowest',
          title: 'at most, slowest',
          unit: 'ms',
          of: ({ own }) => slowest(boundsOf(own, 'most_ms')),
        },
        {
          name: 'never',
          title: 'Without effect',
          unit: 'count',
          of: ({ own }) => own.filter(({ effect }) => effect !== 'seen').length,
        },
      ],
      rows,
      ...(restarts.length > 0 ? { finding: `${restarts.join('; ')}.` } : {}),
      notes: [
        `From the panel's answer. Connections of the user begin ${EVERY_MS} ms apart, later a tenth of the elapsed time. At least: the last one on which the change had no effect began then. At most: the first byte, or the beginning of the first connection that the proxy ended, or left silent for ${SILENT_MS} ms. The clocks agree within 1 ms.`,
        flows === 0
          ? 'Open flows of disabled users were not measured.'
          : `Open flows of disabled users: ${ended.length} of ${flows} ended or fell silent${ended.length > 0 ? `, in the median ${shareOf(ended, 0.5)?.toFixed(0)} ms after the answer` : ''}; the others lived to the end of the run. This is not judged.`,
      ],
    }),
    sectionOf({
      name: 'untouched',
      title: 'Round trips of untouched flows',
      columns: [
        { name: 'phase', title: 'Phase', unit: 'text', of: ({ title }) => title },
        .../** @type {const} */ (['p50_ms', 'p95_ms', 'p99_ms']).map((name) => ({
          name,
          title: name.slice(0, 3).toUpperCase(),
          unit: 'ms',
          of: (/** @type {{ operation: string }} */ { operation }) => figure(operation, name),
        })),
        {
          name: 'times',
          title: 'P50 to quiet',
          unit: 'x',
          of: ({ operation }) => ({ ...figure(operation, 'p50_ms'), by: 'flow_quiet' }),
        },
        { name: 'lost', title: 'Flows lost', unit: 'count', of: ({ lost }) => lost },
      ],
      rows: [
        { title: 'quiet', operation: 'flow_quiet', lost: null },
        { title: 'during changes', operation: 'flow_changes', lost: lostFlows()?.length ?? null },
      ],
      notes: ['The same flows and the same probe in both phases. Flows lost is of the whole run.'],
    }),
    ...courseSection(changes),
  ];
}

/** @param {string} operation @param {'p50_ms' | 'p95_ms' | 'p99_ms' | 'rate_per_s'} name */
const figure = (operation, name) => ({ operation, figure: name });

/** @param {number[]} values */
const slowest = (values) => (values.length > 0 ? Math.max(...values) : null);

/** @param {Change[]} changes */
function courseSection(changes) {
  const flows = flowsSaid();
  if (!flows || flows.course.length < 2) return [];
  const width = flows.course[1].at_s - flows.course[0].at_s;
  const after = (/** @type {Change} */ { answered }) => (answered - flows.opened) / 1000;
  return [
    sectionOf({
      name: 'live_course',
      title: 'Changes over time',
      columns: [
        { name: 'at_s', title: 'Time', unit: 's' },
        { name: 'p50_ms', title: 'Round trip P50', unit: 'ms' },
        { name: 'p99_ms', title: 'Round trip P99', unit: 'ms' },
        {
          name: 'effect_ms',
          title: 'Slowest effect',
          unit: 'ms',
          of: ({ at_s: at }) =>
            slowest(
              boundsOf(
                changes.filter((one) => Math.abs(after(one) - at) <= width / 2),
                'most_ms',
              ),
            ),
        },
      ],
      rows: flows.course,
      plot: { kind: 'line', x: 'at_s', y: ['p50_ms', 'p99_ms', 'effect_ms'] },
    }),
  ];
}

/** @returns {import('k6/x/windtunnel/judge').Fact[]} */
export function liveFacts() {
  const lost = lostFlows();
  const without = changesSaid().filter(({ effect }) => effect === 'never').length;
  const untried = changesSaid().some(({ effect }) => effect === 'untried');
  return /** @type {const} */ ([
    ['data plane: untouched flows that were lost', lost?.length ?? null],
    ['data plane: changes without effect', untried && without === 0 ? null : without],
  ]).map(([check, found]) => ({ check, source: 'far_end', found: { said: found }, reported: { said: 0 } }));
}

/** @returns {string[]} */
export function liveNotes() {
  const lost = lostFlows() ?? [];
  const without = changesSaid().filter(({ effect }) => effect === 'never');
  const later = laterSaid();
  const needed = (/** @type {import('./live.js').Later['after']} */ what) =>
    later.filter(({ after }) => after === what).map(({ kind, user }) => `${kind} ${user}`);
  const more = lost.length > SHOWN ? `, and ${lost.length - SHOWN} more` : '';
  return [
    ...restartsOf(aliveSaid()),
    ...(__ENV.INSTANCE ? [] : ['restarts of the core were not watched: no testbed names its processes']),
    ...(lost.length > 0
      ? [`untouched flows that were lost: ${lost.slice(0, SHOWN).map(aboutLost).join(', ')}${more}`]
      : []),
    ...named(
      'changes without effect',
      without.map(({ kind, user }) => `${kind} ${user}`),
    ),
    ...named('took effect after the load', needed('time')),
    ...named('took effect only after a restart of the core', needed('a restart of the core')),
    ...named('took no effect even after a restart of the core', needed(null)),
  ];
}

/** Rows of the effects and of the flows. @returns {Record<string, import('../scenario.js').Operations>} */
export const liveOperations = () => ({
  ...Object.fromEntries(
    KINDS.map((kind) => [
      effectOf(kind),
      {
        title: `Effect: ${EFFECTS[kind]}`,
        loop: /** @type {const} */ ('open'),
        latencyIs: 'from the answer of the panel until the change had effect on a new connection, at most',
        bounds: { max: 1000 },
      },
    ]),
  ),
  ...Object.fromEntries(
    /** @type {const} */ ([
      ['flow_quiet', 'Round trip of untouched flows, in quiet'],
      ['flow_changes', 'Round trip of untouched flows, during changes'],
    ]).map(([name, title]) => [
      name,
      {
        title,
        loop: /** @type {const} */ ('open'),
        latencyIs: 'from the intended send time to the answer of the far end',
        headline: /** @type {const} */ ('p50'),
      },
    ]),
  ),
});
