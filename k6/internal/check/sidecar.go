// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"windtunnel/k6/internal/schema"
)

// sidecarTimeout bounds a `sidecar testbed show`, which only reads files.
const sidecarTimeout = 10 * time.Second

// checkTestbed checks a testbed file against its schema and, where it belongs to the checkout and the
// sidecar is built, by the sidecar: it alone knows its templates and regular expressions.
func checkTestbed(root, path string, doc any) []schema.Problem {
	problems := schema.Check(schema.Testbed, doc)
	if len(problems) > 0 || root == "" || !sameFile(filepath.Dir(path), filepath.Join(root, "testbeds")) {
		return problems
	}
	program := filepath.Join(root, "bin", "sidecar")
	if _, err := os.Stat(program); err != nil {
		return nil
	}
	if line := refusal(program, root, strings.TrimSuffix(filepath.Base(path), ".toml")); line != "" {
		return []schema.Problem{{Message: line}}
	}
	return nil
}

// refusal is the line with which the sidecar refuses a testbed, without the file's name, or "".
func refusal(program, root, name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), sidecarTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "testbed", "show", "--root", root, "--", name)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err == nil {
		return ""
	}
	said := strings.Join(strings.Fields(stderr.String()), " ")
	if said == "" {
		said = fmt.Sprintf("bin/sidecar cannot check it: %v; run `make build`", err)
	}
	said = strings.TrimPrefix(said, "sidecar: ")
	return strings.TrimPrefix(said, "testbeds/"+name+".toml: ")
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
