/** The users of the fake panel, and the answers of its API: as strict as Marzban 0.8.4, apart from its faults. */

/** @typedef {import('./panel-timings.js').Operation} Operation */
/** @typedef {{ username: string, status: string, note: string | null, createdAt: string, keys?: string[] }} User `keys`: after the first ones */
/** @typedef {{ method: string, path: string, query: URLSearchParams, headers: import('node:http').IncomingHttpHeaders, text: string }} Request from a client. */
/** @typedef {409 | 422 | 500 | 'locked' | 'reset'} Refusal of a create */
/** @typedef {{ status: number, body: unknown, reset?: boolean }} Answer a string as body is plain text. `reset` cuts the connection. */

/**
 * @typedef {object} UserFaults
 * @property {{ every: number, answers: Refusal[] }} [createError] each nth create fails, with the answers in turn, and no user is created.
 * @property {number} [databaseLockedEvery] each nth create, modification and deletion finds the database locked.
 * @property {Operation[]} [lockable] only these operations count for the lock, and find it.
 * @property {number} [lostEvery] each nth create is answered as a success, but the user is not kept.
 * @property {number} [statusLieEvery] each nth modification is answered 200 with the old status, which stays.
 * @property {boolean} [ownerless] a deletion succeeds and is answered 500, as by Marzban if its admin is not in the database.
 * @property {string[]} [foreign] active users that exist before the run.
 * @property {string[]} [vanishing] users of `foreign` that disappear when the run makes its first user.
 * @property {number} [listRaceEvery] each nth list after the start of a deletion is answered 500, as by Marzban during a deletion.
 * @property {('offset' | 'limit' | 'order' | 'search' | 'status')[]} [ignores] parts of a list's query that it ignores.
 * @property {Partial<Record<Operation, unknown>>} [says] the body of these answers, with status 200.
 * @property {'pasarguard'} [dialect] 201 and 204, and users with group_ids and proxy_settings; without it the dialect of Marzban.
 * @property {'others' | 'empty' | 'stale' | 'page'} [subscription] each subscription has another user's keys, no server, the keys before their change, or is an HTML page with status 200.
 * @property {Partial<Record<Operation, number>>} [statuses] of successful answers.
 * @property {(name: string) => number} [used] bytes that a user has used, as a list says; 0 unless given.
 * @property {(operation: Operation, name: string, key: string) => void} [changed] called before the answer to a change that succeeds, and to a restart.
 */

const TAG = 'Shadowsocks TCP';
const STATUSES = ['active', 'disabled', 'limited', 'expired', 'on_hold'];
const CHANGES = ['active', 'disabled', 'on_hold'];

/** @param {unknown} body @returns {Answer} */
export const ok = (body) => ({ status: 200, body });
/** @param {number} status @param {unknown} detail @returns {Answer} */
export const refuse = (status, detail) => ({ status, body: { detail } });
/** The answer for an uncaught exception. @returns {Answer} */
const crash = () => ({ status: 500, body: 'Internal Server Error' });
const notFound = () => refuse(404, 'User not found');
const locked = () => refuse(500, 'database is locked');

/** Every nth is true. @param {number | undefined} every @param {number} count */
const nth = (every, count) => every !== undefined && count % every === 0;

/** Time in Marzban's format. */
const timestamp = () => new Date().toISOString().slice(0, 19);

/** @param {string} text @returns {any} undefined if the text is no JSON object */
export function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** PasarGuard's validation of a new user. @param {any} body @returns {Answer | undefined} */
function ofPasarGuard({ group_ids: groups, proxy_settings: settings, proxies, inbounds }) {
  if (groups?.length > 0 && settings && !proxies && !inbounds) return undefined;
  return refuse(422, { group_ids: 'you must select at least one group' });
}

/**
 * Whether a list has a user.
 * @param {User} user @param {string} search @param {string[]} names @param {string | null} status
 */
const isListed = (user, search, names, status) =>
  (user.username.includes(search) || user.note?.toLowerCase().includes(search)) &&
  (names.length === 0 || names.includes(user.username)) &&
  (status === null || user.status === status);

/** Marzban's validation of a list. @param {URLSearchParams} query @returns {Answer | undefined} */
function invalidQuery(query) {
  const wrong = ['offset', 'limit'].find((name) => query.has(name) && !/^\d+$/.test(query.get(name) ?? ''));
  if (wrong) return refuse(422, { [wrong]: 'Input should be a valid integer' });
  const status = query.get('status');
  if (status === null || STATUSES.includes(status)) return undefined;
  return refuse(422, { status: 'Input should be a status' });
}

