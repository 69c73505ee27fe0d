// SPDX-License-Identifier: AGPL-3.0-only

package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is for a program that only looks at something.
const patience = 20 * time.Second

func programs(root string) []Finding {
	var all []Finding
	for _, name := range []string{"k6", "sidecar"} {
		path := filepath.Join(root, "bin", name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			all = append(all, ok("bin/"+name, "there"))
			continue
		}
		f := Finding{Name: "bin/" + name, State: Missing, Found: "not built", Without: "no scenario can run", Fix: "make bin/" + name, Stops: true}
		if name == "k6" {
			f.Stops = false // this program is one
		}
		all = append(all, f)
	}
	return all
}

// prerequisites are what the checkout's own script says of building, testing and linting. A release has neither.
func prerequisites(root string) []Finding {
	script := filepath.Join(root, "setup/prerequisites")
	if _, err := os.Stat(script); err != nil {
		return []Finding{ok("toolchains", "none are needed: this is a release")}
	}
	var all []Finding
	for _, use := range []struct{ name, without string }{
		{"bench", "what is not built yet cannot be built"}, {"test", "make test cannot run"}, {"lint", "make lint cannot run"},
	} {
		said, err := output(script, "missing", use.name)
		line := strings.TrimPrefix(said, "make: ")
		f := Finding{Name: "for make " + use.name, State: Missing, Found: line, Without: use.without, Fix: "make setup"}
		switch {
		case err == nil && line == "":
			f = ok(f.Name, "everything is installed")
		case err == nil:
			f.State, f.Without = Limited, ""
		}
		all = append(all, f)
	}
	return all
}

// output is the first line that a program prints, on either stream.
func output(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	said, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return line, err
}

func containers() Finding {
	for _, program := range []string{"docker", "podman"} {
		if find(program) == "" {
			continue
		}
		if said, err := output(program, "compose", "version"); err == nil {
			return ok("containers", "%s", said)
		}
	}
	return Finding{Name: "containers", State: Missing, Found: "neither docker compose nor podman compose can run", Without: "make up cannot start InfluxDB and Grafana",
		Fix: "install Docker with its compose plugin; make influx runs InfluxDB without containers"}
}

func kubernetes(root string) Finding {
	f := Finding{Name: "Kubernetes", State: Missing, Without: "make cluster cannot run"}
	possible := filepath.Join(root, "tests/kubernetes/possible")
	if find("kubectl") != "" {
		return ok("Kubernetes", "kubectl is there; make cluster uses its context")
	}
	f.Found, f.Fix = "kubectl is not installed", "install kubectl, and give it a context"
	if _, err := os.Stat(possible); err != nil {
		return f
	}
	if said, err := output(possible); err != nil {
		f.Found += "; nor can make test-kubernetes bring up a Kubernetes here: " + said
	} else {
		f.State = Limited
		f.Found += "; make test-kubernetes can bring up a Kubernetes here"
	}
	return f
}
