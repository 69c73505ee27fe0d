// SPDX-License-Identifier: AGPL-3.0-only

// Package sql stands in for xk6-sql, which there is for k6 v1 alone. Scripts can import it, and cannot open a database.
package sql

import (
	"errors"

	"go.k6.io/k6/v2/js/modules"
)

type module struct{}

func init() {
	for _, name := range []string{"k6/x/sql", "k6/x/sql/driver/mysql", "k6/x/sql/driver/sqlite3"} {
		modules.Register(name, module{})
	}
}

// NewModuleInstance gives a script the stand-in.
func (module) NewModuleInstance(modules.VU) modules.Instance { return module{} }

// Exports has the names that scripts import from xk6-sql.
func (module) Exports() modules.Exports {
	open := func() error { return errors.New("this k6 has no SQL") }
	return modules.Exports{Default: map[string]any{"open": open}, Named: map[string]any{"open": open}}
}
