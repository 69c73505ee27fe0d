// SPDX-License-Identifier: AGPL-3.0-only

// Package result has the Go types of schemas/result.schema.json: the measurements of one scenario.
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
	"windtunnel/k6/internal/seq"
)

// The verdicts.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
)

// Schema identifies a result file and the version of its format.
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
	Limits      *Limits      `json:"limits,omitempty"`
	Held        *Held        `json:"held,omitempty"`
	Rows        []HeldByRow  `json:"held_by_rows,omitempty"`
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

// Headline names the figure that answers a scenario's question: rate_per_s, mbit_per_s or p50_ms of an operation.
type Headline struct {
	Operation string `json:"operation"`
	Figure    string `json:"figure"`
}

// Run describes the run: the scenario, the place and the settings.
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
	// Link is nil if the two ends of the pair met on loopback.
	Link     *Link             `json:"link,omitempty"`
	Versions map[string]string `json:"versions"`
}

// Testbed describes the testbed that the sidecar started.
type Testbed struct {
	Name      string         `json:"name"`
	Variables map[string]any `json:"variables"`
}

// Host is the generator's machine.
type Host struct {
	OS       string `json:"os"`
	Kernel   string `json:"kernel"`
	CPUModel string `json:"cpu_model"`
	// CPUs and MemoryBytes are nil if unknown. In older results an unknown MemoryBytes is 0.
	CPUs        *int   `json:"cpus"`
	MemoryBytes *int64 `json:"memory_bytes"`
	// Settings is nil in older results.
	Settings *Settings `json:"settings,omitempty"`
}

// Cores is the number of CPUs, in words.
func (h Host) Cores() string {
	if h.CPUs == nil {
		return "unknown"
	}
	return strconv.Itoa(*h.CPUs)
}

// Memory is the memory in bytes, 0 if unknown.
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

// Settings are the settings of the host's kernel that affect figures; nil means unknown.
type Settings struct {
	NetworkSettings
	CPUGovernor *string `json:"cpu_governor"`
}

// NetworkSettings are the settings that a network namespace may have separately; nil means unknown, or no separate
// settings.
type NetworkSettings struct {
	CongestionControl *string `json:"tcp_congestion_control"`
	RMemMaxBytes      *int64  `json:"rmem_max_bytes"`
	WMemMaxBytes      *int64  `json:"wmem_max_bytes"`
	SOMaxConn         *int64  `json:"somaxconn"`
}

// Text lists the known settings in one line; "" if all are unknown.
func (s *Settings) Text() string {
	if s == nil {
		return ""
	}
	known := seq.Given([]string{setting("congestion control %s", s.CongestionControl), setting("rmem_max %d", s.RMemMaxBytes),
		setting("wmem_max %d", s.WMemMaxBytes), setting("somaxconn %d", s.SOMaxConn), setting("CPU governor %s", s.CPUGovernor)})
	return strings.Join(known, ", ")
}

// setting writes a known value in words; "" if it is unknown.
func setting[T any](words string, value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf(words, *value)
}

// Placement has the CPUs of probe, echo and system; "" means not pinned.
type Placement struct {
	Name       string `json:"name"`
	ProbeCPUs  string `json:"probe_cpus"`
	EchoCPUs   string `json:"echo_cpus"`
	SystemCPUs string `json:"system_cpus"`
	Wait       string `json:"wait"`
}

// Disturbed is a second of the run, counted from 0, in which other programs used a CPU of the placement.
type Disturbed struct {
	Second int `json:"second"`
	Disturbance
}

// Disturbance is the CPU time that other programs and the hypervisor took of one CPU, or of all CPUs together if CPU is
// nil.
type Disturbance struct {
	CPU           *int    `json:"cpu"`
	OthersPercent float64 `json:"others_percent"`
	StealPercent  float64 `json:"steal_percent"`
}

// Repeated is a part of the run that was discarded and measured again, because other programs used its CPUs. Settled
// says that the repetition was undisturbed.
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
	Primary   string           `json:"primary,omitempty"` // the metric that a comparison must find within its bound; "" for the default of the kind
	Requests  int64            `json:"requests"`
	Success   int64            `json:"success"`
	Errors    map[string]int64 `json:"errors"`
	// Details are the answers that were no success, such as HTTP 202, by kind of error.
	Details   []ErrorDetail `json:"error_details,omitempty"`
	WindowS   float64       `json:"window_s"`
	RatePerS  *float64      `json:"rate_per_s"`
	Items     *Items        `json:"items,omitempty"`
	Transfer  *Transfer     `json:"transfer,omitempty"`
	CPU       *CPU          `json:"cpu,omitempty"`
	LatencyMS *Latency      `json:"latency_ms"`
}

// Items are the items that one request carries.
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

