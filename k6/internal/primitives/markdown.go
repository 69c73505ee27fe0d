// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"fmt"
	"os"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/run"
)

const title = "## AES-256-GCM against ChaCha20-Poly1305\n"

// Markdown is the table of the winners, "" without one.
func Markdown(winners []Winner) string {
	if len(winners) == 0 {
		return ""
	}
	var rows [][]string
	for _, w := range winners {
		rows = append(rows, []string{w.Operation, w.Implementation, size(w.Bytes), w.Ratio.String(), w.String()})
	}
	var b strings.Builder
	b.WriteString(title + "\n")
	markdown.Table(&b, []string{"Operation", "Implementation", "Size", "Time of ChaCha20-Poly1305 by AES-256-GCM", "Faster"}, rows,
		func(column int) bool { return column == 2 || column == 3 })
	fmt.Fprintf(&b, "By the rounds, each of which has both, with the exact signed-rank interval at %.0f %%. The faster one is told where that is significant, "+
		"with all %d rows of the table counted, and more than %.0f %%: it takes %d rounds; these are %d.\n",
		100*difference.Look{}.Confidence(), len(winners), 100*bound, difference.FewestToTellApart(len(winners)), winners[0].Rounds)
	return b.String()
}

// String is `3.01 (2.95–3.04)`.
func (r *Ratio) String() string {
	if r == nil {
		return format.None
	}
	text := fmt.Sprintf("%.2f", r.Estimate)
	if r.Low != nil {
		text += fmt.Sprintf(" (%.2f–%.2f)", *r.Low, *r.High)
	}
	return text
}

// String is `aes-256-gcm (3.01×)`, or that the rounds cannot tell.
func (w Winner) String() string {
	switch {
	case w.Winner != nil:
		return fmt.Sprintf("%s (%.2f×)", *w.Winner, *w.Factor)
	case w.RoundsToTell != nil:
		return fmt.Sprintf("cannot tell; about %d rounds would", *w.RoundsToTell)
	}
	return "cannot tell"
}

// size is `64 KiB`.
func size(bytes int64) string {
	const mib = 1 << 20
	switch {
	case bytes >= mib && bytes%mib == 0:
		return fmt.Sprintf("%d MiB", bytes/mib)
	case bytes >= 1024 && bytes%1024 == 0:
		return fmt.Sprintf("%d KiB", bytes/1024)
	}
	return fmt.Sprintf("%d B", bytes)
}

// Append puts the table at the end of a primitives.md, in place of one that is there.
func Append(path, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	own, _, _ := strings.Cut(string(text), title)
	return run.WriteFile(path, []byte(strings.TrimRight(own, "\n")+"\n\n"+table))
}
