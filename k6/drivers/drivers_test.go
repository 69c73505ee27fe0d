// SPDX-License-Identifier: AGPL-3.0-only

// Package drivers_test opens databases through real k6 runs.
package drivers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/grafana/xk6-sql"
	"go.k6.io/k6/cmd"

	_ "windtunnel/k6/drivers/mysql"
	_ "windtunnel/k6/drivers/sqlite"
)

// TestMain makes the test binary act as k6.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "run" || os.Args[1] == "version") {
		cmd.Execute()
		return
	}
	os.Exit(m.Run())
}

func k6(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), "K6_NO_USAGE_REPORT=true", "K6_AUTO_EXTENSION_RESOLUTION=false", "DIR="+t.TempDir())
	out, err := command.CombinedOutput()
	return string(out), err
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.js")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSQLite(t *testing.T) {
	out, err := k6(t, "run", "--address", "", script(t, `
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/sqlite3';
import { check } from 'k6';
const db = sql.open(driver, __ENV.DIR + '/test.db');
export const options = { thresholds: { checks: ['rate==1'] } };
export default function () {
  db.exec('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)');
  db.exec('INSERT INTO users (name) VALUES (?), (?)', 'ada', "o'neil");
  const rows = db.query('SELECT name FROM users ORDER BY id');
  check(rows, { 'two rows': (r) => r.length === 2, 'their names': (r) => r[1].name === "o'neil" });
  console.log('rows: ' + rows.map((r) => r.name).join(' '));
}
export function teardown() { db.close(); }
`))
	if err != nil || !strings.Contains(out, "rows: ada o'neil") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMySQLDriver needs no server: the driver's own error shows that the driver is linked.
func TestMySQLDriver(t *testing.T) {
	out, err := k6(t, "run", "--address", "", script(t, `
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/mysql';
const db = sql.open(driver, 'user:password@tcp(127.0.0.1:1)/none');
export default function () { db.query('SELECT 1'); }
`))
	if !strings.Contains(out, "dial tcp 127.0.0.1:1: connect: connection refused") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestVersionListsExtensions(t *testing.T) {
	out, err := k6(t, "version")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"k6/x/sql [js]", "k6/x/sql/driver/mysql [js]", "k6/x/sql/driver/sqlite3 [js]"} {
		if !strings.Contains(out, name) {
			t.Errorf("no %s in %s", name, out)
		}
	}
}
