// SPDX-License-Identifier: AGPL-3.0-only

// Package mysql registers go-sql-driver/mysql with xk6-sql as k6/x/sql/driver/mysql.
package mysql

import (
	_ "github.com/go-sql-driver/mysql" // registers "mysql" with database/sql
	"github.com/grafana/xk6-sql/sql"
)

func init() {
	sql.RegisterModule("mysql")
}
