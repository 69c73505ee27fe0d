/** Results of users-live: tables, plots, facts and notes. */
import { quantile } from 'k6/x/windtunnel/record';
import { figureOf, named, sectionOf } from '../section.js';
import { aliveSaid, changesSaid, effectOf, laterSaid } from './live.js';
import { flowsSaid } from './live-flows.js';
import { restartsOf } from './live-restarts.js';
import { SILENT_MS } from './live-tries.js';
import { lookupNotes, spacing } from './lookup.js';

/** @typedef {import('./live.js').Change} Change */
/** @typedef {import('./live-flows.js').Lost} Lost */
/** @typedef {import('./live-plan.js').Kind} Kind */

/** Words for a changed user, and for the user's new connection. @type {Record<Kind, [string, string]>} */
const EFFECTS = {
  create: ['created', 'carries data'],
  disable: ['disabled', 'is refused'],
  enable: ['enabled', 'carries data'],
  delete: ['deleted', 'is refused'],
};

/** @param {Kind} kind */
const wordsOf = (kind) => EFFECTS[kind].join(': ');

/** @param {number[]} values ms @param {number} share @returns {number | null} */
const shareOf = (values, share) =>
  quantile([{ values: { all: values.map((ms) => ms * 1e6) }, ends: {} }], 'all', share);

/** @param {Change[]} changes @param {'least_ms' | 'most_ms'} field @returns {number[]} */
const boundsOf = (changes, field) => changes.flatMap(({ [field]: ms }) => ms ?? []);

/** Untouched flows that were lost: flows of other users, and flows that ended before the change of their user. @param {Kind} leaving */
function lostFlows(leaving) {
  const flows = flowsSaid();
  if (!flows) return null;
  const changes = changesSaid();
  const early = flows.left.filter(({ name, at }) => {
    const own = changes.find(({ user, kind }) => user === name && kind === leaving);
    // If the flow never opened, its user may have been refused before.
    if (own) return at !== null && at < own.sent;
    return at === null || at < flows.watched_until;
  });
  return [...flows.lost, ...early];
}

/** @param {Change['effect']} wanted */
const withEffect = (wanted) => changesSaid().filter(({ effect }) => effect === wanted);

/** @template T @param {T[]} all @param {(one: T) => string} textOf @returns {[string, T[]][]} */
const byText = (all, textOf) =>
  [...new Set(all.map(textOf))].map((text) => [text, all.filter((one) => textOf(one) === text)]);

