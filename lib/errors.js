/**
 * Names for what can go wrong, few and bounded: they become values of the metric
 * tag `kind` and keys of a result's `errors`. docs/numbers.md explains each.
 */

/** Every kind that an operation may report; submetrics are declared from it. */
export const KINDS = /** @type {const} */ ([
  'http_400',
  'http_401',
  'http_403',
  'http_404',
  'http_409',
  'http_422',
  'http_429',
  'http_4xx',
  'http_5xx',
  'http_other',
  'database_locked',
  'database_pool',
  'connection_refused',
  'connection_reset',
  'timeout',
  'cut',
  'dns',
  'tls',
  'network',
  'bad_response',
  'rejected',
  'ws_refused',
  'ws_close_1000',
  'ws_close_1001',
  'ws_close_1006',
  'ws_close_1008',
  'ws_close_1011',
  'ws_close_1012',
  'ws_close_1013',
  'ws_close_other',
  'ws_error',
  'lost',
  'duplicated',
  'out_of_order',
  'socks_general_failure',
  'socks_not_allowed',
  'socks_network_unreachable',
  'socks_host_unreachable',
  'socks_connection_refused',
  'socks_ttl_expired',
  'socks_command_not_supported',
  'socks_address_not_supported',
  'socks_reply_other',
  'socks_no_method',
  'socks_auth_failed',
  'socks_garbage',
  'closed',
  'stalled',
  'corrupted',
  'truncated',
  'control_closed',
  'unexpected',
  'dns_nxdomain',
  'dns_servfail',
  'dns_refused',
  'dns_other',
  'too_many_files',
  'ports_exhausted',
  'no_buffers',
]);

/** @typedef {typeof KINDS[number]} ErrorKind */

const OWN_STATUSES = [400, 401, 403, 404, 409, 422, 429];
const OWN_CLOSE_CODES = [1000, 1001, 1006, 1008, 1011, 1012, 1013];

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
 * A limit of the generator's own, by Go's words for EMFILE and ENFILE, EADDRNOTAVAIL and ENOBUFS.
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
 * What a 5xx says of the database behind the target, where it says anything: SQLite's and
 * MySQL's words for a lock (error codes 1205 and 1213), SQLAlchemy's for a pool without a
 * free connection.
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
 * The kind of an HTTP response that is not the expected one.
 * @param {{ status: number, error_code: number, error?: string, body?: unknown }} response
 * @returns {ErrorKind}
 */
export function ofResponse(response) {
  const { status } = response;
  if (status === 0) {
    const text = response.error ?? '';
    if (response.error_code === 1000) return ofText(text);
    return ofOwnLimit(text) ?? ofErrorCode(response.error_code);
  }
  if (OWN_STATUSES.includes(status)) return /** @type {ErrorKind} */ (`http_${status}`);
  if (status >= 500) return ofServerError(response.body);
  if (status >= 400) return 'http_4xx';
  return 'http_other';
}

/**
 * The kind of an error that is only known by its text, as WebSocket errors are.
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
 * The kind of a WebSocket that was closed while it was still needed.
 * @param {number | undefined} code RFC 6455 close code; undefined where none came
 * @returns {ErrorKind}
 */
export function ofClose(code) {
  if (code === undefined || code === 0) return 'ws_close_1006';
  if (OWN_CLOSE_CODES.includes(code)) return /** @type {ErrorKind} */ (`ws_close_${code}`);
  return 'ws_close_other';
}

