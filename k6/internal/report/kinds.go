// SPDX-License-Identifier: AGPL-3.0-only

package report

import "strings"

// kinds explains the kinds of errors that lib/errors.js names.
var kinds = map[string]string{
	"http_400":           "the target did not understand the request (400)",
	"http_401":           "the target refused the token (401): check the user, the password or the token variable",
	"http_403":           "the target forbade the request (403): the account lacks a permission",
	"http_404":           "the target knows no such address or topic (404)",
	"http_409":           "the target found a conflict with what is there already (409)",
	"http_422":           "the target found the request's content invalid (422)",
	"http_429":           "the target limited the rate (429): turn its limiter off for the test, or stay below it",
	"http_4xx":           "the target refused the request (another 4xx)",
	"http_5xx":           "the target failed (5xx): see its log",
	"http_other":         "the target answered a status that was not expected",
	"connection_refused": "nothing accepted the connection: the target is down or died in mid-run",
	"connection_reset":   "the target broke the connection off",
	"timeout":            "the target did not answer in time",
	"dns":                "the target's name could not be resolved",
	"tls":                "the TLS handshake failed: check the certificate",
	"network":            "another network error",
	"bad_response":       "the status was right, the content was not",
	"rejected":           "the target rejected single messages of accepted batches",
	"ws_refused":         "the target refused the WebSocket handshake: wrong WebSocket authentication, or its limit of connections",
	"ws_close_1000":      "the target closed the WebSocket normally (1000) while it was still needed",
	"ws_close_1001":      "the target went away (1001): it stopped or restarted",
	"ws_close_1006":      "the WebSocket broke off without a close frame (1006)",
	"ws_close_1008":      "the target closed the WebSocket by policy (1008): wrong token, or too many connections",
	"ws_close_1011":      "the target closed the WebSocket with an internal error or an idle time-out (1011)",
	"ws_close_1012":      "the target restarted (1012)",
	"ws_close_1013":      "the target asked to try again later (1013): it is overloaded",
	"ws_close_other":     "the target closed the WebSocket with another code",
	"ws_error":           "an error on the WebSocket, or an error frame from the target",
	"lost":               "messages that the target had accepted were not delivered",
	"duplicated":         "messages were delivered more than once",
	"out_of_order":       "messages arrived in another order than they were published",
	"unexpected":         "something that was not expected: see the log of k6",
}

// explain says in words what a kind of error is.
func explain(kind string) string {
	if text, ok := kinds[kind]; ok {
		return text
	}
	return strings.ReplaceAll(kind, "_", " ")
}
