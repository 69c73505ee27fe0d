/**
 * Kinds of errors: a short fixed list. A kind is a value of the metric tag `kind` and a key of a result's `errors`.
 * docs/reference/errors.md explains each kind.
 */

import { textOf } from './file.js';

/** @typedef {keyof typeof import('../k6/lists/kinds.json')} ErrorKind */
/** @typedef {{ says: string, at_set_up?: string, busy_machine?: boolean }} Kind see k6/internal/kinds */

const TEXT = textOf(import.meta.resolve('../k6/lists/kinds.json'));

/** @type {Record<ErrorKind, Kind> | undefined} */
let list;

/** All kinds. A virtual user without an error parses no list. */
const kinds = () => (list ??= /** @type {Record<ErrorKind, Kind>} */ (JSON.parse(TEXT)));

/** Whether an operation may report it. @param {string} kind @returns {kind is ErrorKind} */
export const isKind = (kind) => Object.hasOwn(kinds(), kind);

/** Whether a busy machine can cause it. All other kinds are evidence against the system under test. @param {string} kind */
export const isOfBusyMachine = (kind) => isKind(kind) && Boolean(kinds()[kind].busy_machine);

/** The own kind of a status or a code; undefined without. @param {string} kind @returns {ErrorKind | undefined} */
const own = (kind) => (isKind(kind) ? kind : undefined);

/**
 * k6's error codes: https://grafana.com/docs/k6/latest/javascript-api/error-codes/
 * @param {number} code
 * @returns {ErrorKind}
 */
function ofErrorCode(code) {
  if (code === 1212) return 'connection_refused';
  if (code === 1220 || code === 1201) return 'connection_reset';
  if (code === 1050 || code === 1211) return 'timeout';
  if (code >= 1100 && code < 1200) return 'dns';
  if (code >= 1300 && code < 1400) return 'tls';
  return 'network';
}

/**
 * A limit of the load generator, found by Go's texts for EMFILE and ENFILE, EADDRNOTAVAIL and ENOBUFS.
 * @param {string} text
 * @returns {ErrorKind | undefined}
 */
function ofOwnLimit(text) {
  if (/too many open files/i.test(text)) return 'too_many_files';
  if (/cannot assign requested address/i.test(text)) return 'ports_exhausted';
  if (/no buffer space available/i.test(text)) return 'no_buffers';
  return undefined;
}

/**
 * The kind of a 5xx. Texts in the body reveal a database problem: SQLite's and MySQL's texts for a lock (error codes
 * 1205 and 1213), and SQLAlchemy's text for an exhausted connection pool.
 * @param {unknown} body
 * @returns {ErrorKind}
 */
function ofServerError(body) {
  const text = typeof body === 'string' ? body : '';
  if (/database( table)? is locked|lock wait timeout exceeded|deadlock found/i.test(text))
    return 'database_locked';
  if (/no database connection is free|QueuePool limit/i.test(text)) return 'database_pool';
  return 'http_5xx';
}

/**
 * The kind of an unexpected HTTP response.
 * @param {{ status: number, error_code: number, error?: string, body?: unknown }} response
 * @returns {ErrorKind}
 */
export function ofResponse(response) {
  const { status } = response;
  if (status === 0) {
    const text = response.error ?? '';
    if (response.error_code === 1000) return ofText(text);
    // k6 has no code for a TLS refusal by the server: "remote error: tls: certificate required".
    if (/\btls: |x509: /.test(text)) return 'tls';
    return ofOwnLimit(text) ?? ofErrorCode(response.error_code);
  }
  if (status >= 500) return ofServerError(response.body);
  const kind = own(`http_${status}`);
  if (kind) return kind;
  if (status >= 400) return 'http_4xx';
  if (status >= 300) return 'http_redirect';
  return 'http_other';
}

/**
 * The kind of an error that is known only by its text, such as a WebSocket error.
 * @param {string} text
 * @returns {ErrorKind}
 */
export function ofText(text) {
  const limit = ofOwnLimit(text);
  if (limit) return limit;
  if (/connection refused/i.test(text)) return 'connection_refused';
  if (/reset by peer|broken pipe|\bEOF\b/i.test(text)) return 'connection_reset';
  if (/timeout|deadline exceeded/i.test(text)) return 'timeout';
  if (/bad handshake/i.test(text)) return 'ws_refused';
  if (/no such host|lookup/i.test(text)) return 'dns';
  if (/x509|tls:/i.test(text)) return 'tls';
  return 'network';
}

/**
 * The kind of a failed gRPC call.
 * @param {number} status 4: DEADLINE_EXCEEDED; 14: UNAVAILABLE, of a server that cannot be reached, or says so
 * @param {string} text
 * @returns {ErrorKind}
 */
export function ofGrpc(status, text) {
  if (status === 4) return 'timeout';
  if (status !== 14) return 'bad_response';
  const kind = ofText(text);
  return kind === 'network' ? 'connection_refused' : kind;
}

/**
 * The kind of a refused WebSocket handshake.
 * @param {number} status of the answer; 0 and 101: a repeated handshake succeeded, or no answer came
 * @returns {ErrorKind}
 */
export function ofHandshake(status) {
  const kind = own(`ws_http_${status}`);
  if (kind) return kind;
  if (status >= 500) return 'ws_http_5xx';
  if (status >= 400) return 'ws_http_4xx';
  if (status >= 300) return 'ws_redirect';
  return 'ws_refused';
}

/**
 * The kind of a WebSocket that closed too early.
 * @param {number | undefined} code RFC 6455 close code; undefined if the peer sent no code
 * @returns {ErrorKind}
 */
export function ofClose(code) {
  if (code === undefined || code === 0) return 'ws_close_1006';
  return own(`ws_close_${code}`) ?? 'ws_close_other';
}

/** @param {string} kind @returns {Kind | undefined} */
const kindOf = (kind) => kinds()[/** @type {ErrorKind} */ (kind)];

/** One line that explains a kind of error. @param {string} kind */
export const explain = (kind) => kindOf(kind)?.says || kind.replace(/_/g, ' ');

/** The remedy if the set-up of a data plane fails with a kind. @param {string} kind */
export const mendAtSetUp = (kind) => kindOf(kind)?.at_set_up ?? explain(kind);
