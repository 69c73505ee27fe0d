// SPDX-License-Identifier: AGPL-3.0-only

// Package result is what one scenario measured: schemas/result.schema.json as Go types.
package result

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/schema"
)

// The verdicts.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
)

// Schema is what a result says that it is; its number is that of its form.
const Schema = "windtunnel.result/2"

// Result is one results/RUN/SYSTEM-SCENARIO.json. Units are in the JSON names.
type Result struct {
	Run         Run          `json:"run"`
	Headline    *Headline    `json:"headline"`
	Operations  []Operation  `json:"operations"`
	Controls    []Control    `json:"controls"`
	Sections    []Section    `json:"sections"`
	Integrity   []Integrity  `json:"integrity"`
	Processes   []Process    `json:"processes"`
	CPU         *WindowCPU   `json:"cpu,omitempty"`
	Rest        []Rest       `json:"rest"`
	Thresholds  []Threshold  `json:"thresholds"`
	Validity    []Validity   `json:"validity"`
	Disturbed   []Disturbed  `json:"disturbed"`
	Repeated    []Repeated   `json:"repeated"`
	Runners     []Runner     `json:"runners"`
	Leftovers   *Leftovers   `json:"leftovers"`
	Connections *Connections `json:"connections"`
	Notes       []string     `json:"notes"`
	Verdict     string       `json:"verdict"`
	Reasons     []Reason     `json:"reasons"`
}

// Headline is the figure that answers a scenario's question: rate_per_s, mbit_per_s or p50_ms of an operation.
type Headline struct {
	Operation string `json:"operation"`
	Figure    string `json:"figure"`
}

// Run says what was run, where and how.
type Run struct {
	ID          string         `json:"id"`
	Start       time.Time      `json:"start"`
	End         time.Time      `json:"end"`
	DurationS   float64        `json:"duration_s"`
	System      string         `json:"system"`
	Scenario    string         `json:"scenario"`
	Title       string         `json:"title"`
	Profile     string         `json:"profile"`
	Environment string         `json:"environment"`
	Target      string         `json:"target"`
	Parameters  map[string]any `json:"parameters"`
	Testbed     *Testbed       `json:"testbed"`
	Host        *Host          `json:"host"`
	Placement   *Placement     `json:"placement,omitempty"`
	// Link is nil where the two ends of the pair met on loopback.
	Link     *Link             `json:"link,omitempty"`
	Versions map[string]string `json:"versions"`
}

// Testbed is what the sidecar started.
type Testbed struct {
	Name      string         `json:"name"`
	Variables map[string]any `json:"variables"`
}

// Host is the generator's machine.
type Host struct {
	OS       string `json:"os"`
	Kernel   string `json:"kernel"`
	CPUModel string `json:"cpu_model"`
	// CPUs and MemoryBytes are nil where they cannot be told. MemoryBytes was 0 for that in older results.
	CPUs        *int   `json:"cpus"`
	MemoryBytes *int64 `json:"memory_bytes"`
	// Settings is nil in results from before they were recorded.
	Settings *Settings `json:"settings,omitempty"`
}

// Cores is how many CPUs there are, in words.
func (h Host) Cores() string {
	if h.CPUs == nil {
		return "unknown"
	}
	return strconv.Itoa(*h.CPUs)
}

// Memory is how much there is, 0 where that is unknown.
func (h Host) Memory() int64 {
	if h.MemoryBytes == nil {
		return 0
	}
	return *h.MemoryBytes
}

// RAM is the memory in words.
func (h Host) RAM() string {
	if h.Memory() == 0 {
		return "unknown"
	}
	return format.GiB(h.Memory())
}

// Settings are those of the host's kernel that make figures; nil: it could not be told.
type Settings struct {
	NetworkSettings
	CPUGovernor *string `json:"cpu_governor"`
}

// NetworkSettings are those that a network namespace may have of its own; nil: it could not be told, or has none of its own.
type NetworkSettings struct {
	CongestionControl *string `json:"tcp_congestion_control"`
	RMemMaxBytes      *int64  `json:"rmem_max_bytes"`
	WMemMaxBytes      *int64  `json:"wmem_max_bytes"`
	SOMaxConn         *int64  `json:"somaxconn"`
}

