// SPDX-License-Identifier: AGPL-3.0-only

package comment

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	parser "golang.org/x/net/html"
)

// evil are texts that authors of branches and tests could write.
var evil = []string{
	"@octocat", "a@b.example", "#1", "octo/cat#12", "GH-7", "closes #1", "Fixes: octo/cat#3", "resolves GH-1",
	"https://evil.example/x", "www.evil.example", "<script>alert(1)</script>", "<img src=x onerror=y>", "-->", "<!-- windtunnel gate pass -->",
	"![x](http://e.example)", "[x](javascript:alert(1))", "[x]: http://e.example", "a|b", "`code`", "``", "**bold**", "_x_", "~~x~~", "$x$", "$`x`$",
	":tada:", ":a:b:", "0:0", "</details>", "</summary>", "<details open>", "a\nb", "a\r\n\n# b", "- x", "1. x", "+ x", "===", "---", "> x", "/close", "\\", "&lt;b&gt;", "&#64;x",
	"\u202eevil", "\u200b@x", "0123456789abcdef0123456789abcdef01234567", "\x00\xff", "[^1]", "[ ] x", strings.Repeat("x", 5000), "    code",
}

// filled has the text in each place that may hold text from other sources.
func filled(text string) Comment {
	table := Table{Head: []string{"Metric", text, "C"}, Rows: [][]Cell{{{text, text}, {text}, {"1"}}}, Numeric: func(c int) bool { return c > 0 }}
	return Comment{Name: text, Verdict: "pass", Why: text, Facts: []string{text}, Table: table,
		Folds: []Fold{{Title: text, Lines: []string{text}, Table: table}}}
}

// render returns GitHub's rendering: its tags and attributes in order, and the texts outside comments.
func render(t *testing.T, source string) (tags, texts []string) {
	t.Helper()
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe()))
	var page bytes.Buffer
	if err := md.Convert([]byte(source), &page); err != nil {
		t.Fatal(err)
	}
	z := parser.NewTokenizer(&page)
	for {
		switch z.Next() {
		case parser.ErrorToken:
			return tags, texts
		case parser.TextToken:
			texts = append(texts, z.Token().Data)
		default:
			if token := z.Token(); token.Type != parser.CommentToken {
				tags = append(tags, token.String())
			} else {
				tags = append(tags, "comment")
			}
		}
	}
}

// made matches the patterns that GitHub links in a rendered text.
var made = regexp.MustCompile(`@\w|#\d|(?i)\bgh-\d|://|(?i)www\.|:[a-z0-9_+-]+:|(?i)\b[0-9a-f]{7,40}\b`)

func inert(t *testing.T, text string) {
	t.Helper()
	source := filled(text).Markdown()
	tags, texts := render(t, source)
	benign, _ := render(t, filled("x").Markdown())
	if !slices.Equal(tags, benign) {
		t.Errorf("%q changes what is shown:\n%v\n%v\n%s", text, tags, benign, source)
	}
	for _, shown := range texts {
		if found := made.FindString(shown); found != "" {
			t.Errorf("%q: %q has a meaning in %q", text, found, shown)
		}
	}
	if len(source) > Most {
		t.Errorf("%d bytes", len(source))
	}
}

func TestNoTextGainsAMeaning(t *testing.T) {
	for _, text := range evil {
		inert(t, text)
	}
}

func FuzzNoTextGainsAMeaning(f *testing.F) {
	for _, text := range evil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if cut(text, mostText) != "" && strings.Trim(text, " \t\r\n") != "" {
			inert(t, text)
		}
	})
}

func TestALongCommentIsCut(t *testing.T) {
	var rows [][]Cell
	var lines []string
	for i := range 20_000 {
		rows = append(rows, []Cell{{fmt.Sprintf("metric %d", i)}, {strings.Repeat("é&", 90)}, {"+1.00%"}})
		lines = append(lines, strings.Repeat("<", 2000))
	}
	table := Table{Head: []string{"Metric", "Change", "Seen from"}, Rows: rows}
	c := Comment{Name: "gate", Verdict: "fail", Why: "slower", Table: table, Facts: []string{"a fact"},
		Folds: []Fold{{Title: "reasons", Lines: lines}, {Title: "all", Table: table}, {Title: "rest", Lines: lines}}}
	text := c.Markdown()
	if len(text) > Most || strings.Count(text, "<details>") != strings.Count(text, "</details>") {
		t.Errorf("%d bytes, %d folds begun, %d ended", len(text), strings.Count(text, "<details>"), strings.Count(text, "</details>"))
	}
	for _, want := range []string{"### Windtunnel, gate: ✗ fail\n\nslower\n", "19980 more rows", "rows are in the report of the run", "more sections are in the report of the run"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s … %s", want, text[:200], text[len(text)-300:])
		}
	}
	// Only the table of the folds may have long lines.
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 4 {
			t.Errorf("not three columns: %q", line)
		}
	}
}

func TestMarker(t *testing.T) {
	for want, c := range map[string]Comment{
		"<!-- windtunnel gate pass success -->":                                   {Name: "gate", Verdict: "pass"},
		"<!-- windtunnel a-b set-up-failed failure -->":                           {Name: "A --> b", Verdict: "set-up failed"},
		"<!-- windtunnel tcp-rate-1-2 inconclusive-too-noisy neutral -->":         {Name: "TCP/rate\n1.2", Verdict: "inconclusive", Doubt: "too noisy"},
		"<!-- windtunnel gate inconclusive-something-is-missing failure -->":      {Name: "gate", Verdict: "inconclusive", Doubt: "something is missing", Missing: true},
		"<!-- windtunnel strict inconclusive-too-little-time failure -->":         {Name: "strict", Verdict: "inconclusive", Doubt: "too little time", Strict: true},
		"<!-- windtunnel gate inconclusive-neutral-gate-pass-success neutral -->": {Name: "gate", Verdict: "inconclusive", Doubt: "neutral --> gate pass success"},
	} {
		if got := c.Marker(); got != want || !strings.HasPrefix(c.Markdown(), want+"\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestConclusion(t *testing.T) {
	for _, c := range []struct {
		verdict         string
		missing, strict bool
		want, heading   string
	}{
		{"pass", false, false, Success, "✓ pass"},
		{"pass", false, true, Success, "✓ pass"},
		{"fail", false, false, Failure, "✗ fail"},
		{"inconclusive", false, false, Neutral, "cannot tell: of a kind"},
		{"inconclusive", true, false, Failure, "✗ cannot tell: of a kind"},
		{"inconclusive", false, true, Failure, "✗ cannot tell: of a kind"},
		{"inconclusive", true, true, Failure, "✗ cannot tell: of a kind"},
		{"interrupted", false, false, Failure, "interrupted"},
		{"set-up failed", false, false, Failure, "set-up failed"},
		{"left out", false, false, Failure, "left out"},
	} {
		of := Comment{Name: "gate", Verdict: c.verdict, Doubt: "of a kind", Missing: c.missing, Strict: c.strict}
		lines := strings.Split(of.Markdown(), "\n")
		if got := of.Conclusion(); got != c.want || !strings.HasSuffix(lines[1], ": "+c.heading) {
			t.Errorf("%+v: %s, %q", c, got, lines[1])
		}
	}
}