export class Users {
  /** @param {UserFaults} faults */
  constructor(faults) {
    this.faults = faults;
    this.truth = {
      created: 0,
      disabled: 0,
      enabled: 0,
      deleted: 0,
      /** Modifications of a user who already had the wanted state. */
      unchanged: 0,
      lost: 0,
      lied: 0,
      locked: 0,
      reset: 0,
      /** Names of all created users, lost ones too. @type {Set<string>} */
      names: new Set(),
      /** Writes to users that existed before. @type {string[]} */
      violations: [],
      /** Requests that Marzban would refuse or misunderstand. @type {string[]} */
      mistakes: [],
    };
    /** @type {Map<string, User>} */
    this.all = new Map();
    for (const username of faults.foreign ?? [])
      this.all.set(username, { username, status: 'active', note: null, createdAt: timestamp() });
    this.count = { writes: 0, creates: 0, changes: 0 };
    this.deletions = 0;
    this.racing = 0;
    this.lists = 0;
  }

  /** @param {string} what */
  mistake(what) {
    this.truth.mistakes.push(what);
  }

  /** @param {Operation} operation @param {Request} request @returns {Answer} */
  answer(operation, request) {
    const user = this.all.get(decodeURIComponent(request.path.split('/').at(-1) ?? ''));
    /** @type {Record<Operation, () => Answer>} */
    const answers = {
      create: () => this.create(request),
      read: () => (user ? ok(shown(user)) : notFound()),
      disable: () => this.modify('disable', request, user),
      enable: () => this.modify('enable', request, user),
      delete: () => this.remove(user),
      list: () => this.list(request.query),
      system: () => this.system(),
      core: () => ok({ version: '1.8.24', started: true, logs_websocket: '/api/core/logs' }),
      restart: () => ok({}),
      inbounds: () =>
        ok(
          this.faults.dialect === 'pasarguard'
            ? [TAG]
            : { shadowsocks: [{ tag: TAG, protocol: 'shadowsocks', network: 'tcp', port: 2080 }] },
        ),
    };
    if (operation === 'delete') this.deletions += 1;
    const { listRaceEvery, says = {} } = this.faults;
    if (operation === 'list' && this.deletions > 0) {
      this.racing += 1;
      if (nth(listRaceEvery, this.racing)) return crash();
    }
    if (operation in says) return ok(says[operation]);
    return this.inDialect(operation, this.noted(operation, request, answers[operation]()));
  }

  /** Reports a success. @param {Operation} operation @param {Request} request @param {Answer} answer */
  noted(operation, request, answer) {
    const created = operation === 'create' ? objectOf(request.text)?.username : undefined;
    const username = created ?? decodeURIComponent(request.path.split('/').at(-1) ?? '');
    if (answer.status === 200)
      this.faults.changed?.(operation, username, passwordOf(this.all.get(username) ?? { username }));
    return answer;
  }

  /** @param {Operation} operation @param {Answer} answer @returns {Answer} */
  inDialect(operation, answer) {
    const { dialect, statuses = {} } = this.faults;
    if (answer.status !== 200) return answer;
    const own = statuses[operation];
    if (own) return own === 204 ? { status: own, body: '' } : { ...answer, status: own };
    if (dialect !== 'pasarguard') return answer;
    if (operation === 'create') return { ...answer, status: 201 };
    return operation === 'delete' ? { status: 204, body: '' } : answer;
  }

  /** A body that FastAPI accepts. @param {Request} request @returns {any} undefined if FastAPI refuses the body */
  bodyOf({ method, path, headers, text }) {
    const json = headers['content-type']?.startsWith('application/json');
    const body = json ? objectOf(text) : undefined;
    if (!body) this.mistake(`${method} ${path} without a JSON body`);
    return body;
  }

  /** Counts a write, and returns whether the database is locked for it. @param {Operation} operation */
  findsLock(operation) {
    const { databaseLockedEvery, lockable } = this.faults;
    if (lockable && !lockable.includes(operation)) return false;
    this.count.writes += 1;
    const found = nth(databaseLockedEvery, this.count.writes);
    if (found) this.truth.locked += 1;
    return found;
  }

