// SPDX-License-Identifier: AGPL-3.0-only

package markdown

import (
	"regexp"
	"strings"
	"unicode"
)

// gap is a zero-width space. GitHub looks for mentions, issues and addresses in the rendered text: there an escape is
// gone, but a gap remains.
const gap = "&#8203;"

// seen are the patterns that GitHub turns into links, anywhere in the text: a gap after the first group breaks each.
// References come first, because the gap itself contains a #.
var seen = []*regexp.Regexp{
	regexp.MustCompile(`(\\?#)`),             // an issue, even of another repository
	regexp.MustCompile(`(@)`),                // a mention or an e-mail address
	regexp.MustCompile(`(?i)(\bgh)(-[0-9])`), // an issue by its old notation
	regexp.MustCompile(`(:)(//)`),            // a URL
	regexp.MustCompile(`(?i)(www)(\.)`),      // a URL without its scheme
}

// emoji is an emoji by its name; one colon may end an emoji and begin another.
var emoji = regexp.MustCompile(`(:)((?:\\?[A-Za-z0-9_+-])+:)`)

// commit is a commit's hash, whole or shortened; parted cuts it into parts shorter than the shortest hash.
var commit, parted = regexp.MustCompile(`(?i)[0-9a-f]{7,}`), regexp.MustCompile(`.{1,6}`)

// Inert makes text from other sources safe for a GitHub comment. It is plain as after Escape, and has no mentions,
// links, references, emoji, or characters that change the writing direction.
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
	// A gap at the end would begin a word, such as the old notation of an issue.
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
