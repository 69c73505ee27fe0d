// SPDX-License-Identifier: AGPL-3.0-only

// Package terminal prints a run for the user: lines, progress in place, and the summary at its end.
package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"windtunnel/k6/internal/exit"
)

// quietFor is the interval of progress lines without a terminal.
const quietFor = 30 * time.Second

// Screen prints lines and, on a terminal, a last line that changes in place.
type Screen struct {
	mu     sync.Mutex
	out    io.Writer
	errOut io.Writer
	tty    bool
	color  bool
	width  int
	live   bool
	spoke  time.Time
}

// New prints to out, and errors to errOut. tty says that both are a terminal, color that it has colours; width is its
// number of columns.
func New(out, errOut io.Writer, tty, color bool, width int) *Screen {
	if width <= 0 {
		width = 80
	}
	return &Screen{out: out, errOut: errOut, tty: tty, color: color, width: width, spoke: time.Now()}
}

// Line prints a line.
func (s *Screen) Line(format string, args ...any) { s.print(s.out, fmt.Sprintf(format, args...)) }

// Text prints a sentence. On a terminal that is too narrow, it wraps between words and indents further lines.
func (s *Screen) Text(text string) {
	if s.fits([]string{text}) {
		s.Line("%s", text)
		return
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line+" "+word) > s.width:
			lines, line = append(lines, line), "    "+word
		default:
			line += " " + word
		}
	}
	s.Line("%s", strings.Join(append(lines, line), "\n"))
}

// fits reports whether lines fit the terminal's width; without a terminal all do.
func (s *Screen) fits(lines []string) bool {
	return !s.tty || !slices.ContainsFunc(lines, func(line string) bool {
		return utf8.RuneCountInString(strings.TrimRight(line, " ")) > s.width
	})
}

// Error prints a line to stderr.
func (s *Screen) Error(format string, args ...any) { s.print(s.errOut, fmt.Sprintf(format, args...)) }

// Refuse prints why something cannot begin, and returns the exit code.
func (s *Screen) Refuse(f *exit.Fault) int {
	s.Error("%s", f.Message)
	return f.Code
}

func (s *Screen) print(w io.Writer, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(w, text)
	s.spoke = time.Now()
}

// Progress shows a line in place; without a terminal it prints a line every 30 s.
func (s *Screen) Progress(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tty {
		if time.Since(s.spoke) >= quietFor {
			fmt.Fprintln(s.out, text)
			s.spoke = time.Now()
		}
		return
	}
	if runes := []rune(text); len(runes) >= s.width {
		text = string(runes[:s.width-2]) + "…"
	}
	fmt.Fprint(s.out, "\r\x1b[K"+text)
	s.live = true
}

func (s *Screen) clear() {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.live = false
	}
}
