// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"windtunnel/k6/internal/exit"
)

// Limits are the limits of the systems under test, as the caller wrote them; "" without limits.
func (a Asked) Limits() string { return a.Getenv("LIMITS") }

// checkLimits rejects limits that the sidecar cannot set, and limits of a system that is up already.
func (p *Plan) checkLimits(a Asked) *exit.Fault {
	text := a.Limits()
	if text == "" {
		return nil
	}
	for _, s := range p.Scenarios {
		if p.Env.Systems[s.System].TestbedOf(s.Name) == nil {
			return exit.BadUsage("LIMITS=%s: %s loads a system that is up already, but limits need a system that the run starts: give TESTBED=…", text, s)
		}
	}
	return a.trySidecar("LIMITS="+text, "limits", "--", text)
}

// trySidecar runs a command of the sidecar that checks what this machine can do. about begins the message if there is no
// sidecar that knows the command.
func (a Asked) trySidecar(about string, arguments ...string) *exit.Fault {
	ctx, cancel := context.WithTimeout(context.Background(), sidecarTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.Sidecar, arguments...)
	cmd.WaitDelay = time.Second
	_, err := cmd.Output()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ended) && len(ended.Stderr) > 0:
		line := strings.TrimPrefix(strings.TrimSpace(string(ended.Stderr)), "sidecar: ")
		if ended.ExitCode() == exit.Usage {
			return exit.BadUsage("%s", line)
		}
		return exit.BadSetup("%s", line)
	}
	return exit.BadSetup("%s: bin/sidecar cannot check it: %v; run `make bin/sidecar`", about, err)
}
