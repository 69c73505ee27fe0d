// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"fmt"
	"slices"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

const (
	// overheadBytes is the size at which the reference document compares overheads.
	overheadBytes = 64 << 10
	copied        = "copy"
)

// extensionBytes are the sizes of messages: a short one shows the cost of each message, a long one the cost of each
// byte.
var extensionBytes = []int64{64, overheadBytes}

var packets = []struct {
	name  string
	bytes int64
}{{"TCP control", 64}, {"HTTP request", 512}, {"HTTP response", 1460}, {"Video chunk", 16 << 10}, {"Bulk data", 64 << 10}}

// sections returns a table for each question whose part was measured.
func (e Evidence) sections() []result.Section {
	all := []result.Section{
		e.throughput("aead", "encrypt", "Encryption throughput"),
		e.throughput("aead", "decrypt", "Decryption throughput"),
		e.overhead(), e.packets(), winnersSection(Winners(e.Measurements)), e.extensions(),
		e.throughput("hash", "hash", "Hash throughput"),
		e.ruleSets(), e.buffers(), e.memory(), e.notPlausible(),
	}
	return slices.DeleteFunc(all, func(s result.Section) bool { return len(s.Rows) == 0 })
}

func text(name, title string) result.Column {
	return result.Column{Name: name, Title: title, Unit: "text"}
}

func word(text string) result.Cell { return result.Cell{Text: &text} }

func number(v float64) result.Cell { return result.Cell{Value: &v} }

// cellOf is a cell of a measurement; it hides a figure that cannot be true.
func cellOf(one *judge.Primitive, cell func(judge.Primitive) result.Cell) result.Cell {
	switch {
	case one == nil:
		return result.Cell{}
	case one.Implausible != "":
		return word("not plausible")
	}
	return cell(*one)
}

func timeOf(one judge.Primitive) result.Cell { return number(one.Time().Median) }

// intervalOf is the time with the ends of its rounds' intervals.
func intervalOf(one judge.Primitive) result.Cell {
	time := one.Time()
	return result.Cell{Value: &time.Median, Range: &result.Range{Low: &time.Low, High: &time.High}}
}

func rateOf(one judge.Primitive) result.Cell {
	if rate, moves := one.BytesPerS(); moves {
		return number(rate)
	}
	return result.Cell{}
}

func sizeOf(one judge.Primitive) result.Cell {
	if one.Bytes == nil {
		return result.Cell{}
	}
	return number(float64(*one.Bytes))
}

// key identifies a measurement. Bytes and rules are 0 if they do not apply.
type key struct {
	section, subject, operation, implementation string
	bytes, rules                                int64
}

func keyOf(one judge.Primitive) key {
	k := key{one.Section, one.Subject, one.Operation, one.Implementation, 0, 0}
	if one.Bytes != nil {
		k.bytes = *one.Bytes
	}
	if one.Rules != nil {
		k.rules = *one.Rules
	}
	return k
}

func (e Evidence) find(wanted key) *judge.Primitive {
	for i, one := range e.Measurements {
		if keyOf(one) == wanted {
			return &e.Measurements[i]
		}
	}
	return nil
}

// of returns the measurements of a part; if operations are given, only theirs.
func (e Evidence) of(section string, operations ...string) []judge.Primitive {
	return seq.Filter(e.Measurements, func(one judge.Primitive) bool {
		return one.Section == section && (len(operations) == 0 || slices.Contains(operations, one.Operation))
	})
}

// distinct returns the different values of rows, in order of appearance.
func distinct[T comparable](rows []judge.Primitive, of func(judge.Primitive) T) []T {
	return seq.Distinct(seq.Map(rows, of))
}

func names(one judge.Primitive) [2]string { return [2]string{one.Subject, one.Implementation} }

