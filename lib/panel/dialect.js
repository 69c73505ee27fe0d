/**
 * The differences between panels, from a dialect file: lib/panel/dialects/NAME.json, or another file.
 * k6/schemas/panel-dialect.schema.json describes every field.
 */
import { dialectProblems } from 'k6/x/windtunnel/environment';
import { isAccepted, partOf } from '../answers.js';
import { textAt } from '../file.js';

/** @typedef {import('../../types/panel-dialect.d.ts').PanelDialect} DialectFile */
/** @typedef {keyof DialectFile['operations']} Operation */
/** @typedef {NonNullable<DialectFile['tables']>} Tables */
/** @typedef {NonNullable<DialectFile['subscription']>['formats'][string]} Format */
/** @typedef {{ status: number, json?: Function }} Answer */

export const DIALECTS = ['marzban', 'pasarguard', '3x-ui', '3x-ui-1'];

const isObject = (/** @type {unknown} */ value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
  // Each VU reads the file again: only the first checks it.
  const [fault] = __VU > 0 ? [] : dialectProblems(text);
  if (fault) throw `dialect ${given}: ${fault}`;
  return new Dialect(given, JSON.parse(text));
}
