"""Runs SQL on a testbed's database, in one transaction that ends when standard input does.

Each line of standard input is a statement; each answer is a line, a JSON array of its rows.
DATABASE_URL names the database, as the testbed's output does.
"""

import json
import os
import sys

from sqlalchemy import create_engine, make_url, text

url = make_url(os.environ["DATABASE_URL"])
if url.drivername == "mysql":
    url = url.set(drivername="mysql+pymysql")
with create_engine(url).begin() as connection:
    for statement in sys.stdin:
        result = connection.execute(text(statement))
        rows = [list(row) for row in result] if result.returns_rows else []
        print(json.dumps(rows, default=str), flush=True)
