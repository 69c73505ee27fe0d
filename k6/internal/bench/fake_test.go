// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.k6.io/k6/cmd"

	"windtunnel/k6/internal/neighbour"
	"windtunnel/k6/internal/plan"
	_ "windtunnel/k6/modules/barrier"
	_ "windtunnel/k6/outputs/windtunnel"
)

const (
	fakeSecret = "pass/word&1234+x"
	fakeToken  = "0123456789abcdef-token"
)

// TestMain makes the test binary act as the programs that the bench starts: `run` and `inspect` are the real k6, `serve`
// `testbed` and `limits` a fake sidecar, `bench` a whole bench that a test can kill.
func TestMain(m *testing.M) {
	claimApart()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "run", "inspect":
			cmd.Execute()
			return
		case "serve":
			serveFake()
			return
		case "testbed":
			checkFake(os.Args[2:])
			return
		case "limits":
			return
		case "bench":
			signals := make(chan os.Signal, 4)
			signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
			os.Exit(Run(Options{Asked: plan.Asked{Root: os.Args[2], Profile: "smoke", Env: "local", Only: os.Args[3],
				Sidecar: os.Args[0], Environ: os.Environ()}, RunID: "test", K6: os.Args[0],
				Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals}))
		}
	}
	os.Exit(m.Run())
}

// checkFake answers `sidecar testbed check`: queue is a number, every other value a text. binary is the path of the
// program.
func checkFake(arguments []string) {
	given, problems := map[string]any{}, []map[string]any{}
	for _, argument := range arguments {
		if values, ok := strings.CutPrefix(argument, "--values="); ok {
			_ = json.Unmarshal([]byte(values), &given)
		}
		pair, ok := strings.CutPrefix(argument, "--var=")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		number, err := strconv.Atoi(value)
		switch {
		case name == "queu":
			problems = append(problems, map[string]any{"variable": name, "is": "unknown", "known": []string{"cpus", "queue"},
				"text": "testbeds/proxy.toml declares no such variable; it declares: cpus, queue"})
		case name != "queue":
			given[name] = value
		case err == nil:
			given[name] = number
		default:
			problems = append(problems, map[string]any{"variable": name, "is": "value", "text": "is a string, and must be an integer"})
		}
	}
	names := map[string]any{}
	if program, ok := given["binary"]; ok {
		names["program"] = program
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"given": given, "problems": problems, "names": names})
}

// claimApart gives the benches of this test and its children separate names, so that other benches on the host do not
// matter.
func claimApart() {
	const variable = "FAKE_CLAIMS"
	if os.Getenv(variable) == "" {
		_ = os.Setenv(variable, fmt.Sprintf("@windtunnel-test-%d", os.Getpid()))
	}
	neighbour.Apart(os.Getenv(variable))
}

