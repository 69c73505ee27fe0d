"""Runs uvicorn with this program's arguments. POST /restart kills its processes as a crash would.

Then it starts uvicorn again, and answers 204 before that listens. RESTART_PORT is the port on 127.0.0.1,
RESTART_TOKEN the bearer token that a request must have.
"""

import contextlib
import hmac
import os
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

COMMAND = [sys.executable, "-m", "uvicorn", *sys.argv[1:]]
PORT = int(os.environ.pop("RESTART_PORT"))
TOKEN = f"Bearer {os.environ.pop('RESTART_TOKEN')}"


def family(pid: int) -> list[int]:
    """A process and its descendants. One that has ended meanwhile has none (proc_pid_task(5))."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(one for child in children for one in family(int(child)))]


class Restarter(BaseHTTPRequestHandler):
    """The one request, to the one server."""

    server = subprocess.Popen(COMMAND)

    def do_POST(self) -> None:
        """Kills and starts the server, if path and token are right."""
        given = self.headers.get("Authorization", "")
        if self.path != "/restart" or not hmac.compare_digest(given.encode(), TOKEN.encode()):
            self.send_error(403)
            return
        for pid in family(Restarter.server.pid):
            # A descendant may end with its parent.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        Restarter.server.wait()
        Restarter.server = subprocess.Popen(COMMAND)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs no requests."""


def end(*_: object) -> None:
    """Ends the server, and this process with it."""
    Restarter.server.terminate()
    Restarter.server.wait()
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
HTTPServer(("127.0.0.1", PORT), Restarter).serve_forever()