// Text names what is known of them on one line; "" where nothing is.
func (s *Settings) Text() string {
	if s == nil {
		return ""
	}
	var known []string
	say := func(words string, value any) { known = append(known, fmt.Sprintf(words, value)) }
	if s.CongestionControl != nil {
		say("congestion control %s", *s.CongestionControl)
	}
	if s.RMemMaxBytes != nil {
		say("rmem_max %d", *s.RMemMaxBytes)
	}
	if s.WMemMaxBytes != nil {
		say("wmem_max %d", *s.WMemMaxBytes)
	}
	if s.SOMaxConn != nil {
		say("somaxconn %d", *s.SOMaxConn)
	}
	if s.CPUGovernor != nil {
		say("CPU governor %s", *s.CPUGovernor)
	}
	return strings.Join(known, ", ")
}

// Placement says which CPUs probe, echo and system ran on; "" is not pinned.
type Placement struct {
	Name       string `json:"name"`
	ProbeCPUs  string `json:"probe_cpus"`
	EchoCPUs   string `json:"echo_cpus"`
	SystemCPUs string `json:"system_cpus"`
	Wait       string `json:"wait"`
}

// Disturbed is a second of the run, the first is 0, in which others used a CPU of the placement.
type Disturbed struct {
	Second int `json:"second"`
	Disturbance
}

// Disturbance is what others and the hypervisor took of a CPU, of all together where it is nil.
type Disturbance struct {
	CPU           *int    `json:"cpu"`
	OthersPercent float64 `json:"others_percent"`
	StealPercent  float64 `json:"steal_percent"`
}

// Repeated is a part of the run that was thrown away and measured again, as others used its CPUs. Settled: the measurement
// that counts was left alone.
type Repeated struct {
	Part        string        `json:"part"`
	Times       int           `json:"times"`
	ThrownAwayS float64       `json:"thrown_away_s"`
	DisturbedBy []Disturbance `json:"disturbed_by"`
	Settled     bool          `json:"settled"`
}

// Operation is one row of the results table.
type Operation struct {
	Name      string           `json:"name"`
	Title     string           `json:"title"`
	Loop      string           `json:"loop"`
	LatencyIs string           `json:"latency_is"`
	Primary   string           `json:"primary,omitempty"` // the metric that a comparison must find within its bound; "" by its kind
	Requests  int64            `json:"requests"`
	Success   int64            `json:"success"`
	Errors    map[string]int64 `json:"errors"`
	// Details are what came back in place of a success, such as HTTP 202, by kind of error.
	Details   []ErrorDetail `json:"error_details,omitempty"`
	WindowS   float64       `json:"window_s"`
	RatePerS  *float64      `json:"rate_per_s"`
	Items     *Items        `json:"items,omitempty"`
	Transfer  *Transfer     `json:"transfer,omitempty"`
	CPU       *CPU          `json:"cpu,omitempty"`
	LatencyMS *Latency      `json:"latency_ms"`
}

// Items are the things that one request carries many of.
type Items struct {
	Name     string   `json:"name"`
	Count    int64    `json:"count"`
	RatePerS *float64 `json:"rate_per_s"`
}

// Transfer is the payload of the successful operations, in one direction.
type Transfer struct {
	Bytes    int64    `json:"bytes"`
	MbitPerS *float64 `json:"mbit_per_s"`
}

// CPU is the CPU time over the measured parts of a probe. System is nil where it was not measured.
type CPU struct {
	SystemS              *float64 `json:"system_s"`
	SystemUSPerOperation *float64 `json:"system_us_per_operation"`
	ProbeS               float64  `json:"probe_s"`
	ProbeUSPerOperation  *float64 `json:"probe_us_per_operation"`
}

// Control is an operation less the same one without the proxy.
type Control struct {
	Operation string   `json:"operation"`
	Control   string   `json:"control"`
	P50MS     *float64 `json:"p50_ms"`
	P95MS     *float64 `json:"p95_ms"`
	P99MS     *float64 `json:"p99_ms"`
	RateRatio *float64 `json:"rate_ratio"`
}

// Latency is in milliseconds. A nil percentile had too few samples.
type Latency struct {
	Count int64    `json:"count"`
	Avg   float64  `json:"avg"`
	Min   float64  `json:"min"`
	P50   *float64 `json:"p50"`
	P90   *float64 `json:"p90"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p99_9"`
	Max   float64  `json:"max"`
}

// Integrity is what the system reported against what is stored, or what a probe counted against what its far end did. OK is nil where it
// could not be checked.
type Integrity struct {
	Check    string `json:"check"`
	Reported *int64 `json:"reported"`
	Found    *int64 `json:"found"`
	OK       *bool  `json:"ok"`
	Detail   string `json:"detail"`
	Source   string `json:"source"` // sql, api, dns, far_end
}

