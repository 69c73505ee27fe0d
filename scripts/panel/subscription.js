/**
 * How fast does the panel answer its users' subscriptions, and does each answer hold that user's own keys?
 *
 * quick: 2,000 turns of 20 clients, 200 users (smoke: 200 turns, 40 users). A turn asks for a user's subscription in the name of one
 * client program, twice: the first time after a change of keys, and again. The formats take turns. Before its round of formats a user
 * gets new keys, so that a stale answer shows.
 */
import exec from 'k6/execution';
import { Trend, measured } from 'k6/x/windtunnel/record';
import { loadPanel } from '../../lib/panel/environment.js';
import { faultOf, keysOf } from '../../lib/panel/subscription.js';
import { namesOf, panelScenario } from '../../lib/panel/scenario.js';
import { stop } from '../../lib/execution.js';
import { refuse } from '../../lib/environment.js';
import { clientLoad, envCount, mostVus } from '../../lib/profiles.js';
import { figureOf, sectionOf } from '../../lib/section.js';

/** @typedef {import('../../lib/panel/subscription.js').Subscriber} Subscriber */

const bytes = new Trend('subscription_bytes');

const base = { clients: 20, smoke: 200, quick: 2000, peak: 20 };
const load = clientLoad(base, 'REQUESTS');
const vus = mostVus(load);
const each = Math.max(1, Math.ceil(envCount('USERS', load.iterations === base.smoke ? 40 : 200) / vus));
const nameOf = namesOf('sub');
const { dialect, url } = loadPanel();
const about =
  dialect.file.subscription ??
  refuse(`panel/subscription: ${dialect.file.title}: its dialect has no subscription`);
const formats = Object.entries(about.formats);

/** Users of this virtual user. @type {Subscriber[]} */
let own = [];
/** The owner of each key that this virtual user knows. @type {Map<string, string>} */
let owners = new Map();
let turns = 0;

/** The subscriber in an answer of the panel. @param {any} user @returns {Subscriber} */
function subscriberOf(user) {
  const path = String(user?.[about.url] ?? '');
  const address = path.startsWith('/') ? url + path : path;
  const keys = keysOf(user?.[about.keys]);
  if (!address.startsWith(`${url}/`) || keys.length === 0)
    return stop(
      `panel: ${url} a user has no keys in ${about.keys}, or no address below ${url} in ${about.url}`,
    );
  return { name: user.username, address, protocols: Object.keys(user[about.keys]), keys, before: [] };
}

/** @param {Subscriber[]} all */
function takeOver(all) {
  if (own.length > 0) return;
  const first = ((exec.vu.idInTest - 1) % vus) * each;
  own = all.slice(first, first + each);
  owners = new Map(all.flatMap(({ name, keys }) => keys.map((key) => [key, name])));
}

/** Whether a key is another user's, as far as this virtual user knows. @param {Subscriber} user @returns {(key: string) => boolean} */
const isOthers = (user) => (key) => (owners.get(key) ?? user.name) !== user.name;

/**
 * Lets the panel choose new keys of a user.
 * @param {import('../../lib/panel/panel.js').Panel} panel @param {any} data @param {Subscriber} user
 * @param {import('../../lib/panel/scenario.js').Turn['measure']} measure
 */
function renew(panel, data, user, measure) {
  const body = { [about.keys]: Object.fromEntries(user.protocols.map((protocol) => [protocol, {}])) };
  const take = (/** @type {any} */ found) => {
    const keys = keysOf(found?.[about.keys]);
    if (keys.length === 0) return 'no keys in it';
    if (keys.some((key) => user.keys.includes(key))) return 'the same keys as before';
    user.before.push(...user.keys);
    user.keys = keys;
    for (const key of keys) owners.set(key, user.name);
    return 1;
  };
  const done = measure(
    'renew',
    () => panel.renew(data, user.name, body),
    (response) => take(panel.dialect.userIn('enable', response, user.name)),
  );
  // The panel may have changed the keys and then failed.
  if (!done) take(panel.dialect.userIn('read', panel.read(data, user.name), user.name));
}

/** A row for each format. @param {import('k6/x/windtunnel/record').Metrics} metrics */
function sections(metrics) {
  const all = measured(metrics);
  return [
    sectionOf({
      name: 'subscriptions',
      title: 'Subscriptions by format',
      columns: [
        ['format', 'Format', 'text', ([name]) => name],
        ['agent', 'Asked as', 'text', ([, { agent }]) => agent],
        ['size', 'Size', 'B', ([name]) => all[`subscription_bytes{operation:${name}}`]?.values.avg ?? null],
        ['rate', 'First, a second', 'per_s', ([name]) => figureOf(name, 'rate_per_s')],
        ['first_p50', 'P50, first', 'ms', ([name]) => figureOf(name, 'p50_ms')],
        ['first_p95', 'P95, first', 'ms', ([name]) => figureOf(name, 'p95_ms')],
        ['again_p50', 'P50, again', 'ms', ([name]) => figureOf(`${name}_again`, 'p50_ms')],
        ['again_p95', 'P95, again', 'ms', ([name]) => figureOf(`${name}_again`, 'p95_ms')],
      ],
      rows: formats,
      notes: [
        'First: after a change of keys, so that no cache may have the answer. Again: the same request at once. Each answer is right only if it holds the own keys of its user, and no other.',
      ],
    }),
  ];
}

/** @param {string} title */
const row = (title) => ({
  title,
  latencyIs: 'from the first byte sent to the last byte received',
  bounds: { 'p(95)': 5000 },
  least: load.iterations ? 1 : undefined,
});

const script = panelScenario({
  name: 'subscription',
  title: 'Subscriptions',
  load,
  clients: envCount('CLIENTS', base.clients),
  sections,
  parameters: { users: vus * each, formats: formats.map(([name]) => name).join(',') },
  operations: {
    ...Object.fromEntries(
      formats.flatMap(([name, { agent }]) => [
        [name, row(`GET as ${agent}`)],
        [`${name}_again`, row(`GET as ${agent}, again`)],
      ]),
    ),
    renew: row('PUT new keys'),
  },
  prepare(panel, session) {
    const names = Array.from({ length: vus * each }, (_, index) => nameOf(session.runId, index));
    panel.createAll(session, names);
    return {
      subscribers: names.map((name) =>
        subscriberOf(panel.dialect.userIn('read', panel.read(session, name), name)),
      ),
    };
  },
  iterate({ panel, data, measure }) {
    takeOver(data.subscribers);
    const turn = turns;
    turns += 1;
    const user = own[Math.floor(turn / formats.length) % own.length];
    if (turn % formats.length === 0) renew(panel, data, user, measure);
    const [name, format] = formats[(turn + exec.vu.idInTest) % formats.length];
    for (const operation of [name, `${name}_again`])
      measure(
        operation,
        () => panel.subscription(user.address, format.agent),
        (response) => {
          const text = String(response.body ?? '');
          bytes.add(text.length, { operation });
          return faultOf(text, format, user, isOthers(user)) ?? 1;
        },
      );
  },
});

export const { options, setup, teardown, handleSummary } = script;
export default script.closedLoop;
