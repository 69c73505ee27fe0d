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
	_, refused, err := askSidecar(a.Sidecar, sidecarTimeout, arguments)
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return exit.BadSetup("%s: bin/sidecar cannot check it: %v; run `make bin/sidecar`", about, err)
	}
	return nil
}

// askSidecar runs a command of the sidecar, and returns its output. refused is the sidecar's own line.
func askSidecar(program string, limit time.Duration, arguments []string) (out []byte, refused *exit.Fault, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.WaitDelay = time.Second
	out, err = cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && len(ended.Stderr) > 0 {
		refused = exit.BadSetup("%s", strings.TrimPrefix(strings.TrimSpace(string(ended.Stderr)), "sidecar: "))
		if ended.ExitCode() == exit.Usage {
			refused.Code = exit.Usage
		}
	}
	return out, refused, err
}
