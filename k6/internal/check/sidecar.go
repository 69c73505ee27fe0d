// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"os"
	"path/filepath"
	"strings"

	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/testbed"
)

// checkTestbed checks a testbed file against its schema. For a testbed of the checkout it also asks the sidecar, if the
// sidecar is built: only the sidecar knows its templates and regular expressions.
func checkTestbed(root, path string, doc any) []schema.Problem {
	problems := schema.Check(schema.Testbed, doc)
	if len(problems) > 0 || root == "" || !sameFile(filepath.Dir(path), filepath.Join(root, "testbeds")) {
		return problems
	}
	if line := testbed.Refusal(root, strings.TrimSuffix(filepath.Base(path), ".toml")); line != "" {
		return []schema.Problem{{Message: line}}
	}
	return nil
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
