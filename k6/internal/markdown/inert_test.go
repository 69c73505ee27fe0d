// SPDX-License-Identifier: AGPL-3.0-only

package markdown

import "testing"

// ../comment tests how a library renders it.
func TestInert(t *testing.T) {
	for text, want := range map[string]string{
		"plain, 1.5 %":      "plain, 1.5 %",
		"@a":                "@&#8203;a",
		"a@b.example":       "a@&#8203;b.example",
		"closes o/r#12":     "closes o/r#&#8203;12",
		"#1":                `\#&#8203;1`,
		"GH-12 gh-x":        "GH&#8203;-12 gh-x",
		"https://x.example": "https:&#8203;//x.example",
		"www.x":             "www&#8203;.x",
		":a:b:":             ":&#8203;a:&#8203;b:",
		"abcdef0":           "abcdef&#8203;0",
		"0123456789abgh-1":  "012345&#8203;6789abgh-1",
		"\u202ex":           "\uFFFDx",
		"\xff":              "\uFFFD",
		"sing-box:cpus=0,2": "sing-box:cpus=0,2",
		"<!-- x -->":        "&lt;!-- x --&gt;",
	} {
		if got := Inert(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"- x": "&#8203;- x", "12. x": `12\. x`, "/close": "&#8203;/close", "": ""} {
		if got := InertLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
