// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"windtunnel/k6/internal/exit"
)

// rights are the permissions that a run needs in its namespace, in the form of `kubectl auth can-i`.
var rights = []string{
	"create jobs.batch", "patch jobs.batch", "delete jobs.batch",
	"create testruns.k6.io", "delete testruns.k6.io",
	"create secrets", "delete secrets", "create configmaps", "delete configmaps",
	"create services", "delete services",
	"create networkpolicies.networking.k8s.io", "delete networkpolicies.networking.k8s.io",
	"list pods", "list jobs.batch", "list testruns.k6.io", "list events",
	"get pods/log", "create pods/exec",
}

// ready says why the cluster cannot run anything, before the run makes objects there.
func (k kubectl) ready(ctx context.Context) *exit.Fault {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return exit.BadSetup("kubectl is not installed; https://kubernetes.io/docs/tasks/tools/ says how to get it")
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	name, err := k.run(ctx, "", "config", "current-context")
	if err != nil {
		return exit.BadSetup("no cluster: kubectl has no context (%v); set KUBECONFIG, or run kubectl config use-context NAME", err)
	}
	at := strings.TrimSpace(string(name))
	if _, err := k.run(ctx, "", "version", "--output", "json"); err != nil {
		return exit.BadSetup("the cluster of the context %s cannot be used: %v", at, err)
	}
	kinds, err := k.run(ctx, "", "api-resources", "--api-group=k6.io", "--output=name", "--cached=false")
	if err != nil {
		return exit.BadSetup("cannot read the objects in the cluster of the context %s: %v", at, err)
	}
	if !slices.Contains(strings.Fields(string(kinds)), "testruns.k6.io") {
		return exit.BadSetup("the cluster of the context %s has no k6-operator: it knows no testruns.k6.io; docs/how-to/kubernetes.md says how to install it", at)
	}
	missing, err := k.missingRights(ctx)
	if err != nil {
		return exit.BadSetup("cannot read the permissions in the cluster of the context %s: %v", at, err)
	}
	if len(missing) > 0 {
		return exit.BadSetup("the context %s lacks these permissions: %s; docs/how-to/kubernetes.md has a Role with them", at, strings.Join(missing, ", "))
	}
	return nil
}

func (k kubectl) missingRights(ctx context.Context) ([]string, error) {
	answers := make([]error, len(rights))
	var asked sync.WaitGroup
	few := make(chan struct{}, 4)
	for i, right := range rights {
		asked.Go(func() {
			few <- struct{}{}
			defer func() { <-few }()
			verb, kind, _ := strings.Cut(right, " ")
			kind, part, _ := strings.Cut(kind, "/")
			_, answers[i] = k.run(ctx, "", "auth", "can-i", verb, kind, "--subresource="+part)
		})
	}
	asked.Wait()
	var missing []string
	for i, err := range answers {
		var ended *exec.ExitError
		switch {
		case err == nil:
		case errors.As(err, &ended), strings.HasPrefix(err.Error(), "Warning"):
			missing = append(missing, rights[i])
		default:
			return nil, err
		}
	}
	return missing, nil
}

// accepts asks the cluster whether it would accept manifests: it would silently drop fields that its operator does not
// know.
func (k kubectl) accepts(ctx context.Context, text string) *exit.Fault {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	_, err := k.run(ctx, text, "create", "--dry-run=server", "--validate=strict", "--filename=-")
	if err == nil {
		return nil
	}
	if line := err.Error(); strings.Contains(line, "unknown field") || strings.Contains(line, "strict decoding") {
		return exit.BadSetup("this version of k6-operator is not supported: %s; docs/how-to/kubernetes.md lists supported versions", line)
	}
	return exit.BadSetup("the cluster refuses the run: %v", fmt.Errorf("%s", exit.OneLine(err.Error())))
}