/** What a reader should do about a kind; only where the name alone does not say it. */
const MENDS = /** @type {Record<string, string>} */ ({
  http_401: 'the target refused the token (401): check the user, the password or the token variable',
  http_403: 'the target forbade the request (403): the account lacks a permission',
  http_429:
    'the target limited the rate (429): turn its limiter off for the test (pulsar-relay: RATELIMIT_ENABLED=false) or stay below it',
  http_404: 'the target does not know what was asked for (404)',
  http_409: 'the target has it already (409)',
  http_422: 'the target found the content of the request invalid (422)',
  http_5xx: 'the target answered 5xx: see its log',
  database_locked: "the target's database was locked: too many writers at once for it, or a long transaction",
  database_pool:
    'no connection to the database was free in time: the pool of the target is smaller than the load (Marzban: SQLALCHEMY_POOL_SIZE)',
  bad_response: 'the target answered with the right status, and not with what was asked for',
  connection_refused: 'nothing accepted the connection: the target is down or died in mid-run',
  connection_reset: 'the target broke connections off',
  timeout: 'the target did not answer in time',
  cut: 'begun, or planned, and not answered when the run or its probe ended',
  ws_refused:
    'the target refused the WebSocket handshake: wrong WebSocket authentication, or its limit of connections (pulsar-relay: PULSAR_WS_MAX_PER_USER)',
  ws_close_1008: 'the target closed WebSockets by policy (1008): wrong token, or too many connections',
  ws_close_1011: 'the target closed WebSockets with an internal error or an idle time-out (1011)',
  lost: 'messages or datagrams did not arrive',
  duplicated: 'messages were delivered more than once',
  out_of_order: 'messages arrived in another order than they were published',
  rejected: 'the target rejected single messages of accepted batches',
  socks_general_failure: 'the proxy reported a general failure (SOCKS reply 1): see its log',
  socks_not_allowed: "the proxy's rules do not allow the target (SOCKS reply 2)",
  socks_network_unreachable: "the proxy cannot reach the target's network (SOCKS reply 3)",
  socks_host_unreachable: 'the proxy cannot reach the target (SOCKS reply 4)',
  socks_connection_refused: 'the target refused the proxy (SOCKS reply 5): nothing listens there',
  socks_ttl_expired: "a packet of the proxy's expired on its way to the target (SOCKS reply 6)",
  socks_command_not_supported: 'the proxy does not do what was asked (SOCKS reply 7): UDP may be off',
  socks_address_not_supported: 'the proxy does not take this type of address (SOCKS reply 8)',
  socks_reply_other: 'the proxy refused with a code that RFC 1928 does not define',
  socks_no_method:
    'the proxy takes none of the authentication methods that were offered: check auth.mode of the environment',
  socks_auth_failed: 'the proxy refused the user name or the password',
  socks_garbage: "the proxy's answer is not SOCKS5: check its address",
  closed: 'the other end closed the connection half-way',
  stalled: 'nothing at all came back for the stall time-out',
  corrupted: 'the payload that came back differs from what was sent',
  truncated: 'a datagram came back shorter than it was sent',
  control_closed: 'the proxy closed the control connection of the UDP association',
  dns_nxdomain: 'the DNS server says that a name does not exist which does (NXDOMAIN)',
  dns_servfail: 'the DNS server could not get an answer (SERVFAIL): see the log of the proxy',
  dns_refused: 'the DNS server refused to answer (REFUSED): check its rules',
  too_many_files:
    'the generator may open no more files and sockets: raise the limit (ulimit -n, as root also its hard part), or ask for fewer connections',
  ports_exhausted:
    'the generator has no local port left for the target: fewer connections at a time or a second, or more ports (sysctl net.ipv4.ip_local_port_range)',
  no_buffers: "the generator's kernel has no room left for packets: ask for less at a time",
  dns_other: 'the DNS server answered with another RCODE than NOERROR',
});

/** Of what goes through a proxy, where the same without it was clean: the target is not to blame. */
const THROUGH_PROXY = /** @type {Record<string, string>} */ ({
  connection_refused: 'nothing accepted the connection: the proxy is down or died in mid-run',
  connection_reset: 'the proxy broke connections off: without it none broke',
  timeout: 'the proxy brought no answer in time: without it there were answers',
  closed: 'the proxy closed the connection half-way: without it none was closed',
  stalled: 'nothing at all came through the proxy for the stall time-out: without it answers came',
});

/**
 * One line on a kind of error, for reasons and reports.
 * @param {string} kind
 * @param {boolean} [proxy] whether it met what goes through a proxy, and not the same without it
 */
export function explain(kind, proxy = false) {
  return (proxy && THROUGH_PROXY[kind]) || MENDS[kind] || kind.replace(/_/g, ' ');
}