  /** Marzban's validation of a new user. @param {any} body @returns {Answer | undefined} */
  invalid(body) {
    if (!/^[a-z0-9_]{3,32}$/.test(body.username ?? '')) {
      this.mistake(`a create with user name ${body.username}`);
      return refuse(422, { username: 'Username only can be 3 to 32 characters' });
    }
    if (!['active', 'on_hold', undefined].includes(body.status)) {
      this.mistake(`a create with status ${body.status}`);
      return refuse(422, { status: "Input should be 'active' or 'on_hold'" });
    }
    if (this.faults.dialect === 'pasarguard') return ofPasarGuard(body);
    return this.ofMarzban(body);
  }

  /** Marzban's validation of a user's proxies and inbounds. @param {any} body @returns {Answer | undefined} */
  ofMarzban(body) {
    if (Object.keys(body.proxies ?? {}).length === 0) {
      this.mistake('a create without proxies');
      return crash();
    }
    const other = Object.keys(body.proxies).find((protocol) => protocol !== 'shadowsocks');
    if (other) return refuse(400, `Protocol ${other} is disabled on your server`);
    if (body.inbounds === undefined) this.mistake('a create without inbounds');
    const unknown = (body.inbounds?.shadowsocks ?? []).find((/** @type {string} */ tag) => tag !== TAG);
    return unknown === undefined ? undefined : refuse(422, { inbounds: `Inbound ${unknown} doesn't exist` });
  }

  /** @param {Request} request @returns {Answer} */
  create(request) {
    const { faults, truth } = this;
    const body = this.bodyOf(request);
    if (!body) return refuse(422, { body: 'Input should be a valid dictionary' });
    const refusal = this.invalid(body);
    if (refusal) return refusal;
    this.count.creates += 1;
    for (const name of faults.vanishing ?? []) this.all.delete(name);
    if (faults.createError && nth(faults.createError.every, this.count.creates)) {
      const { every, answers } = faults.createError;
      return this.failCreate(answers[(this.count.creates / every) % answers.length]);
    }
    if (this.findsLock('create')) return locked();
    const { username, status = 'active', note = null } = body;
    if (this.all.has(username)) return refuse(409, 'User already exists');
    const user = { username, status, note, createdAt: timestamp() };
    truth.created += 1;
    truth.names.add(username);
    if (nth(faults.lostEvery, truth.created)) truth.lost += 1;
    else this.all.set(username, user);
    return ok(shown(user));
  }

  /** @param {Refusal} answer @returns {Answer} */
  failCreate(answer) {
    if (answer === 409) return refuse(409, 'User already exists');
    if (answer === 422) return refuse(422, { username: 'Username only can be 3 to 32 characters' });
    if (answer === 500) return crash();
    if (answer === 'locked') return locked();
    this.truth.reset += 1;
    return { status: 0, body: '', reset: true };
  }

  /** @param {'disable' | 'enable'} operation @param {Request} request @param {User | undefined} user @returns {Answer} */
  modify(operation, request, user) {
    const { truth } = this;
    const body = this.bodyOf(request);
    if (!body) return refuse(422, { body: 'Input should be a valid dictionary' });
    if (body.status !== undefined && !CHANGES.includes(body.status)) {
      this.mistake(`a modification to status ${body.status}`);
      return refuse(422, { status: "Input should be 'active', 'disabled' or 'on_hold'" });
    }
    if (!user) return notFound();
    this.guard('PUT', user);
    if (this.findsLock(operation)) return locked();
    this.count.changes += 1;
    if (nth(this.faults.statusLieEvery, this.count.changes)) {
      truth.lied += 1;
      return ok(shown(user));
    }
    const status = body.status ?? user.status;
    if (status === user.status) truth.unchanged += 1;
    else if (status === 'disabled') truth.disabled += 1;
    else truth.enabled += 1;
    user.status = status;
    altered(user, body);
    return ok(shown(user));
  }

  /** @param {User | undefined} user @returns {Answer} */
  remove(user) {
    if (!user) return notFound();
    this.guard('DELETE', user);
    if (this.findsLock('delete')) return locked();
    this.all.delete(user.username);
    this.truth.deleted += 1;
    return this.faults.ownerless ? crash() : ok({ detail: 'User successfully deleted' });
  }

  /** @param {string} method @param {User} user */
  guard(method, { username }) {
    if (this.faults.foreign?.includes(username)) this.truth.violations.push(`${method} ${username}`);
  }

