// SPDX-License-Identifier: AGPL-3.0-only

// Package result has the measurements of one scenario. schemas/generate makes schemas/result.schema.json from its types.
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
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// The figure that answers the scenario's question. Without it, that is the rate of the first operation.
	Headline   *Headline   `json:"headline,omitempty"`
	Operations []Operation `json:"operations"`
	// The cost of the proxy: each operation minus the same operation without the proxy, measured beside it.
	Controls []Control `json:"controls,omitempty"`
	// CPU time and memory of processes on this machine during the load. CPU time is read from each process's CPU clock, in
	// nanoseconds; for children that ended, in steps of 10 ms.
	Processes []Process `json:"processes"`
	// CPU time of the system from the first start of the load to the end of a quiet period without load. operations[].cpu
	// and processes[].cpu_s cover only the measured parts. Absent in older results, and if no sidecar watched a process of
	// the system.
	CPU *WindowCPU `json:"cpu,omitempty"`
	// Limits of CPU and memory by control groups, and their effects. Absent in older results, and without a sidecar.
	Limits *Limits `json:"limits,omitempty"`
	// Descriptors and memory that each process of the system, with its descendants, held before and after the load; peaks
	// are in processes[]. Absent in older results, and if no sidecar watched a process of the system.
	Held *Held `json:"held,omitempty"`
	// Descriptors and memory of instances that the scenario started itself, for each row or step. The slowest of several
	// instances to close all counts. Absent in older results.
	Rows []HeldByRow `json:"held_by_rows,omitempty"`
	// The usage of each process of the system while nothing was sent: before the load, and in the quiet period after it.
	Rest       []Rest      `json:"rest,omitempty"`
	Thresholds []Threshold `json:"thresholds"`
	// Checks of the measurement itself.
	Validity []Validity `json:"validity"`
	// Comparisons of the system's answers with the stored data, and of the probes' counts with their far ends' counts
	// (docs/explanation/verdicts.md).
	Integrity []Integrity `json:"integrity,omitzero"`
	// Seconds in which other programs or the hypervisor took more than 10 % of a CPU of the placement while a probe
	// measured. Without a placement, this is the share of all CPUs together. Absent if not sampled.
	Disturbed []Disturbed `json:"disturbed,omitzero"`
	// Parts of the run that were discarded and measured again, because other programs used the CPUs of the placement.
	// Figures exclude discarded parts. Absent without a placement.
	Repeated []Repeated `json:"repeated,omitzero"`
	// The k6 processes of a run with several, by number. Absent if there was only one.
	Runners []Runner `json:"runners,omitempty"`
	// Objects that the run made on the target and could not remove; absent without leftovers.
	Leftovers *Leftovers `json:"leftovers,omitempty"`
	// Connections of a load over HTTP; absent for other loads.
	Connections *Connections `json:"connections,omitempty"`
	Notes       []string     `json:"notes"`
	Verdict     string       `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive"`
	// Why the verdict is not pass; empty for pass. Causes come first, and reasons of one kind are combined. Results before
	// 2026-11-22 have a string for each.
	Reasons []Reason `json:"reasons"`
	// Tables in addition to the operations. A reader of sections needs no knowledge of the scenario.
	Sections []Section `json:"sections"`
}

// Headline names the figure that answers a scenario's question.
type Headline struct {
	Operation string `json:"operation"`
	Figure    string `json:"figure" jsonschema:"enum=rate_per_s,enum=mbit_per_s,enum=p50_ms"`
}

