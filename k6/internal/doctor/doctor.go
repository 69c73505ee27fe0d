// SPDX-License-Identifier: AGPL-3.0-only

// Package doctor finds out what this machine and this user can run, and what makes its measurements uncertain.
package doctor

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/cpus"
)

// State says how much of what needs a finding can run.
type State string

// The states. Limited means that something works less well, or that a part is left out; missing means that something cannot run.
const (
	OK      State = "ok"
	Limited State = "limited"
	Missing State = "missing"
)

// Finding is what was found out about one thing.
type Finding struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Found is what there is, in one line.
	Found string `json:"found"`
	// Without says what cannot run or suffers; "" if the state is ok.
	Without string `json:"without,omitempty"`
	// Fix says what to do; "" if nothing can be done.
	Fix string `json:"fix,omitempty"`
	// Stops says that without it nothing at all can run.
	Stops bool `json:"stops,omitempty"`
}

// Section is some findings under a title.
type Section struct {
	Title    string    `json:"title"`
	Findings []Finding `json:"findings"`
}

func ok(name, format string, args ...any) Finding {
	return Finding{Name: name, State: OK, Found: fmt.Sprintf(format, args...)}
}

// Examine looks at the machine, which takes about a second. Root is the checkout.
func Examine(root string) []Section {
	return []Section{
		{"Programs", append(programs(root), prerequisites(root)...)},
		{"What networks need", []Finding{namespaces(), tunDevice(), tproxy(), sshd()}},
		{"What measures", []Finding{cpuCount(), files(), memory("/proc/meminfo"), perf(), clock("/sys"), governor("/sys")}},
		{"What disturbs", append(others(), steal(cpus.OfMachine()))},
		{"Beyond this machine", []Finding{containers(), kubernetes(root)}},
	}
}

// Stopped reports whether nothing can run here.
func Stopped(sections []Section) bool {
	for _, s := range sections {
		for _, f := range s.Findings {
			if f.Stops && f.State == Missing {
				return true
			}
		}
	}
	return false
}

// Text is the findings for a terminal, and last in one line each what cannot run.
func Text(sections []Section) string {
	var b strings.Builder
	counts := map[State]int{}
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s:\n", s.Title)
		for _, f := range s.Findings {
			counts[f.State]++
			fmt.Fprintf(&b, "  %-8s %-20s %s\n", f.State, f.Name, f.Found)
			for _, line := range []string{f.Without, f.Fix} {
				if line != "" {
					fmt.Fprintf(&b, "  %-8s %-20s   %s\n", "", "", line)
				}
			}
		}
	}
	b.WriteString("\n" + summary(sections, counts) + "\n")
	return b.String()
}

func summary(sections []Section, counts map[State]int) string {
	line := fmt.Sprintf("%d ok, %d limited, %d missing", counts[OK], counts[Limited], counts[Missing])
	switch {
	case Stopped(sections):
		return line + ": nothing can run here yet"
	case counts[Missing] > 0:
		return line + ": the rest can run, and a bench says what it leaves out"
	}
	return line + ": everything can run here"
}
