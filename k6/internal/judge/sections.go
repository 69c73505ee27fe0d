// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"slices"

	"windtunnel/k6/internal/result"
)

// figures are an operation's figures that a cell of a section may show; nil if the operation has no such figure.
var figures = map[string]func(result.Operation) *float64{
	"rate_per_s": func(op result.Operation) *float64 { return op.RatePerS },
	"p50_ms":     ofLatency(func(l result.Latency) *float64 { return l.P50 }),
	"p95_ms":     ofLatency(func(l result.Latency) *float64 { return l.P95 }),
	"p99_ms":     ofLatency(func(l result.Latency) *float64 { return l.P99 }),
	"lost_share": func(op result.Operation) *float64 { return new(op.LostShare()) },
}

func ofLatency(figure func(result.Latency) *float64) func(result.Operation) *float64 {
	return func(op result.Operation) *float64 {
		if op.LatencyMS == nil {
			return nil
		}
		return figure(*op.LatencyMS)
	}
}

// addSections copies the sections, with the operations' figures that their cells name.
func (j *Judged) addSections(sections []result.Section) error {
	for _, s := range sections {
		if err := s.Check(); err != nil {
			return err
		}
		rows := make([][]result.Cell, len(s.Rows))
		for i, row := range s.Rows {
			rows[i] = slices.Clone(row)
			for k, cell := range row {
				if cell.Of == nil {
					continue
				}
				value, err := j.figure(*cell.Of)
				if err != nil {
					return fmt.Errorf("section %s: %w", s.Name, err)
				}
				rows[i][k] = result.Cell{Value: value}
			}
		}
		s.Rows = rows
		j.Sections = append(j.Sections, s)
	}
	return nil
}

// figure is nil for a missing figure.
func (j *Judged) figure(asked result.Figure) (*float64, error) {
	figure, known := figures[asked.Figure]
	if !known {
		return nil, fmt.Errorf("no figure %s of an operation", asked.Figure)
	}
	op, there := find(j.Operations, asked.Operation)
	if !there {
		return nil, fmt.Errorf("no operation %s", asked.Operation)
	}
	value := figure(op)
	if asked.By == "" || value == nil {
		return value, nil
	}
	by, there := find(j.Operations, asked.By)
	if !there {
		return nil, fmt.Errorf("no operation %s", asked.By)
	}
	base := figure(by)
	if base == nil || *base == 0 {
		return nil, nil
	}
	return new(*value / *base), nil
}