// Run describes the run: the scenario, the place and the settings.
type Run struct {
	// Also the tag testid of every metric.
	ID    string    `json:"id" jsonschema:"pattern=^[A-Za-z0-9._-]+$"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Duration of the whole k6 test run, with set-up and clean-up.
	DurationS   float64 `json:"duration_s" jsonschema:"minimum=0"`
	System      string  `json:"system"`
	Scenario    string  `json:"scenario"`
	Title       string  `json:"title"`
	Profile     string  `json:"profile"`
	Environment string  `json:"environment"`
	// Base URL of the system under test, without credentials.
	Target string `json:"target"`
	// Everything that decides whether two runs are comparable: counts, clients, sizes, rates, durations.
	Parameters map[string]any `json:"parameters"`
	// The testbed that the sidecar started; null if the system was up already.
	Testbed *Testbed `json:"testbed"`
	// The generator's machine; null without a sidecar.
	Host *Host `json:"host"`
	// The CPUs of probe, echo and system, as lists such as 0-1,3; an empty list means not pinned. Absent if k6 itself made
	// the load.
	Placement *Placement `json:"placement,omitempty"`
	// The link between the two ends of each pair, as it was at the start; absent if they met on loopback.
	Link *Link `json:"link,omitempty"`
	// The known versions of windtunnel, k6 and the system under test. Windtunnel's git revision is windtunnel_revision.
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
	// Null if unknown.
	CPUs *int `json:"cpus" jsonschema:"minimum=1"`
	// Null if unknown; 0 in older results.
	MemoryBytes *int64 `json:"memory_bytes" jsonschema:"minimum=0"`
	// Settings of the kernel that affect figures; absent in older results. A null setting is unknown.
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

// Settings are the settings of the host's kernel that affect figures.
type Settings struct {
	NetworkSettings
	// The governor of the first CPU, such as performance.
	CPUGovernor *string `json:"cpu_governor"`
}

// NetworkSettings are the settings that a network namespace may have separately. Null means unknown, or no separate
// settings.
type NetworkSettings struct {
	// The default of new connections, such as cubic.
	CongestionControl *string `json:"tcp_congestion_control"`
	// The largest receive buffer of a socket.
	RMemMaxBytes *int64 `json:"rmem_max_bytes" jsonschema:"minimum=0"`
	// The largest send buffer of a socket.
	WMemMaxBytes *int64 `json:"wmem_max_bytes" jsonschema:"minimum=0"`
	// The largest number of connections that wait to be accepted.
	SOMaxConn *int64 `json:"somaxconn" jsonschema:"minimum=0"`
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

// Placement has the CPUs of probe, echo and system.
type Placement struct {
	Name       string `json:"name"`
	ProbeCPUs  string `json:"probe_cpus" jsonschema:"pattern=^([0-9]+(-[0-9]+)?(\\,[0-9]+(-[0-9]+)?)*)?$"`
	EchoCPUs   string `json:"echo_cpus" jsonschema:"pattern=^([0-9]+(-[0-9]+)?(\\,[0-9]+(-[0-9]+)?)*)?$"`
	SystemCPUs string `json:"system_cpus" jsonschema:"pattern=^([0-9]+(-[0-9]+)?(\\,[0-9]+(-[0-9]+)?)*)?$"`
	// How the probe waits. The ways spin and yield show the smallest latency.
	Wait string `json:"wait" jsonschema:"enum=block,enum=spin,enum=yield"`
}

// Disturbed is a second of the run, counted from 0, in which other programs used a CPU of the placement.
type Disturbed struct {
	// Seconds since run.start.
	Second int `json:"second" jsonschema:"minimum=0"`
	Disturbance
}

// Disturbance is the CPU time that other programs and the hypervisor took of one CPU, or of all CPUs together.
type Disturbance struct {
	// Null means all CPUs together.
	CPU *int `json:"cpu" jsonschema:"minimum=0"`
	// The share of the measured time that other programs used.
	OthersPercent float64 `json:"others_percent"`
	// The share of the measured time that the hypervisor took.
	StealPercent float64 `json:"steal_percent"`
}

// Repeated is a part of the run that was discarded and measured again, because other programs used its CPUs.
type Repeated struct {
	// A name such as tcp, round 2.
	Part string `json:"part"`
	// How often the part was discarded.
	Times int `json:"times" jsonschema:"minimum=1"`
	// The measured time of the discarded parts.
	ThrownAwayS float64 `json:"thrown_away_s" jsonschema:"minimum=0"`
	// The largest disturbance of each CPU in the discarded parts.
	DisturbedBy []Disturbance `json:"disturbed_by"`
	// Whether the repetition that counts was undisturbed.
	Settled bool `json:"settled"`
}

// Operation is one row of the results table.
type Operation struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Open means: sent at a fixed rate, and the latency counts from the intended send time.
	Loop string `json:"loop" jsonschema:"enum=closed,enum=open"`
	// Start and end of the latency, in words.
	LatencyIs string `json:"latency_is"`
	// The metric that a comparison must find within its bound. The default is the throughput or rate of closed loops, and
	// the P50 of open loops.
	Primary  string `json:"primary,omitempty" jsonschema:"enum=mbit_per_s,enum=rate_per_s,enum=p50"`
	Requests int64  `json:"requests" jsonschema:"minimum=0"`
	Success  int64  `json:"success" jsonschema:"minimum=0"`
	// The number of errors of each kind in docs/reference/errors.md.
	Errors map[string]int64 `json:"errors"`
	// Answers that were no success, such as HTTP 202, or a close code with its reason.
	Details []ErrorDetail `json:"error_details,omitempty"`
	// From the first start to the last end of this operation; for probes, the sum of their measured parts.
	WindowS float64 `json:"window_s" jsonschema:"minimum=0"`
	// success / window_s; null without a window.
	RatePerS *float64 `json:"rate_per_s" jsonschema:"minimum=0"`
	// The items that one request carries: their name, and how many succeeded.
	Items *Items `json:"items,omitempty"`
	// Payload of the successful operations in one direction, or in both if the operation sends in both at once.
	Transfer *Transfer `json:"transfer,omitempty"`
	// CPU time over the measured parts of a probe: of the system under test (null if not measured) and of the probe's own
	// threads.
	CPU *CPU `json:"cpu,omitempty"`
	// Latency of the successful requests; null without any. A percentile p with fewer than 1/(1-p) samples is null.
	LatencyMS *Latency `json:"latency_ms"`
}

// Items are the items that one request carries.
type Items struct {
	Name     string   `json:"name"`
	Count    int64    `json:"count" jsonschema:"minimum=0"`
	RatePerS *float64 `json:"rate_per_s" jsonschema:"minimum=0"`
}

// Transfer is the payload of the successful operations, in one direction.
type Transfer struct {
	Bytes int64 `json:"bytes" jsonschema:"minimum=0"`
	// Millions of bits per second over window_s; null without a window.
	MbitPerS *float64 `json:"mbit_per_s" jsonschema:"minimum=0"`
}

// CPU is the CPU time over the measured parts of a probe.
type CPU struct {
	SystemS *float64 `json:"system_s" jsonschema:"minimum=0"`
	// Per successful operation; null without any.
	SystemUSPerOperation *float64 `json:"system_us_per_operation" jsonschema:"minimum=0"`
	ProbeS               float64  `json:"probe_s" jsonschema:"minimum=0"`
	ProbeUSPerOperation  *float64 `json:"probe_us_per_operation" jsonschema:"minimum=0"`
}

// Control is the difference between an operation and the same operation without the proxy.
type Control struct {
	Operation string `json:"operation"`
	// The operation without the proxy.
	Control string `json:"control"`
	// The operation's percentile minus the control's. This difference is no percentile of the added time.
	P50MS *float64 `json:"p50_ms"`
	// The operation's percentile minus the control's.
	P95MS *float64 `json:"p95_ms"`
	// The operation's percentile minus the control's.
	P99MS *float64 `json:"p99_ms"`
	// The operation's rate divided by the control's.
	RateRatio *float64 `json:"rate_ratio" jsonschema:"minimum=0"`
}

// Latency is in milliseconds. A percentile with too few samples is nil.
type Latency struct {
	Count int64    `json:"count" jsonschema:"minimum=1"`
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

// Integrity compares the system's answers with the stored data, or a probe's counts with its far end's counts.
type Integrity struct {
	Check string `json:"check"`
	// The count of the system's answers. For a far end, the smallest count that fits the probe's answers.
	Reported *int64 `json:"reported"`
	// The stored count, or the count of the far end.
	Found *int64 `json:"found"`
	// Null if it could not be checked; the detail says why. With the source far_end, null does not affect the verdict: the
	// environment names a far end that is not ours.
	OK     *bool  `json:"ok"`
	Detail string `json:"detail"`
	// The source of found: the database, the system itself, the authoritative DNS server behind it, the far end of the
	// probes, or the kernel.
	Source string `json:"source" jsonschema:"enum=sql,enum=api,enum=dns,enum=far_end,enum=processes"`
	// A known fault of a released program that explains the failed check, which then decides nothing.
	Known string `json:"known,omitempty"`
}

// Threshold is a bound, and whether it held.
type Threshold struct {
	Operation string `json:"operation"`
	Metric    string `json:"metric"`
	// The bound in k6's notation, such as p(95)<250.
	Expression string `json:"expression"`
	// Null without samples.
	Value *float64 `json:"value"`
	Unit  string   `json:"unit" jsonschema:"enum=ms,enum=share,enum=count,enum=per_s"`
	// The value in words, such as `P95 24.2 ms`; absent in results before 2026-11-22.
	Measured string `json:"measured,omitempty"`
	// The bound in words, such as `at most 25 ms`; absent in results before 2026-11-22.
	Required string `json:"required,omitempty"`
	OK       bool   `json:"ok"`
}

// Validity is a check of the measurement itself.
type Validity struct {
	Check string `json:"check"`
	// The kind of the reason if the check failed; absent in older results.
	Kind string `json:"kind,omitempty"`
	// Null if it could not be checked; the detail says why.
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
	Count  int64  `json:"count" jsonschema:"minimum=1"`
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
