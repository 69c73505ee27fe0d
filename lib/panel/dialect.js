/**
 * The differences between panels, from a dialect file: lib/panel/dialects/NAME.json, or another file. docs/how-to/panel.md
 * describes the file.
 */
import { isAccepted, partOf } from '../answers.js';
import { textAt } from '../file.js';

/** @typedef {'create' | 'read' | 'enable' | 'disable' | 'delete' | 'list' | 'system' | 'restart'} Operation */
/**
 * @typedef {object} Request how the panel takes an operation
 * @property {string} method
 * @property {string} path with {name}, {offset}, {limit}, {page} (the page's number from 1), {key} (of the name, secret), or a field of the environment's `user`
 * @property {number} [status] the only status of a success; any 2xx unless given
 * @property {string} [user] where the answer has the user, with {name}; '' for the whole answer; an answer has no user unless given
 * @property {object} [body] with the same values as `path`, and {note}
 * @property {string} [part] field of the environment's `user` that is put into the body, '' for the whole `user`; of `create` '' unless given
 */
/** @typedef {{ path: string, is: 'object' | 'array', with?: string[], without?: string[] }} Sign an address with different answers of panels */
/**
 * @typedef {object} DialectFile
 * @property {string} title
 * @property {string | null} login path of the log-in form; null: the panel takes only a token
 * @property {string} [cookie] that the panel wants in place of a bearer token; its log-in sets it
 * @property {number} [at_once] most changes at once in set-up and clean-up
 * @property {Sign} sign
 * @property {string} [success] field of every answer that is false in a refusal with a status of 2xx
 * @property {Record<Operation, Request>} operations
 * @property {{ users: string, total: string | null, figures: string, username: string, note: string, status: { field: string, active: unknown, disabled: unknown } }} fields `total` is null: each list has all users
 * @property {{ search: string, active: string, disabled: string }} filters parts of a list's query, with {search}
 * @property {string[]} needs fields of the environment's `user`
 * @property {Subscription | null} subscription null: subscriptions cannot be asked for
 * @property {Tables | null} tables null: users are neither seeded nor counted by SQL
 */
/**
 * @typedef {object} Tables names of the database's tables and columns, and what a seeded user has in them
 * @property {{ name: string, id: string, username: string, note: string, status: { column: string, active: Cell, disabled: Cell }, row: Record<string, Cell> }} users
 *   `row`: further columns, with {now}
 * @property {{ name: string, user: string, type: string, settings: string, protocols: Record<string, { type: Cell, settings: object }> }} proxies
 *   `user` has the user's id. `protocols`, by their names in the environment's `user`: texts of `settings` may have {key} and {uuid}
 */
/** @typedef {string | number | boolean | null} Cell */
/** @typedef {{ kind: 'links' | 'clash' | 'sing-box' | 'outline', agent: string }} Format of a subscription. `agent` is a client that gets this format. */
/** @typedef {{ url: string, keys: string, formats: Record<string, Format> }} Subscription fields of a user. `url` is the address. `keys` has the settings of protocols. */
/** @typedef {{ status: number, json?: Function }} Answer */

const SCHEMA = 'windtunnel.panel-dialect/1';
export const DIALECTS = ['marzban', 'pasarguard', '3x-ui', '3x-ui-1'];

/** @typedef {(value: any, at: string) => string | undefined} Check the first fault of a value at a place of the file, in words; undefined without */

/** @param {(value: any) => boolean} holds @param {string} words @returns {Check} */
const that = (holds, words) => (value, at) => (holds(value) ? undefined : `${at}: not ${words}`);
/** @param {any[]} values @param {string} words */
const oneOf = (values, words) => that((value) => values.includes(value), words);
/** @param {Check} check @returns {Check} */
const optional = (check) => (value, at) => (value === undefined ? undefined : check(value, at));
/** @param {Check} check @returns {Check} */
const orNull = (check) => (value, at) => (value === null ? undefined : check(value, at));