/** The ends of flows of users that are refused, ms after the answer. @param {Kind} leaving */
function endsOf(leaving) {
  const flows = flowsSaid();
  const refused = changesSaid().filter(({ kind }) => kind === leaving);
  const found = refused.map((change) => {
    const left = flows?.left.find(({ name }) => name === change.user);
    if (left && (left.at === null || left.at < change.sent)) return undefined; // not open at the change
    return left?.at ? Math.max(0, left.at - change.answered) : null;
  });
  const open = flows && flows.leaving > 0 ? found.filter((ms) => ms !== undefined) : [];
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

/** @param {number[]} values */
const slowest = (values) => (values.length > 0 ? Math.max(...values) : null);

/** @param {number | null} lost flows */
const untouchedSection = (lost) =>
  sectionOf({
    name: 'untouched',
    title: 'Round trips of untouched flows',
    columns: [
      ['phase', 'Phase', 'text', ({ title }) => title],
      ['p50_ms', 'P50', 'ms', ({ operation }) => figureOf(operation, 'p50_ms')],
      ['p95_ms', 'P95', 'ms', ({ operation }) => figureOf(operation, 'p95_ms')],
      ['p99_ms', 'P99', 'ms', ({ operation }) => figureOf(operation, 'p99_ms')],
      ['times', 'P50 to quiet', 'x', ({ operation }) => figureOf(operation, 'p50_ms', 'flow_quiet')],
      ['lost', 'Flows lost', 'count', (row) => row.lost],
    ],
    rows: [
      { title: 'quiet', operation: 'flow_quiet', lost: null },
      { title: 'during changes', operation: 'flow_changes', lost },
    ],
    notes: ['The same flows and the same probe in both phases. Flows lost is of the whole run.'],
  });

/** @param {Change[]} changes */
function courseSection(changes) {
  const flows = flowsSaid();
  if (!flows || flows.course.length < 2) return null;
  const width = flows.course[1].at_s - flows.course[0].at_s;
  const after = (/** @type {Change} */ { answered }) => (answered - flows.opened) / 1000;
  return sectionOf({
    name: 'live_course',
    title: 'Changes over time',
    columns: [
      ['at_s', 'Time', 's'],
      ['p50_ms', 'Round trip P50', 'ms'],
      ['p99_ms', 'Round trip P99', 'ms'],
      [
        'effect_ms',
        'Slowest effect',
        'ms',
        ({ at_s: at }) =>
          slowest(
            boundsOf(
              changes.filter((one) => Math.abs(after(one) - at) <= width / 2),
              'most_ms',
            ),
          ),
      ],
    ],
    rows: flows.course,
    plot: { kind: 'line', x: 'at_s', y: ['p50_ms', 'p99_ms', 'effect_ms'] },
  });
}

export class LiveShown {
  /** @param {import('./live-plan.js').LivePlan} plan */
  constructor(plan) {
    this.plan = plan;
  }

  /** @returns {import('../section.js').More['sections']} */
  sections() {
    const changes = changesSaid();
    const { kinds, leaving } = this.plan;
    const { flows, ended } = endsOf(leaving);
    const rows = kinds.map((kind) => ({ kind, own: changes.filter((one) => one.kind === kind) }));
    const restarts = restartsOf(aliveSaid());
    return [
      sectionOf({
        name: 'effects',
        title: 'Time to effect in the data plane',
        columns: [
          ['change', 'A new connection of a user', 'text', ({ kind }) => wordsOf(kind)],
          ['changes', 'Changes', 'count', ({ own }) => own.length],
          ['rate', 'Rate', 'per_s', ({ kind }) => figureOf(`${kind}_open`, 'rate_per_s')],
          ['api', 'Answer P50', 'ms', ({ kind }) => figureOf(`${kind}_open`, 'p50_ms')],
          ['least', 'Effect after at least, P50', 'ms', ({ own }) => shareOf(boundsOf(own, 'least_ms'), 0.5)],
          [
            'most',
            'at most, P50',
            'ms',
            ({ own }) => shareOf(boundsOf(own, 'most_ms'), 0.5),
            { compare: 'lower' },
          ],
          ['slowest', 'at most, slowest', 'ms', ({ own }) => slowest(boundsOf(own, 'most_ms'))],
          [
            'never',
            'Without effect',
            'count',
            ({ own }) => own.filter(({ effect }) => effect === 'never').length,
          ],
          [
            'untried',
            'Not tried',
            'count',
            ({ own }) => own.filter(({ effect }) => effect === 'untried').length,
          ],
        ],
        rows,
        finding: restarts.length > 0 && `${restarts.join('; ')}.`,
        notes: [
          `From the answer to the change. Connections of the user begin ${spacing().toFixed(0)} ms apart, later a tenth of the elapsed time. At least: the last one on which the change had no effect began then. At most: the first byte, or the beginning of the first connection that the proxy ended, or left silent for ${SILENT_MS} ms. The clocks agree within 1 ms.`,
          flows === 0
            ? `Open flows of ${EFFECTS[leaving][0]} users were not measured.`
            : `Open flows of ${EFFECTS[leaving][0]} users: ${ended.length} of ${flows} ended or fell silent${ended.length > 0 ? `, in the median ${shareOf(ended, 0.5)?.toFixed(0)} ms after the answer` : ''}; the others lived to the end of the run. This is not judged.`,
        ],
      }),
      untouchedSection(lostFlows(leaving)?.length ?? null),
      courseSection(changes),
    ];
  }

  /** @returns {import('k6/x/windtunnel/judge').Fact[]} */
  facts() {
    const lost = lostFlows(this.plan.leaving);
    const without = withEffect('never').length;
    const untried = withEffect('untried').length > 0;
    return /** @type {const} */ ([
      ['data plane: untouched flows that were lost', lost?.length ?? null],
      ['data plane: changes without effect', untried && without === 0 ? null : without],
    ]).map(([check, found]) => ({ check, source: 'far_end', found: { said: found }, reported: { said: 0 } }));
  }

  /** @returns {string[]} */
  notes() {
    const lost = lostFlows(this.plan.leaving) ?? [];
    const later = laterSaid();
    const words = (/** @type {{ kind: Kind, user: string }[]} */ some) =>
      some.map(({ kind, user }) => `${kind} ${user}`);
    return [
      ...lookupNotes(),
      ...restartsOf(aliveSaid()),
      ...(aliveSaid().length > 0
        ? []
        : ['restarts of the core were not watched: no testbed names its processes']),
      ...named('untouched flows that were lost', lost.map(aboutLost)),
      ...named('changes without effect', words(withEffect('never'))),
      ...byText(later, ({ later: text }) => text).flatMap(([text, some]) => named(text, words(some))),
      ...byText(withEffect('untried'), ({ why = '' }) => why).flatMap(([why, some]) =>
        named(`changes that were not tried (${why})`, words(some)),
      ),
    ];
  }

  /** Rows of the effects, the flows and the answers. @returns {Record<string, import('../scenario.js').Operations>} */
  operations() {
    const { kinds } = this.plan;
    const open = /** @type {const} */ ({ loop: 'open' });
    const flow = /** @type {const} */ ({
      ...open,
      latencyIs: 'from the intended send time to the answer of the far end',
      headline: 'p50',
    });
    const effects = kinds.map((kind) => [
      effectOf(kind),
      {
        ...open,
        title: `Effect: ${wordsOf(kind)}`,
        latencyIs: 'from the answer to the change until it had effect on a new connection, at most',
        bounds: { max: 1000 },
      },
    ]);
    const answers = kinds.map((kind) => [
      `${kind}_open`,
      {
        ...open,
        title: `The answer: ${kind}`,
        latencyIs: 'from the intended send time to the last byte received',
      },
    ]);
    return {
      ...Object.fromEntries(effects),
      flow_quiet: { ...flow, title: 'Round trip of untouched flows, in quiet' },
      flow_changes: { ...flow, title: 'Round trip of untouched flows, during changes' },
      ...Object.fromEntries(answers),
    };
  }
}
