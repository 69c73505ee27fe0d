// SPDX-License-Identifier: AGPL-3.0-only

package markdown

import (
	"regexp"
	"strings"
	"unicode"
)

// gap is a space of no width. GitHub looks for mentions, issues and addresses in the rendered text, where an escape is gone;
// a gap is still there.
const gap = "&#8203;"

// seen are what GitHub makes something of, wherever it stands in the text: each is parted after its first group.
// References come first, as a gap itself has a # in it.
var seen = []*regexp.Regexp{
	regexp.MustCompile(`(\\?#)`),             // an issue, also of another repository
	regexp.MustCompile(`(@)`),                // a mention, an address of mail
	regexp.MustCompile(`(?i)(\bgh)(-[0-9])`), // an issue by its old name
	regexp.MustCompile(`(:)(//)`),            // an address
	regexp.MustCompile(`(?i)(www)(\.)`),      // an address without its scheme
}

// emoji is one by its name; a colon may end one and begin another.
var emoji = regexp.MustCompile(`(:)((?:\\?[A-Za-z0-9_+-])+:)`)

// commit is one by its name, whole or shortened; parted is less than the shortest.
var commit, parted = regexp.MustCompile(`(?i)[0-9a-f]{7,}`), regexp.MustCompile(`.{1,6}`)

// Inert is text of others for a comment that GitHub shows: plain as Escape makes it, and besides without mentions, links,
// references, emoji, and characters that turn the direction of what follows.
func Inert(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	text = Escape(text)
	for _, pattern := range seen {
		text = pattern.ReplaceAllString(text, "${1}"+gap+"${2}")
	}
	// A gap at the end would begin a word, such as the old name of an issue.
	text = commit.ReplaceAllStringFunc(text, func(name string) string { return strings.Join(parted.FindAllString(name, -1), gap) })
	for emoji.MatchString(text) {
		text = emoji.ReplaceAllString(text, "${1}"+gap+"${2}")
	}
	return text
}

var number = regexp.MustCompile(`^([0-9]+)([.)])`)

// InertLine is Inert for the beginning of a line, where a list, a rule, a heading or a command to a bot could begin.
func InertLine(text string) string {
	text = number.ReplaceAllString(Inert(text), `${1}\${2}`)
	if text != "" && strings.ContainsRune("-+=/", rune(text[0])) {
		return gap + text
	}
	return text
}