// CPU is the CPU time over the measured parts of a probe. System is nil if it was not measured.
type CPU struct {
	SystemS              *float64 `json:"system_s"`
	SystemUSPerOperation *float64 `json:"system_us_per_operation"`
	ProbeS               float64  `json:"probe_s"`
	ProbeUSPerOperation  *float64 `json:"probe_us_per_operation"`
}

// Control is the difference between an operation and the same operation without the proxy.
type Control struct {
	Operation string   `json:"operation"`
	Control   string   `json:"control"`
	P50MS     *float64 `json:"p50_ms"`
	P95MS     *float64 `json:"p95_ms"`
	P99MS     *float64 `json:"p99_ms"`
	RateRatio *float64 `json:"rate_ratio"`
}

// Latency is in milliseconds. A percentile with too few samples is nil.
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

// Percentile is the field of a percentile, given as its share (0 to 1); nil for another share.
func (l *Latency) Percentile(share float64) **float64 {
	return map[float64]**float64{0.5: &l.P50, 0.9: &l.P90, 0.95: &l.P95, 0.99: &l.P99, 0.999: &l.P999}[share]
}

// Integrity compares the system's answers with the stored data, or a probe's counts with those of its far end. OK is nil
// if it could not be checked.
type Integrity struct {
	Check    string `json:"check"`
	Reported *int64 `json:"reported"`
	Found    *int64 `json:"found"`
	OK       *bool  `json:"ok"`
	Detail   string `json:"detail"`
	Source   string `json:"source"` // sql, api, dns, far_end or processes
	// Known is the known fault of a released program that explains a failed check, which then decides nothing.
	Known string `json:"known,omitempty"`
}

// Threshold is a bound, and whether it held. Value is nil without samples. Measured and Required describe both in words,
// which k6/internal/judge writes; "" in older results.
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

// Validity is a check of the measurement itself. OK is nil if the check could not run.
type Validity struct {
	Check string `json:"check"`
	// Kind is the kind of the reason if the check failed; "" in older results.
	Kind   string `json:"kind,omitempty"`
	OK     *bool  `json:"ok"`
	Detail string `json:"detail"`
}

// IsDatagrams reports whether an operation sends datagrams, which may be lost.
func (op Operation) IsDatagrams() bool {
	_, lost := op.Errors["lost"]
	return op.Transfer != nil && (lost || strings.HasPrefix(op.Name, "udp"))
}

// fewestToFailAll is the number of failed requests that rules out chance, if there is no success.
const fewestToFailAll = 10

// FailedAll reports whether none of many requests succeeded: a busy machine delays answers, but does not prevent all of
// them.
func (op Operation) FailedAll() bool { return op.Requests >= fewestToFailAll && op.Success <= 0 }

// ErrorDetail is an answer with an error of a kind, and its number of occurrences.
type ErrorDetail struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Count  int64  `json:"count"`
}

// unanswered are the kinds of errors of datagrams without an answer: lost on the way, lost with the association, or
// never sent because the association had ended.
var unanswered = []string{"lost", "control_closed", "cut"}

// LostShare is the share of an operation's datagrams without an answer, 0 to 1.
func (op Operation) LostShare() float64 {
	lost := int64(0)
	for _, kind := range unanswered {
		lost += op.Errors[kind]
	}
	return float64(lost) / float64(max(1, op.Requests))
}

// Find returns an operation by its name, false if there is none.
func (r Result) Find(operation string) (Operation, bool) {
	return seq.Find(r.Operations, func(op Operation) bool { return op.Name == operation })
}

// ControlOf returns the same operation without the proxy; false if the result lacks it.
func (r Result) ControlOf(operation string) (Operation, bool) {
	c, _ := seq.Find(r.Controls, func(c Control) bool { return c.Operation == operation })
	return r.Find(c.Control)
}

// IsControl reports whether an operation is the control of another: the same work without the proxy.
func (r Result) IsControl(operation string) bool {
	return strings.HasSuffix(operation, "_direct") ||
		slices.ContainsFunc(r.Controls, func(c Control) bool { return c.Control == operation })
}

// HasMeasured reports whether any operation was attempted.
func (r Result) HasMeasured() bool {
	return slices.ContainsFunc(r.Operations, func(op Operation) bool { return op.Requests > 0 })
}

// TitleOf is an operation's title, or its name if the result does not have it.
func (r Result) TitleOf(name string) string {
	if op, ok := r.Find(name); ok {
		return op.Title
	}
	return name
}

// Judged returns the operations that are not controls.
func (r Result) Judged() []Operation {
	return slices.DeleteFunc(slices.Clone(r.Operations), func(op Operation) bool { return r.IsControl(op.Name) })
}

// Transfers reports whether an operation carries payload that is counted.
func (r Result) Transfers() bool {
	return slices.ContainsFunc(r.Operations, func(op Operation) bool { return op.Transfer != nil })
}

// Name is SYSTEM/SCENARIO.
func (r Result) Name() string { return r.Run.System + "/" + r.Run.Scenario }

// Read returns the result in a file. The error has a line for each problem, with the file's name.
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