const isText = (/** @type {unknown} */ value) => typeof value === 'string';
const isObject = (/** @type {unknown} */ value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {string} at @param {string} name */
const below = (at, name) => (at ? `${at}.${name}` : name);

/** An object with these fields, and with no others. @param {Record<string, Check>} checks @returns {Check} */
const fields = (checks) => (value, at) => {
  if (!isObject(value)) return `${at || 'the file'}: not an object`;
  const strange = Object.keys(value).find((name) => !(name in checks));
  if (strange) return `${below(at, strange)}: no such field; there are ${Object.keys(checks).join(', ')}`;
  const faults = Object.entries(checks).map(([name, check]) => check(value[name], below(at, name)));
  return faults.find(Boolean);
};

/** An object with any fields. @param {Check} ofName @param {Check} check of each field @returns {Check} */
const each = (ofName, check) => (value, at) => {
  if (!isObject(value)) return `${at}: not an object`;
  const faults = Object.entries(value).map(
    ([name, one]) => ofName(name, below(at, name)) ?? check(one, below(at, name)),
  );
  return faults.find(Boolean);
};

const TEXT = that(isText, 'a text');
const TEXTS = that((value) => Array.isArray(value) && value.every(isText), 'a list of texts');
const PATH = that((value) => isText(value) && /^\/[^\s#]*$/.test(value), 'a path that begins with /');
const STATUS = that(
  (value) => Number.isInteger(value) && value >= 200 && value < 300,
  'a number from 200 to 299',
);
const OBJECT = that(isObject, 'an object');
const VALUE = that((value) => value !== undefined, 'a value');
/** A value of a column. */
const CELL = that(
  (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  'a text, a number, true, false or null',
);
const REQUEST = fields({
  method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'GET, POST, PUT, PATCH or DELETE'),
  path: PATH,
  status: optional(STATUS),
  user: optional(TEXT),
  body: optional(OBJECT),
  part: optional(TEXT),
});
const OPERATIONS = ['create', 'read', 'enable', 'disable', 'delete', 'list', 'system', 'restart'];
const KINDS = ['links', 'clash', 'sing-box', 'outline'];
const FORMAT_NAME = that((name) => /^[a-z][a-z0-9_]*$/.test(name), 'a name of small letters, digits and _');
const FORMAT = fields({ kind: oneOf(KINDS, KINDS.join(', ')), agent: TEXT });
/** A table or a column. The name becomes a part of a statement, so it has no quote. */
const NAME = that((value) => isText(value) && /^\w+$/.test(value), 'a name of letters, digits and _');
const TABLES = fields({
  users: fields({
    name: NAME,
    id: NAME,
    username: NAME,
    note: NAME,
    status: fields({ column: NAME, active: CELL, disabled: CELL }),
    row: each(NAME, CELL),
  }),
  proxies: fields({
    name: NAME,
    user: NAME,
    type: NAME,
    settings: NAME,
    protocols: each(TEXT, fields({ type: CELL, settings: OBJECT })),
  }),
});
const FILE = fields({
  schema: oneOf([SCHEMA], SCHEMA),
  title: TEXT,
  login: orNull(PATH),
  cookie: optional(TEXT),
  at_once: optional(that((value) => Number.isInteger(value) && value > 0, 'a whole number from 1')),
  sign: fields({
    path: PATH,
    is: oneOf(['object', 'array'], 'object or array'),
    with: optional(TEXTS),
    without: optional(TEXTS),
  }),
  success: optional(TEXT),
  operations: fields(Object.fromEntries(OPERATIONS.map((name) => [name, REQUEST]))),
  fields: fields({
    users: TEXT,
    total: orNull(TEXT),
    figures: TEXT,
    username: TEXT,
    note: TEXT,
    status: fields({ field: TEXT, active: VALUE, disabled: VALUE }),
  }),
  filters: fields({ search: TEXT, active: TEXT, disabled: TEXT }),
  needs: TEXTS,
  subscription: orNull(fields({ url: TEXT, keys: TEXT, formats: each(FORMAT_NAME, FORMAT) })),
  tables: orNull(TABLES),
});

/** Puts values into the {names} of every text. @param {any} template @param {Record<string, string | number>} values @returns {any} */
export function filled(template, values) {
  if (typeof template === 'string')
    return template.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all));
  if (Array.isArray(template)) return template.map((one) => filled(one, values));
  if (!isObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, values)]));
}

/** Both objects in one; the second one's values win. @param {any} one @param {any} other @returns {any} */
function merged(one, other) {
  if (!isObject(one) || !isObject(other)) return other;
  const both = Object.entries(other).map(([name, value]) => [
    name,
    name in one ? merged(one[name], value) : value,
  ]);
  return { ...one, ...Object.fromEntries(both) };
}

/** The part of an answer at a path; '' is the whole answer. @param {any} response @param {string} path */
const at = (response, path) => partOf(response, path === '' ? undefined : path);

export class Dialect {
  /** @param {string} name @param {DialectFile} file */
  constructor(name, file) {
    this.name = name;
    this.file = file;
    /** Whether each list has all users: it takes neither a page nor a filter. */
    this.isWhole = file.fields.total === null;
    /** Whether the panel wants the users' keys from its client. */
    this.takesKeys = JSON.stringify(file.operations).includes('{key}');
  }

  /** @param {Operation} operation @param {Record<string, string | number>} [values] for {name}, {offset}, {limit} */
  path(operation, values = {}) {
    const { offset = 0, limit = 1 } = values;
    const page = Math.floor(Number(offset) / Number(limit)) + 1;
    return filled(this.file.operations[operation].path, { page, ...values });
  }

