// SPDX-License-Identifier: AGPL-3.0-only

package alone

import (
	"context"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/coordinator"
)

func TestTheFirstSignalStopsTheRunnersAndTheSecondWaitsForNobody(t *testing.T) {
	const token = "0123456789abcdef"
	signals := make(chan os.Signal)
	j := &job{Options: Options{Options: bench.Options{Signals: signals}}, keeper: coordinator.New(coordinator.Config{Runners: 1, Token: token,
		Folder: t.TempDir(), Name: "x", Patience: time.Minute, Silence: time.Minute, Say: func(string) {}})}
	server := httptest.NewServer(j.keeper.Handler())
	defer server.Close()
	runner := &coordinator.Client{URL: server.URL, Token: token}
	if _, err := runner.Register(t.Context(), coordinator.Registration{Number: 1, Of: 1}); err != nil {
		t.Fatal(err)
	}
	waiting, waitNoMore := context.WithCancel(t.Context())
	defer waitNoMore()
	interrupted, stop := j.onSignals(waitNoMore)
	defer stop()
	if interrupted() {
		t.Error("before a signal")
	}
	signals <- syscall.SIGINT
	if told, err := runner.SetUp(t.Context()); err != nil || told.Stop == "" || !interrupted() || waiting.Err() != nil {
		t.Errorf("after the first: %+v %v, %v", told, err, waiting.Err())
	}
	signals <- syscall.SIGINT
	if err := j.keeper.Wait(waiting); err == nil {
		t.Error("the runner's record did not come")
	}
}
