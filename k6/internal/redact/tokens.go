// SPDX-License-Identifier: AGPL-3.0-only

package redact

import (
	"bytes"
	"io"
	"regexp"
)

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
