"""Runs statements on a SQLite file: node:sqlite needs a newer Node.js than Windtunnel does.

Usage: sqlite.py FILE, with [{"sql": …, "args": […]}, …] on standard input; prints the rows of the
last statement as JSON. A statement without args may be a whole script.
"""

import json
import sqlite3
import sys


def main() -> None:
    connection = sqlite3.connect(sys.argv[1], timeout=30)
    connection.row_factory = sqlite3.Row
    rows = []
    for statement in json.load(sys.stdin):
        if "args" in statement:
            rows = connection.execute(statement["sql"], statement["args"]).fetchall()
        else:
            connection.executescript(statement["sql"])
    connection.commit()
    print(json.dumps([dict(row) for row in rows]))


try:
    main()
except sqlite3.Error as error:
    sys.exit(str(error))
