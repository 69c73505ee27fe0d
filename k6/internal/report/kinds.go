// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"strings"

	"windtunnel/k6/internal/result"
)

// kinds explains the kinds of errors that lib/errors.js names.
var kinds = map[string]string{
	"http_400":                    "the target did not understand the request (400)",
	"http_401":                    "the target refused the token (401): check the user, the password or the token variable",
	"http_403":                    "the target forbade the request (403): the account lacks a permission",
	"http_404":                    "the target does not know what was asked for (404)",
	"http_409":                    "the target found a conflict with what is there already (409)",
	"http_422":                    "the target found the request's content invalid (422)",
	"http_429":                    "the target limited the rate (429): turn its limiter off for the test, or stay below it",
	"http_4xx":                    "the target refused the request (another 4xx)",
	"http_5xx":                    "the target failed (5xx): see its log",
	"http_other":                  "the target answered a status that was not expected",
	"database_locked":             "the target's database was locked: too many writers at once for it, or a long transaction",
	"database_pool":               "no connection to the database was free in time: the target's pool is smaller than the load",
	"connection_refused":          "nothing accepted the connection: the target is down or died in mid-run",
	"connection_reset":            "the target broke the connection off",
	"timeout":                     "the target did not answer in time",
	"cut":                         "begun, or planned, and never answered",
	"dns":                         "the target's name could not be resolved",
	"tls":                         "the TLS handshake failed: check the certificate",
	"network":                     "another network error",
	"bad_response":                "the status was right, the content was not",
	"rejected":                    "the target rejected single messages of accepted batches",
	"ws_refused":                  "the target refused the WebSocket handshake: wrong WebSocket authentication, or its limit of connections",
	"ws_close_1000":               "the target closed the WebSocket normally (1000) while it was still needed",
	"ws_close_1001":               "the target went away (1001): it stopped or restarted",
	"ws_close_1006":               "the WebSocket broke off without a close frame (1006)",
	"ws_close_1008":               "the target closed the WebSocket by policy (1008): wrong token, or too many connections",
	"ws_close_1011":               "the target closed the WebSocket with an internal error or an idle time-out (1011)",
	"ws_close_1012":               "the target restarted (1012)",
	"ws_close_1013":               "the target asked to try again later (1013): it is overloaded",
	"ws_close_other":              "the target closed the WebSocket with another code",
	"ws_error":                    "an error on the WebSocket, or an error frame from the target",
	"lost":                        "messages or datagrams did not arrive",
	"duplicated":                  "messages were delivered more than once",
	"out_of_order":                "messages arrived in another order than they were published",
	"socks_general_failure":       "the proxy reported a general failure (SOCKS reply 1): see its log",
	"socks_not_allowed":           "the proxy's rules do not allow the target (SOCKS reply 2)",
	"socks_network_unreachable":   "the proxy cannot reach the target's network (SOCKS reply 3)",
	"socks_host_unreachable":      "the proxy cannot reach the target (SOCKS reply 4)",
	"socks_connection_refused":    "the target refused the proxy (SOCKS reply 5): nothing listens there",
	"socks_ttl_expired":           "a packet of the proxy's expired on its way to the target (SOCKS reply 6)",
	"socks_command_not_supported": "the proxy does not do what was asked (SOCKS reply 7): UDP may be off",
	"socks_address_not_supported": "the proxy does not take this type of address (SOCKS reply 8)",
	"socks_reply_other":           "the proxy refused with a code that RFC 1928 does not define",
	"socks_no_method":             "the proxy takes none of the authentication methods that were offered: check auth.mode of the environment",
	"socks_auth_failed":           "the proxy refused the user name or the password",
	"socks_garbage":               "the proxy's answer is not SOCKS5: check its address",
	"closed":                      "the other end closed the connection half-way",
	"stalled":                     "nothing at all came back for the stall time-out",
	"corrupted":                   "the payload that came back differs from what was sent",
	"truncated":                   "a datagram came back shorter than it was sent",
	"control_closed":              "the proxy closed the control connection of the UDP association",
	"dns_nxdomain":                "the DNS server says that a name does not exist which does (NXDOMAIN)",
	"dns_servfail":                "the DNS server could not get an answer (SERVFAIL): see the log of the proxy",
	"dns_refused":                 "the DNS server refused to answer (REFUSED): check its rules",
	"dns_other":                   "the DNS server answered with another RCODE than NOERROR",
	"too_many_files":              "the generator may open no more files and sockets: raise the limit (ulimit -n), or ask for fewer connections",
	"ports_exhausted":             "the generator has no local port left for the target: ask for fewer connections at a time or a second",
	"no_buffers":                  "the generator's kernel has no room left for packets: ask for less at a time",
	"unexpected":                  "something that was not expected: see the log of k6",
}

// throughProxy are the words for what met operations through a proxy, where the same without it was clean: the target is not
// to blame.
var throughProxy = map[string]string{
	"connection_refused": "nothing accepted the connection: the proxy is down or died in mid-run",
	"connection_reset":   "the proxy broke connections off: without it none broke",
	"timeout":            "the proxy brought no answer in time: without it there were answers",
	"closed":             "the proxy closed the connection half-way: without it none was closed",
	"stalled":            "nothing at all came through the proxy for the stall time-out: without it answers came",
}

// explainOf says what a kind of error of an operation is.
func explainOf(r result.Result, op result.Operation, kind string) string {
	for _, c := range r.Controls {
		if c.Operation != op.Name {
			continue
		}
		control, ok := r.Find(c.Control)
		if text, known := throughProxy[kind]; ok && known && control.Errors[kind] == 0 {
			return text
		}
	}
	return explain(kind)
}

// explain says in words what a kind of error is.
func explain(kind string) string {
	if text, ok := kinds[kind]; ok {
		return text
	}
	return strings.ReplaceAll(kind, "_", " ")
}
