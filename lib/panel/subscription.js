/** Reads a subscription in each client's format, and judges whose keys it holds. Keys are compared, and never shown. */
import encoding from 'k6/encoding';
import { attempt } from '../attempt.js';

/** @typedef {import('./dialect.js').Format} Format */
/** @typedef {{ name: string, address: string, protocols: string[], keys: string[], before: string[] }} Subscriber `before`: its keys before their changes */

/** `auth` is PasarGuard's name of a Hysteria key. */
const KEY_FIELDS = ['password', 'id', 'uuid', 'auth'];

/** The keys in a user's settings by protocol, such as `proxies`; protocols without a key are left out. @param {any} settings @returns {string[]} */
export const keysOf = (settings) =>
  Object.values(settings ?? {})
    .map((one) => KEY_FIELDS.map((field) => one?.[field]).find(Boolean))
    .filter((key) => typeof key === 'string');

/** @param {string} text of base64, with either alphabet, with or without padding @returns {string} '' if the text is no base64 */
function decoded(text) {
  const plain = text.trim().replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(plain)) return '';
  return attempt(() => String(encoding.b64decode(plain, 'rawstd', 's')), '');
}

/** @param {string} text @returns {any} undefined if the text is no JSON */
const jsonOf = (text) => attempt(() => JSON.parse(text), undefined);

/** A text without %-escapes; the text itself, if a percent sign in it is no escape. @param {string} text */
const unescaped = (text) => attempt(() => decodeURIComponent(text), text);

/** The key of a share link: before the at sign; of VMess in JSON in base64, of Shadowsocks after its method, also in base64. @param {string} link @returns {string} */
function keyOfLink(link) {
  const [, scheme, whole = '', user = ''] = /^([a-z0-9]+):\/\/(([^@#?]*)(?:@[^#]*)?)/.exec(link) ?? [];
  if (scheme === 'vmess') return jsonOf(decoded(whole))?.id ?? '';
  const plain = unescaped(user);
  if (scheme !== 'ss') return plain;
  const inner = decoded(user) || plain;
  return inner.slice(inner.indexOf(':') + 1);
}

/** The keys of each format's servers; null: the text is not of this format. @type {Record<Format['kind'], (text: string) => string[] | null>} */
const READ = {
  links(text) {
    const links = decoded(text);
    if (links === '') return text.trim() === '' ? [] : null;
    const lines = links.split('\n').filter(Boolean);
    return lines.every((line) => /^[a-z0-9]+:\/\//.test(line)) ? lines.map(keyOfLink) : null;
  },
  clash(text) {
    if (!/^proxies:/m.test(text)) return null;
    const found = [...text.matchAll(/\b(?:password|uuid):\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}]+)/g)];
    return found.map(([, value]) =>
      value.startsWith('"') ? jsonOf(value) : value.replace(/^'(.*)'$/, '$1'),
    );
  },
  'sing-box'(text) {
    const { outbounds } = jsonOf(text) ?? {};
    return Array.isArray(outbounds) ? outbounds.flatMap((one) => keysOf([one])) : null;
  },
  outline(text) {
    const one = jsonOf(text);
    return typeof one === 'object' && one !== null && !Array.isArray(one) ? keysOf([one]) : null;
  },
};

/**
 * The fault of a subscription; null: it holds the user's own keys and no other. Formats carry some protocols only:
 * one of the user's keys is enough.
 * @param {string} text the answer @param {Format} format @param {Subscriber} user
 * @param {(key: string) => boolean} isOthers whether a key belongs to another user of the run
 * @returns {string | null}
 */
export function faultOf(text, { kind }, user, isOthers) {
  const keys = READ[kind](text);
  if (keys === null) return `no subscription of the format ${kind}`;
  if (keys.length === 0) return 'no server in it';
  if (keys.some((key) => !user.keys.includes(key) && isOthers(key))) return "another user's keys";
  if (keys.some((key) => user.before.includes(key))) return 'the keys before their change';
  return keys.every((key) => user.keys.includes(key)) ? null : "keys that are not the user's own";
}