  /** @param {URLSearchParams} query @returns {Answer} */
  list(query) {
    const refusal = invalidQuery(query);
    if (refusal) return refusal;
    const status = query.get('status');
    if (!query.has('limit')) this.mistake('a list without a limit');
    const ignores = (/** @type {any} */ name) => this.faults.ignores?.includes(name);
    const search = ignores('search') ? '' : (query.get('search') ?? '').toLowerCase();
    const names = query.getAll('username');
    const wanted = ignores('status') ? null : status;
    const found = [...this.all.values()].filter((user) => isListed(user, search, names, wanted));
    const from = ignores('offset') ? 0 : Number(query.get('offset') ?? 0);
    const limited = query.has('limit') && !ignores('limit');
    const page = found.slice(from, limited ? from + Number(query.get('limit')) : undefined);
    this.lists += 1;
    if (ignores('order')) page.push(...page.splice(0, this.lists % page.length));
    const used = this.faults.used ?? (() => 0);
    const users = page.map((user) => ({ ...shown(user), used_traffic: used(user.username) }));
    return ok({ users, total: found.length });
  }

  /** The subscription of a user, in the format of the client's name. @param {Request} request @returns {Answer | undefined} undefined for another path */
  subscription({ path, headers }) {
    const user = this.all.get(/^\/sub\/([^/]+)$/.exec(path)?.[1] ?? '');
    if (!user) return undefined;
    const { subscription } = this.faults;
    if (subscription === 'page') return ok('<html><body>Bad gateway</body></html>');
    const other = [...this.all.values()].find((one) => one !== user) ?? user;
    const key =
      subscription === 'stale'
        ? passwordOf({ ...user, keys: user.keys?.slice(0, -1) })
        : passwordOf(subscription === 'others' ? other : user);
    return ok(inFormat(headers['user-agent'] ?? '', subscription === 'empty' ? [] : [key]));
  }

  system() {
    const all = [...this.all.values()];
    const counts = STATUSES.map((status) => [
      `users_${status}`,
      all.filter((user) => user.status === status).length,
    ]);
    return ok({ version: '0.8.4', total_user: all.length, ...Object.fromEntries(counts) });
  }
}

/** @param {Pick<User, 'username' | 'keys'>} user */
const passwordOf = ({ username, keys = [] }) => keys.at(-1) ?? `password-of-${username}`;

/** Takes the note and, with proxies, makes a new key. @param {User} user @param {any} body */
function altered(user, { note = user.note, proxies }) {
  user.note = note;
  if (!proxies) return;
  user.keys = [...(user.keys ?? []), `key-${user.keys?.length ?? 0}-of-${user.username}`];
}

const METHOD = 'chacha20-ietf-poly1305';

/** @param {string} agent @param {string[]} keys @returns {string} */
function inFormat(agent, keys) {
  const base64 = (/** @type {string} */ text) => Buffer.from(text).toString('base64');
  if (/^[Cc]lash/.test(agent))
    return `proxies:\n${keys.map((key) => `- {name: a, type: ss, cipher: ${METHOD}, password: ${key}}\n`).join('')}`;
  const outbounds = keys.map((password) => ({ type: 'shadowsocks', method: METHOD, password }));
  if (agent.startsWith('SFA')) return JSON.stringify({ outbounds: [...outbounds, { type: 'direct' }] });
  if (agent.startsWith('Outline')) return JSON.stringify(outbounds[0] ?? {});
  return base64(keys.map((key) => `ss://${base64(`${METHOD}:${key}`)}@127.0.0.1:1080#a`).join('\n'));
}

/** A user as the API shows one. @param {User} user */
function shown(user) {
  const { username, status, note, createdAt } = user;
  return {
    username,
    status,
    note,
    created_at: createdAt,
    used_traffic: 0,
    lifetime_used_traffic: 0,
    expire: null,
    data_limit: null,
    data_limit_reset_strategy: 'no_reset',
    on_hold_expire_duration: null,
    on_hold_timeout: null,
    sub_updated_at: null,
    sub_last_user_agent: null,
    online_at: null,
    auto_delete_in_days: null,
    next_plan: null,
    proxies: { shadowsocks: { password: passwordOf(user), method: METHOD } },
    inbounds: { shadowsocks: [TAG] },
    excluded_inbounds: { shadowsocks: [] },
    links: [],
    subscription_url: `/sub/${username}`,
    admin: { username: 'admin', is_sudo: true },
  };
}
