// SPDX-License-Identifier: AGPL-3.0-only

// Package sqlite registers modernc.org/sqlite with xk6-sql as k6/x/sql/driver/sqlite3. That driver needs no C compiler.
// The import path is the one of xk6-sql's own SQLite driver, so published scripts work unchanged.
package sqlite

import (
	stdsql "database/sql"

	"github.com/grafana/xk6-sql/sql"
	"modernc.org/sqlite"
)

const name = "sqlite3"

func init() {
	stdsql.Register(name, &sqlite.Driver{})
	sql.RegisterModule(name)
}
