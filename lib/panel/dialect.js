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
 * @property {string} path with {name}, {offset}, {limit} or {page}, the page's number from 1
 * @property {number} [status] the only status of a success; any 2xx unless given
 * @property {string} [user] where the answer has the user, '' for the whole answer; an answer has no user unless given
 * @property {object} [body] with {name} and {note}; of `create`, the environment's `user` is put into it
 */
/** @typedef {{ path: string, is: 'object' | 'array', with?: string[], without?: string[] }} Sign an address with different answers of panels */
/**
 * @typedef {object} DialectFile
 * @property {string} title
 * @property {string | null} login path of the log-in form; null: the panel takes only a token
 * @property {Sign} sign
 * @property {string} [success] field of every answer that is false in a refusal with a status of 2xx
 * @property {Record<Operation, Request>} operations
 * @property {{ users: string, total: string, figures: string, username: string, note: string, status: { field: string, active: unknown, disabled: unknown } }} fields
 * @property {{ search: string, active: string, disabled: string }} filters parts of a list's query, with {search}
 * @property {string[]} needs fields of the environment's `user`
 * @property {Subscription | null} subscription null: subscriptions cannot be asked for
 * @property {'marzban' | null} tables whether users can be seeded and counted by SQL
 */
/** @typedef {{ kind: 'links' | 'clash' | 'sing-box' | 'outline', agent: string }} Format of a subscription. `agent` is a client that gets this format. */
/** @typedef {{ url: string, keys: string, formats: Record<string, Format> }} Subscription fields of a user. `url` is the address. `keys` has the settings of protocols. */
/** @typedef {{ status: number, json?: Function }} Answer */

const SCHEMA = 'windtunnel.panel-dialect/1';
export const DIALECTS = ['marzban', 'pasarguard', '3x-ui'];

const isText = (/** @type {unknown} */ value) => typeof value === 'string';
const isPath = (/** @type {unknown} */ value) => isText(value) && /^\/[^\s#]*$/.test(String(value));
const isObject = (/** @type {unknown} */ value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (/** @type {unknown} */ value) => Array.isArray(value) && value.every(isText);
const oneOf = (/** @type {unknown[]} */ values) => (/** @type {unknown} */ value) => values.includes(value);
const optional = (/** @type {(value: unknown) => boolean} */ check) => (/** @type {unknown} */ value) =>
  value === undefined || check(value);
const isStatus = (/** @type {unknown} */ value) =>
  Number.isInteger(value) && Number(value) >= 200 && Number(value) < 300;

const KINDS = ['links', 'clash', 'sing-box', 'outline'];
/** @param {any} value */
const isSubscription = (value) =>
  value === null ||
  (isObject(value) &&
    [value.url, value.keys].every(isText) &&
    isObject(value.formats) &&
    Object.entries(value.formats).every(
      ([name, format]) =>
        /^[a-z][a-z0-9_]*$/.test(name) && KINDS.includes(format?.kind) && isText(format.agent),
    ));

/** The fields of a request: a check, and its words. */
const REQUEST = {
  method: [oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']), 'GET, POST, PUT, PATCH or DELETE'],
  path: [isPath, 'a path that begins with /'],
  status: [optional(isStatus), 'a number from 200 to 299'],
  user: [optional(isText), 'a text'],
  body: [optional(isObject), 'an object'],
};
const OPERATIONS = ['create', 'read', 'enable', 'disable', 'delete', 'list', 'system', 'restart'];
const TEXT = [isText, 'a text'];
/** The fields of a dialect file. */
const FIELDS = {
  schema: [oneOf([SCHEMA]), SCHEMA],
  title: TEXT,
  login: [(/** @type {unknown} */ value) => value === null || isPath(value), 'a path, or null'],
  sign: {
    path: REQUEST.path,
    is: [oneOf(['object', 'array']), 'object or array'],
    with: [optional(isTexts), 'a list of texts'],
    without: [optional(isTexts), 'a list of texts'],
  },
  success: [optional(isText), 'a text'],
  operations: Object.fromEntries(OPERATIONS.map((name) => [name, REQUEST])),
  fields: {
    users: TEXT,
    total: TEXT,
    figures: TEXT,
    username: TEXT,
    note: TEXT,
    status: {
      field: TEXT,
      active: [(/** @type {unknown} */ value) => value !== undefined, 'a value'],
      disabled: [(/** @type {unknown} */ value) => value !== undefined, 'a value'],
    },
  },
  filters: { search: TEXT, active: TEXT, disabled: TEXT },
  needs: [isTexts, 'a list of texts'],
  subscription: [
    isSubscription,
    `null, or url, keys and formats, each with an agent and a kind: ${KINDS.join(', ')}`,
  ],
  tables: [oneOf(['marzban', null]), 'marzban or null'],
};

/**
 * The first bad field of a dialect, in words; undefined without.
 * @param {any} value @param {any} fields @param {string} [at] @returns {string | undefined}
 */
function faultOf(value, fields, at = '') {
  if (!isObject(value)) return `${at.slice(0, -1) || 'the file'}: not an object`;
  const strange = Object.keys(value).find((name) => !(name in fields));
  if (strange) return `${at}${strange}: no such field; there are ${Object.keys(fields).join(', ')}`;
  for (const [name, check] of Object.entries(fields)) {
    if (!Array.isArray(check)) {
      const fault = faultOf(value[name], check, `${at}${name}.`);
      if (fault) return fault;
    } else if (!check[0](value[name])) return `${at}${name}: not ${check[1]}`;
  }
  return undefined;
}

/** Puts values into the {names} of every text. @param {any} template @param {Record<string, string | number>} values @returns {any} */
function filled(template, values) {
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
  }

  /** @param {Operation} operation @param {Record<string, string | number>} [values] for {name}, {offset}, {limit} */
  path(operation, values = {}) {
    const { offset = 0, limit = 1 } = values;
    const page = Math.floor(Number(offset) / Number(limit)) + 1;
    return filled(this.file.operations[operation].path, { page, ...values });
  }

  /** A list's path. @param {{ offset: number, limit: number, search?: string, status?: string }} wanted */
  listPath({ offset, limit, search = '', status = '' }) {
    const { filters } = this.file;
    const parts = [
      search && filled(filters.search, { search }),
      status && filters[/** @type {'active' | 'disabled'} */ (status)],
    ];
    return this.path('list', { offset, limit }) + parts.join('');
  }

  /** The body of a request; null: none. @param {Operation} operation @param {{ name: string, note: string }} values @param {object} [user] of the environment */
  body(operation, values, user = {}) {
    const { body } = this.file.operations[operation];
    return body === undefined ? null : JSON.stringify(merged(user, filled(body, values)));
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

  /** The user in an answer to an operation. @param {Operation} operation @param {any} response @returns {User | undefined} */
  userIn(operation, response) {
    const user = at(response, this.file.operations[operation].user ?? '');
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
    return at(response, this.file.fields.total);
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
  const fault = faultOf(file, FIELDS);
  if (fault) throw `dialect ${given}: ${fault}`;
  return new Dialect(given, file);
}
