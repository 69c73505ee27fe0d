// SPDX-License-Identifier: AGPL-3.0-only

// Command k6 is Windtunnel's k6: k6 with SQL, database drivers, our subcommands and our output. This file is
// what xk6 would write, so the build needs no xk6. Under the name windtunnel the same program has all our commands.
package main

import (
	"context"
	"fmt"
	"os"

	_ "github.com/grafana/xk6-sql"
	"go.k6.io/k6/cmd"
	"go.k6.io/k6/cmd/state"

	_ "windtunnel/k6/drivers/mysql"
	_ "windtunnel/k6/drivers/sqlite"
	"windtunnel/k6/internal/door"
	"windtunnel/k6/internal/startup"
	_ "windtunnel/k6/modules/barrier"
	_ "windtunnel/k6/modules/difference"
	_ "windtunnel/k6/modules/environment"
	_ "windtunnel/k6/modules/judge"
	_ "windtunnel/k6/modules/protocols"
	_ "windtunnel/k6/modules/record"
	_ "windtunnel/k6/modules/runner"
	_ "windtunnel/k6/modules/silent"
	_ "windtunnel/k6/modules/variables"
	_ "windtunnel/k6/outputs/windtunnel"
)

func main() {
	if err := startup.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if door.Is(os.Args[0]) && !door.OfK6(os.Args[1:]) {
		door.Execute(state.NewGlobalState(context.Background()))
		return
	}
	cmd.Execute()
}
