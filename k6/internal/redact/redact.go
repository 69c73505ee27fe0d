// SPDX-License-Identifier: AGPL-3.0-only

// Package redact removes secrets from terminal output, logs and files.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/lists"
)

// known is k6/lists/secrets.json, which the sidecar reads too.
var known = lists.Read[struct {
	Mask     string // replaces a secret.
	Shortest int    // shorter values are not replaced, because ordinary text contains them by chance, bytes.
	// InURL are two ways to find the password in a URL: up to the first @, like SQLAlchemy, and up to the last @ before a
	// path, for a password with an unescaped @.
	InURL         []string `json:"in_url"`
	WebToken      string   `json:"web_token"`
	Parameter     string   // the name of a query parameter whose value is a token.
	ParameterByte string   `json:"parameter_byte"`
}](lists.Secrets)

// Redactor replaces secrets, both plain and in the encodings of requests and logs.
type Redactor struct {
	forms   []string
	longest int
	lines   bool // a secret contains a line break
}

// New makes a redactor for secrets, and for the passwords in secrets that are URLs. It skips secrets of fewer than four
// characters, which would match ordinary text. If a secret equals a public name, such as a system's name, it is replaced
// only in places where secrets appear.
func New(secrets []string, public ...string) *Redactor {
	r := &Redactor{}
	for _, s := range withPasswords(secrets) {
		if len(s) < known.Shortest {
			continue
		}
		if isPublic(s, public) {
			r.forms = append(r.forms, asSecret(s)...)
			continue
		}
		quoted, _ := json.Marshal(s)
		r.forms = append(r.forms, s, url.QueryEscape(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), url.PathEscape(s), asJavaScript.Replace(url.QueryEscape(s)),
			inner(quoted), inner(plainJSON(s)),
			strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "="))
	}
	// Longest first, so that a secret that contains another one is replaced whole.
	slices.SortFunc(r.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.forms = slices.Compact(r.forms)
	r.lines = slices.ContainsFunc(r.forms, func(f string) bool { return strings.Contains(f, "\n") })
	if len(r.forms) > 0 {
		r.longest = len(r.forms[0])
	}
	return r
}

// isPublic reports whether a secret is a public name, or a word of one, such as relay in pulsar-relay.
func isPublic(secret string, public []string) bool {
	apart := func(r rune) bool { return strings.ContainsRune("-_./@:", r) }
	return slices.ContainsFunc(public, func(name string) bool {
		return name == secret || slices.Contains(strings.FieldsFunc(name, apart), secret)
	})
}

// asSecret lists the contexts in which requests, URLs and logs contain a secret that is otherwise an ordinary word.
func asSecret(s string) []string {
	return []string{":" + s + "@", "password=" + s, "token=" + s, `"password":"` + s + `"`, `"password": "` + s + `"`,
		"Bearer " + s, "bearer." + s, strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "=")}
}

// withPasswords adds the passwords of secrets that are URLs, both as written and decoded: a driver's error may show only
// the password.
func withPasswords(secrets []string) []string {
	all := slices.Clone(secrets)
	for _, s := range secrets {
		for _, pattern := range known.InURL {
			if found := regexp.MustCompile(pattern).FindStringSubmatch(s); found != nil {
				all = append(all, found[1])
				if meant, err := url.PathUnescape(found[1]); err == nil {
					all = append(all, meant)
				}
			}
		}
	}
	return all
}

// asJavaScript turns the text of url.QueryEscape into the text of encodeURIComponent.
var asJavaScript = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// plainJSON is a string's JSON as JavaScript writes it.
func plainJSON(s string) []byte {
	text, _ := document.JSON(s) // a string always has a JSON form
	return text
}

func inner(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }

// Text returns text without secrets.
func (r *Redactor) Text(text string) string {
	for _, f := range r.forms {
		text = strings.ReplaceAll(text, f, known.Mask)
	}
	return text
}

// File removes secrets from a file. It rewrites the file only if there are any.
func (r *Redactor) File(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	clean := r.Text(string(data))
	if clean == string(data) {
		return nil
	}
	return run.WriteFile(path, []byte(clean))
}

// Writer returns a writer to w that also redacts secrets split across writes. Close flushes the buffer; it does not
// close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &redactingWriter{redactor: r, w: w}
}

type redactingWriter struct {
	redactor *Redactor
	w        io.Writer
	held     []byte
}

func (w *redactingWriter) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	// If fewer bytes follow than the longest secret has, a secret may be incomplete. A line break completes it, so that
	// the log shows each line at once.
	end := len(w.held) - max(1, w.redactor.longest) + 1
	if !w.redactor.lines {
		end = max(end, bytes.LastIndexByte(w.held, '\n')+1)
	}
	if err := w.flush(end); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *redactingWriter) Close() error { return w.flush(len(w.held)) }

// flush writes what starts before the end-th held byte.
func (w *redactingWriter) flush(end int) error {
	var clean []byte
	i := 0
	for i < end {
		if n := w.redactor.at(w.held[i:]); n > 0 {
			clean = append(clean, known.Mask...)
			i += n
		} else {
			clean = append(clean, w.held[i])
			i++
		}
	}
	w.held = append(w.held[:0], w.held[i:]...)
	if len(clean) == 0 {
		return nil
	}
	_, err := w.w.Write(clean)
	return err
}

// at returns the length of the secret at the start of p, 0 without one.
func (r *Redactor) at(p []byte) int {
	for _, f := range r.forms {
		if bytes.HasPrefix(p, []byte(f)) {
			return len(f)
		}
	}
	return 0
}

// The redactor does not know the tokens that a scenario gets by a login, so it finds them by their form.
var (
	tokenParameter = regexp.MustCompile("(" + known.Parameter + ")" + known.ParameterByte + "+")
	jsonWebToken   = regexp.MustCompile(known.WebToken)
)

// Tokens returns text without JSON Web Tokens and the values of token parameters.
func Tokens(text string) string {
	text = jsonWebToken.ReplaceAllString(text, known.Mask)
	return tokenParameter.ReplaceAllString(text, "${1}"+known.Mask)
}

// Clean returns text without secrets and without such tokens.
func (r *Redactor) Clean(text string) string { return Tokens(r.Text(text)) }

// longestLine bounds the buffered bytes of an unfinished line.
const longestLine = 1 << 20

// TokenWriter returns a writer to w that masks tokens line by line. Close flushes an unfinished last line; it does not
// close w.
func TokenWriter(w io.Writer) io.WriteCloser { return &tokenWriter{w: w} }

type tokenWriter struct {
	w    io.Writer
	held []byte
}

func (t *tokenWriter) Write(p []byte) (int, error) {
	t.held = append(t.held, p...)
	end := bytes.LastIndexByte(t.held, '\n') + 1
	if len(t.held)-end > longestLine {
		// A token contains no space.
		end = max(end, bytes.LastIndexByte(t.held, ' ')+1)
	}
	return len(p), t.flush(end)
}

func (t *tokenWriter) Close() error { return t.flush(len(t.held)) }

func (t *tokenWriter) flush(end int) error {
	if end == 0 {
		return nil
	}
	_, err := io.WriteString(t.w, Tokens(string(t.held[:end])))
	t.held = append(t.held[:0], t.held[end:]...)
	return err
}
