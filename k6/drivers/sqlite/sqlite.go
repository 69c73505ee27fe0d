// SPDX-License-Identifier: AGPL-3.0-only

// Package sqlite registers modernc.org/sqlite, which needs no C compiler, with xk6-sql as
// k6/x/sql/driver/sqlite3: the import path of the xk6-sql project's own SQLite driver, so
// that published scripts work unchanged.
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