func (e Evidence) throughput(section, operation, title string) result.Section {
	rows := e.of(section, operation, copied)
	s := result.Section{Name: operation + "_throughput", Title: title, Columns: []result.Column{text("algorithm", "Algorithm"), text("implementation", "Implementation")}}
	sizes := distinct(rows, func(one judge.Primitive) int64 { return keyOf(one).bytes })
	slices.Sort(sizes)
	for _, size := range sizes {
		s.Columns = append(s.Columns, result.Column{Name: fmt.Sprintf("of_%d", size), Title: format.Bytes(size), Unit: "B/s"})
	}
	for _, name := range distinct(rows, names) {
		row := []result.Cell{word(name[0]), word(name[1])}
		for _, size := range sizes {
			one := e.find(key{section, name[0], operation, name[1], size, 0})
			if one == nil {
				one = e.find(key{section, name[0], copied, name[1], size, 0})
			}
			row = append(row, cellOf(one, rateOf))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func (e Evidence) overhead() result.Section {
	s := result.Section{Name: "overhead", Title: "Overhead of encryption, " + format.Bytes(overheadBytes), Columns: []result.Column{
		text("which", "Operation"), text("implementation", "Implementation"), {Name: "time_ns", Title: "Time (95 % intervals)", Unit: "ns"},
		{Name: "bytes_per_s", Title: "Throughput", Unit: "B/s"}, {Name: "copies", Title: "× copy", Unit: "x"},
	}}
	whole := e.find(key{"aead", "memory", copied, "memcpy", overheadBytes, 0})
	if whole == nil {
		return s
	}
	for _, one := range e.of("aead") {
		if keyOf(one).bytes != overheadBytes {
			continue
		}
		times := result.Cell{}
		if one.Implausible == "" && whole.Implausible == "" {
			times = number(one.Time().Median / whole.Time().Median)
		}
		s.Rows = append(s.Rows, []result.Cell{word(one.Subject + " " + one.Operation), word(one.Implementation),
			cellOf(&one, intervalOf), cellOf(&one, rateOf), times})
	}
	return s
}

func (e Evidence) packets() result.Section {
	ciphers := []string{aes, chacha}
	s := result.Section{Name: "packets", Title: "Realistic packet sizes: encryption", Columns: []result.Column{
		text("implementation", "Implementation"), text("scenario", "Scenario"), {Name: "bytes", Title: "Size", Unit: "B"}}}
	for i, cipher := range ciphers {
		s.Columns = append(s.Columns, result.Column{Name: fmt.Sprintf("time_%d_ns", i+1), Title: cipher, Unit: "ns"},
			result.Column{Name: fmt.Sprintf("rate_%d_bytes_per_s", i+1), Title: cipher + ", throughput", Unit: "B/s"})
	}
	for _, implementation := range distinct(e.of("aead", "encrypt"), func(one judge.Primitive) string { return one.Implementation }) {
		for _, packet := range packets {
			row := []result.Cell{word(implementation), word(packet.name), number(float64(packet.bytes))}
			for _, cipher := range ciphers {
				one := e.find(key{"aead", cipher, "encrypt", implementation, packet.bytes, 0})
				row = append(row, cellOf(one, timeOf), cellOf(one, rateOf))
			}
			s.Rows = append(s.Rows, row)
		}
	}
	return s
}

func (e Evidence) extensions() result.Section {
	s := result.Section{Name: "extensions", Title: "What the CPU's extensions bring", Columns: []result.Column{
		text("which", "Operation"), {Name: "bytes", Title: "Size", Unit: "B"}, {Name: "portable", Title: "Portable", Unit: "B/s"},
		{Name: "accelerated", Title: "Same library, accelerated", Unit: "B/s"}, {Name: "accelerated_times", Title: "× portable", Unit: "x"},
		{Name: "ring", Title: "ring", Unit: "B/s"}, {Name: "ring_times", Title: "× portable", Unit: "x"},
	}}
	for _, portable := range append(e.of("aead"), e.of("hash")...) {
		if portable.Implementation != "portable" || !slices.Contains(extensionBytes, keyOf(portable).bytes) {
			continue
		}
		row := []result.Cell{word(portable.Subject + " " + portable.Operation), sizeOf(portable), cellOf(&portable, rateOf)}
		for _, implementations := range [][]string{{"rustcrypto", "blake3"}, {"ring"}} {
			var other *judge.Primitive
			for _, implementation := range implementations {
				wanted := keyOf(portable)
				wanted.implementation = implementation
				if other = e.find(wanted); other != nil {
					break
				}
			}
			row = append(row, cellOf(other, rateOf), cellOf(other, func(one judge.Primitive) result.Cell {
				return number(portable.Time().Median / one.Time().Median)
			}))
		}
		s.Rows = append(s.Rows, row)
	}
	if !slices.Contains(e.CPUFeatures, "aes") {
		s.Notes = []string{"This CPU has no AES: the AES of these libraries is portable code in every column."}
	}
	return s
}

func (e Evidence) ruleSets() result.Section {
	s := result.Section{Name: "rule_sets", Title: "Rule sets: time of a look-up", Columns: []result.Column{text("rules", "Rules"), text("structure", "Structure")}}
	for _, count := range e.Parameters.Rules {
		s.Columns = append(s.Columns, result.Column{Name: fmt.Sprintf("of_%d", count), Title: format.Count(count), Unit: "ns"})
	}
	s.Columns = append(s.Columns, result.Column{Name: "build_ns", Title: "Built in (largest)", Unit: "ns"})
	rows := slices.DeleteFunc(slices.Clone(e.Measurements), func(one judge.Primitive) bool { return one.Rules == nil })
	for _, name := range distinct(rows, names) {
		own := slices.DeleteFunc(slices.Clone(rows), func(one judge.Primitive) bool { return names(one) != name })
		subject := name[0]
		if subject == "ipv4" && name[1] == "maxminddb" {
			subject = "GeoIP country"
		}
		row := []result.Cell{word(subject), word(name[1])}
		for _, count := range e.Parameters.Rules {
			at := slices.IndexFunc(own, func(one judge.Primitive) bool { return *one.Rules == count })
			switch {
			case at >= 0:
				row = append(row, cellOf(&own[at], timeOf))
			case slices.ContainsFunc(e.Skipped, func(gap Gap) bool {
				return gap.Subject == name[0] && gap.Implementation == name[1] && gap.Rules == count
			}):
				row = append(row, word(format.None+" ¹"))
			default:
				row = append(row, result.Cell{})
			}
		}
		largest := slices.MaxFunc(own, func(a, b judge.Primitive) int { return int(*a.Rules - *b.Rules) })
		built := result.Cell{}
		if largest.BuildS > 0 {
			built = number(largest.BuildS * 1e9)
		}
		s.Rows = append(s.Rows, append(row, built))
	}
	for _, gap := range e.Skipped {
		s.Notes = append(s.Notes, fmt.Sprintf("¹ %s by %s, %s rules: not measured; %s.", gap.Subject, gap.Implementation, format.Count(gap.Rules), gap.Reason))
	}
	s.Notes = append(s.Notes, "At least half of the 4,096 queries are in the rules. They are asked in turn, so that what they touch stays in the CPU's "+
		"caches: a look-up that has to go to memory takes longer, the more so in large sets.")
	return s
}

func (e Evidence) buffers() result.Section {
	s := result.Section{Name: "buffers", Title: "Buffers", Columns: []result.Column{text("which", "Operation"), text("how", "How"),
		{Name: "bytes", Title: "Size", Unit: "B"}, {Name: "time_ns", Title: "Time (95 % intervals)", Unit: "ns"}}}
	for _, one := range e.of("buffers") {
		s.Rows = append(s.Rows, []result.Cell{word(one.Operation + " " + one.Subject), word(one.Implementation), sizeOf(one), cellOf(&one, intervalOf)})
	}
	return s
}

func (e Evidence) memory() result.Section {
	s := result.Section{Name: "memory", Title: "The physical limit: one core and the memory",
		Columns: []result.Column{text("which", "Operation"), {Name: "bytes", Title: "Block", Unit: "B"}, {Name: "bytes_per_s", Title: "Throughput", Unit: "B/s"}},
		Notes:   []string{"A copy reads and writes each byte, so it moves twice what its throughput says."}}
	for _, one := range e.of("memory") {
		s.Rows = append(s.Rows, []result.Cell{word(one.Operation), sizeOf(one), cellOf(&one, rateOf)})
	}
	return s
}

// notPlausible lists the figures that the tables hide, and why.
func (e Evidence) notPlausible() result.Section {
	s := result.Section{Name: "not_plausible", Title: "What cannot be true", Columns: []result.Column{text("which", "Measurement"),
		text("implementation", "Implementation"), {Name: "bytes", Title: "Size", Unit: "B"}, text("why", "Why")}}
	for _, one := range e.Measurements {
		if one.Implausible != "" {
			s.Rows = append(s.Rows, []result.Cell{word(one.Subject + " " + one.Operation), word(one.Implementation), sizeOf(one), word(one.Implausible)})
		}
	}
	return s
}