// Process is what a process used while the load ran. CPUPercent is of one core. PeakAnonBytes is of resident memory less
// pages of files; results of before it was measured have none.
type Process struct {
	Name          string  `json:"name"`
	Role          string  `json:"role"`
	CPUS          float64 `json:"cpu_s"`
	CPUPercent    float64 `json:"cpu_percent"`
	PeakRSSBytes  int64   `json:"peak_rss_bytes"`
	PeakAnonBytes *int64  `json:"peak_anon_bytes,omitempty"`
	Exit          *string `json:"exit"`
}

// Threshold is a bound and whether it held. Value is nil where there was no sample. Measured and Required say both in
// words, which k6/internal/judge writes; "" in results of before it did.
type Threshold struct {
	Operation  string   `json:"operation"`
	Metric     string   `json:"metric"`
	Expression string   `json:"expression"`
	Value      *float64 `json:"value"`
	Unit       string   `json:"unit"`
	Measured   string   `json:"measured"`
	Required   string   `json:"required"`
	OK         bool     `json:"ok"`
}

// Validity is a check of the measurement itself. OK is nil where it could not be made.
type Validity struct {
	Check string `json:"check"`
	// Kind is that of the reason where it is not ok; "" in results of before it was recorded.
	Kind   string `json:"kind,omitempty"`
	OK     *bool  `json:"ok"`
	Detail string `json:"detail"`
}

// IsDatagrams reports whether an operation sends datagrams, some of which may be lost.
func (op Operation) IsDatagrams() bool {
	_, lost := op.Errors["lost"]
	return op.Transfer != nil && (lost || strings.HasPrefix(op.Name, "udp"))
}

// fewestToFailAll requests without a success are no chance.
const fewestToFailAll = 10

// FailedAll reports whether not one of many requests succeeded: a busy machine delays answers, and does not take all of them.
func (op Operation) FailedAll() bool { return op.Requests >= fewestToFailAll && op.Success <= 0 }

// ErrorDetail is what came back with errors of a kind, and how many times.
type ErrorDetail struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Count  int64  `json:"count"`
}

// unanswered are the kinds of errors of datagrams that have no answer: lost on the way, or with the association, or never
// sent because it had ended.
var unanswered = []string{"lost", "control_closed", "cut"}

// LostShare is the share of an operation's datagrams that have no answer, 0 to 1.
func (op Operation) LostShare() float64 {
	lost := int64(0)
	for _, kind := range unanswered {
		lost += op.Errors[kind]
	}
	return float64(lost) / float64(max(1, op.Requests))
}

// Find returns an operation by its name, false where there is none.
func (r Result) Find(operation string) (Operation, bool) {
	i := slices.IndexFunc(r.Operations, func(op Operation) bool { return op.Name == operation })
	if i < 0 {
		return Operation{}, false
	}
	return r.Operations[i], true
}

// IsControl reports whether an operation is the control of another: the same without the proxy.
func (r Result) IsControl(operation string) bool {
	return strings.HasSuffix(operation, "_direct") ||
		slices.ContainsFunc(r.Controls, func(c Control) bool { return c.Control == operation })
}

// HasMeasured reports whether any operation was tried at all.
func (r Result) HasMeasured() bool {
	return slices.ContainsFunc(r.Operations, func(op Operation) bool { return op.Requests > 0 })
}

// Judged are the operations that are not controls.
func (r Result) Judged() []Operation {
	return slices.DeleteFunc(slices.Clone(r.Operations), func(op Operation) bool { return r.IsControl(op.Name) })
}

// Transfers reports whether an operation carries payload that is counted.
func (r Result) Transfers() bool {
	return slices.ContainsFunc(r.Operations, func(op Operation) bool { return op.Transfer != nil })
}

// Name is SYSTEM/SCENARIO.
func (r Result) Name() string { return r.Run.System + "/" + r.Run.Scenario }

// Read returns the result in a file. The error has a line per problem, each with the file's name.
func Read(path string) (Result, error) {
	var r Result
	name := filepath.Base(path)
	doc, err := document.Read(path)
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	if problems := schema.Check(schema.Result, doc); len(problems) > 0 {
		more := ""
		if len(problems) > 1 {
			more = fmt.Sprintf(" (and %d more; see k6 x validate %s)", len(problems)-1, path)
		}
		return r, fmt.Errorf("%s: %s%s", name, problems[0], more)
	}
	if err := document.Into(doc, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	for _, section := range r.Sections {
		if err := section.Check(); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
	}
	return r, nil
}