// serveFake implements the part of the sidecar's API that the bench uses. The kernel kills a process of each testbed. FAKE_SIDECAR chooses a fault.
// Faults of processes are mute, dead (at once), and dies (a process of the testbed that FAKE_EVENTS.dies names, or of any if it is empty).
// Faults of starts are refuse, unable (to start the testbed `own`), unfit (for any), vanish, and tokenless. Faults of windows are slow (every second look), stumble
// (over the first), forget (them) and brief (little time between looks). FAKE_SECRET is the password in its outputs,
// FAKE_EVENTS names a file for events.
func serveFake() {
	mode := os.Getenv("FAKE_SIDECAR")
	var mu sync.Mutex
	event := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(os.Getenv("FAKE_EVENTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			fmt.Fprintf(f, format+"\n", args...)
			f.Close()
		}
	}
	if mode == "dead" {
		fmt.Fprintln(os.Stderr, "cannot read testbeds")
		os.Exit(4)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var started []string // names of testbeds; instance i1 is of the first
	mux := http.NewServeMux()
	mux.HandleFunc("POST /testbeds/{name}/start", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		event("start %s %s", r.PathValue("name"), strings.TrimSpace(string(body)))
		switch mode {
		case "refuse":
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, `{"error":"port 8081 is taken by pid 7 (nginx)","mend":"stop it or set the variable port"}`)
			return
		case "unable", "unfit":
			if mode == "unfit" || r.PathValue("name") == "own" {
				w.WriteHeader(http.StatusNotImplemented)
				fmt.Fprint(w, `{"error":"testbed own makes network namespaces, and this user may not","mend":"run it as root"}`)
				return
			}
		case "vanish":
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(3)
		}
		mu.Lock()
		started = append(started, r.PathValue("name"))
		number := len(started)
		mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": fmt.Sprintf("i%d", number), "testbed": r.PathValue("name"),
			"outputs":        map[string]string{"PULSAR_URL": "http://127.0.0.1:9", "FAKE_TESTBED": r.PathValue("name")},
			"secret_outputs": map[string]string{"PULSAR_PASSWORD": cmp.Or(os.Getenv("FAKE_SECRET"), fakeSecret)},
		})
	})
	mux.HandleFunc("GET /limits", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, `{"killed":%d}`, len(started))
	})
	mux.HandleFunc("DELETE /instances/{id}", func(w http.ResponseWriter, r *http.Request) {
		event("delete %s", r.PathValue("id"))
		fmt.Fprint(w, `{"processes":[]}`)
	})
	looks := 0
	mux.HandleFunc("POST /windows", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		event("window %s", regexp.MustCompile(`\d{2,}`).ReplaceAllString(string(body), "PID"))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"w1"}`)
	})
	mux.HandleFunc("GET /instances/{id}", func(w http.ResponseWriter, r *http.Request) {
		exit := "null"
		number, _ := strconv.Atoi(strings.TrimPrefix(r.PathValue("id"), "i"))
		mu.Lock()
		of := started[number-1]
		mu.Unlock()
		if dies, err := os.ReadFile(os.Getenv("FAKE_EVENTS") + ".dies"); mode == "dies" && err == nil && (len(dies) == 0 || string(dies) == of) {
			exit = `"signal 9"`
		}
		fmt.Fprintf(w, `{"id":%q,"processes":[{"name":"relay","exit":%s}]}`, r.PathValue("id"), exit)
	})
	mux.HandleFunc("GET /instances", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[{"id":"i1"}]`) })
	// Each look is a second after the previous one. The relay uses half a core in that second, and the host one of two.
	mux.HandleFunc("GET /windows/w1", func(w http.ResponseWriter, _ *http.Request) {
		looks++
		event("look %d", looks)
		switch {
		case mode == "slow" && looks%2 == 1:
			time.Sleep(700 * time.Millisecond)
		case mode == "stumble" && looks == 1:
			w.WriteHeader(http.StatusInternalServerError)
			return
		case mode == "forget":
			w.WriteHeader(http.StatusNotFound)
			return
		}
		duration := float64(looks)
		if mode == "brief" {
			duration *= 0.15
		}
		fmt.Fprintf(w, `{"id":"w1","duration_s":%g,"host":{"cpus":2,"busy_percent":50,"busy_s":%d},"processes":[
			{"name":"relay","role":"system","cpu_s":%g,"rss_bytes":1000,"exit":null},
			{"name":"gone","role":"support","cpu_s":0,"rss_bytes":7,"exit":"signal 9"}]}`, duration, looks, 0.5*float64(looks))
	})
	mux.HandleFunc("POST /windows/w1/close", func(w http.ResponseWriter, _ *http.Request) {
		event("window closed")
		fmt.Fprint(w, `{}`)
	})
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+fakeToken && mode != "tokenless" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"wrong token","mend":"send Authorization: Bearer TOKEN"}`)
			return
		}
		mux.ServeHTTP(w, r)
	})
	go func() { _ = http.Serve(listener, guarded) }()
	event("pid %d", os.Getpid())
	event("args %s", strings.Join(os.Args[2:], " "))
	switch mode {
	case "mute":
	case "tokenless":
		fmt.Printf(`{"url":"http://%s"}`+"\n", listener.Addr())
	default:
		fmt.Printf(`{"url":"http://%s","token":%q}`+"\n", listener.Addr(), fakeToken)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	event("end")
}