  /** A list's path. @param {{ offset: number, limit: number, search?: string, status?: string }} wanted @param {object} [user] of the environment */
  listPath({ offset, limit, search = '', status = '' }, user = {}) {
    const { filters } = this.file;
    const parts = [
      search && filled(filters.search, { search }),
      status && filters[/** @type {'active' | 'disabled'} */ (status)],
    ];
    return this.path('list', { ...user, offset, limit }) + parts.join('');
  }

  /** The body of a request; null: none. @param {Operation} operation @param {Record<string, string>} values @param {any} [user] of the environment */
  body(operation, values, user = {}) {
    const { body, part = operation === 'create' ? '' : undefined } = this.file.operations[operation];
    if (body === undefined) return null;
    const given = part === undefined ? {} : part === '' ? user : (user[part] ?? {});
    return JSON.stringify(merged(given, filled(body, { ...user, ...values })));
  }

  /** @param {Operation} operation */
  method(operation) {
    return this.file.operations[operation].method;
  }

  /**
   * The fault of an answer of 2xx to an operation; null: no fault.
   * @param {Operation} operation @param {Answer} response @returns {string | null}
   */
  fault(operation, response) {
    const { status } = this.file.operations[operation];
    if (status !== undefined && response.status !== status) return `${this.file.title} answers ${status}`;
    return this.isRefused(response) ? `a refusal: ${this.file.success} is not true` : null;
  }

  /** Whether an answer of 2xx is a refusal. @param {Answer} response */
  isRefused(response) {
    const { success } = this.file;
    return success !== undefined && at(response, success) !== true;
  }

  /** @param {Operation} operation @param {Answer} response */
  accepts(operation, response) {
    return isAccepted(response) && this.fault(operation, response) === null;
  }

  /** Whether an answer to an operation names its user. @param {Operation} operation */
  namesUser(operation) {
    return this.file.operations[operation].user !== undefined;
  }

  /** The user in an answer to an operation. @param {Operation} operation @param {any} response @param {string} name @returns {User | undefined} */
  userIn(operation, response, name) {
    const user = at(response, filled(this.file.operations[operation].user ?? '', { name }));
    return isObject(user) ? this.user(user) : undefined;
  }

  /** @typedef {{ username: any, status: any, note: any, subscription_url?: any }} User as Marzban names the fields */

  /** @param {any} user as the panel has it @returns {User} */
  user(user) {
    const { username, note, status } = this.file.fields;
    const found = user?.[status.field];
    const known = found === status.active ? 'active' : found === status.disabled ? 'disabled' : found;
    return { ...user, username: user?.[username], note: user?.[note], status: known };
  }

  /** The users of a list; undefined without. @param {any} response @returns {User[] | undefined} */
  users(response) {
    const users = at(response, this.file.fields.users);
    return Array.isArray(users) ? users.map((user) => this.user(user)) : undefined;
  }

  /** @param {any} response */
  total(response) {
    return at(response, this.file.fields.total ?? '');
  }

  /** The object of the system's figures. @param {any} response */
  figures(response) {
    return at(response, this.file.fields.figures);
  }

  /** Whether an answer at the sign's path is this panel's. @param {any} response */
  isSigned(response) {
    const { is, with: must = [], without = [] } = this.file.sign;
    const body = isAccepted(response) ? partOf(response) : undefined;
    const fits = is === 'array' ? Array.isArray(body) : isObject(body);
    return fits && must.every((name) => name in body) && !without.some((name) => name in body);
  }

  /** The field that the environment's user lacks; undefined if none. @param {Record<string, unknown>} user */
  lackOf(user) {
    return this.file.needs.find((name) => !(name in user));
  }
}

/**
 * In the init phase: reads a dialect. Throws a line on the first bad field.
 * @param {string} given a name, or the path of a file
 * @param {string} [folder] to which a relative path refers
 * @returns {Dialect}
 */
export function readDialect(given, folder = '') {
  const own = /\.json$/.test(given);
  const path = own
    ? given.startsWith('/')
      ? given
      : folder + given
    : import.meta.resolve(`./dialects/${given}.json`);
  const text = own || DIALECTS.includes(given) ? textAt(path) : null;
  if (text === null)
    throw `dialect ${given}: no such dialect; there are ${DIALECTS.join(', ')}, and any file that ends in .json`;
  let file;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw `dialect ${given}: no JSON: ${/** @type {Error} */ (error).message}`;
  }
  const fault = FILE(file, '');
  if (fault) throw `dialect ${given}: ${fault}`;
  return new Dialect(given, file);
}
