"""Runs InfluxDB 1.x in the foreground, with a database and a user with read and write access.

Usage: start.py INFLUXD    in a folder with influxdb.conf; address, names and password in INFLUX…

InfluxDB lets anyone create the first administrator, and allows nothing else before that. So an
administrator with a random password is created, which then creates the rest.
"""

import base64
import json
import os
import secrets
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE_S = 50
ADMINISTRATOR = "admin"


def name(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def string(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Refused(Exception):
    """InfluxDB's answer in place of a result; status is the HTTP status."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status = status


class Server:
    def __init__(self, url: str):
        self.url = url
        # The server is on loopback: never use a proxy.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def wait(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.opener.open(self.url + "/ping", timeout=1).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def query(self, text: str, username: str = "", password: str = "") -> None:
        request = urllib.request.Request(self.url + "/query", urllib.parse.urlencode({"q": text}).encode())
        if username:
            pair = base64.b64encode(f"{username}:{password}".encode()).decode()
            request.add_header("Authorization", f"Basic {pair}")
        try:
            with self.opener.open(request, timeout=30) as answer:
                result = json.load(answer)["results"][0]
        except urllib.error.HTTPError as error:
            raise Refused(error.code, json.load(error).get("error", error.reason)) from None
        if "error" in result:
            raise Refused(200, result["error"])


def set_up(server: Server, username: str, password: str, database: str, retention: str) -> None:
    own = secrets.token_hex(32)
    try:
        server.query(f"CREATE USER {name(ADMINISTRATOR)} WITH PASSWORD {string(own)} WITH ALL PRIVILEGES")
    except Refused as refused:
        if refused.status not in (401, 403):
            raise
        keep(server, username, password)
        return
    for statement in (
        f"CREATE DATABASE {name(database)} WITH DURATION {retention} REPLICATION 1 NAME {name(database)}",
        f"CREATE USER {name(username)} WITH PASSWORD {string(password)}",
        f"GRANT ALL ON {name(database)} TO {name(username)}",
    ):
        server.query(statement, ADMINISTRATOR, own)


def keep(server: Server, username: str, password: str) -> None:
    """Check that data from an earlier start has this user."""
    try:
        server.query("SHOW DATABASES", username, password)
    except Refused as refused:
        if refused.status != 401:
            raise
        raise Refused(
            401, "the data was made with another INFLUX_PASSWORD; give that one, or remove the data"
        ) from None


def child(parent: int) -> None:
    variables = ("INFLUX_USERNAME", "INFLUX_PASSWORD", "INFLUX_DATABASE", "INFLUX_RETENTION")
    server = Server(os.environ["INFLUX"])
    try:
        server.wait()
        set_up(server, *(os.environ[variable] for variable in variables))
    except (OSError, Refused) as error:
        print(f"influxdb: {error}", file=sys.stderr, flush=True)
        if os.getppid() == parent:
            os.kill(parent, signal.SIGKILL)
        sys.exit(1)
    print("windtunnel may write", flush=True)


def main() -> None:
    program = sys.argv[1]
    parent = os.getpid()
    if os.fork() == 0:
        child(parent)
        return
    environment = {key: value for key, value in os.environ.items() if not key.startswith("INFLUX")}
    os.execve(program, [program, "-config", "influxdb.conf"], environment)


if __name__ == "__main__":
    main()
