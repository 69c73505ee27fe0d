#!/usr/bin/env python3
"""engine.py none|start|reload CONTROL_PORT signal|restart PROGRAM RULES…

Writes the configuration of a proxy (rules.py RULES…), and runs PROGRAM with it.

none: becomes PROGRAM. start: becomes PROGRAM at the first connection to the control port, so that its own
memory and CPU time are those of PROGRAM. reload: stays its parent, and each connection to the control port
sends it SIGHUP, or ends it and starts it again.
"""

import os
import signal
import socket
import sys
import time

# Time from SIGTERM to SIGKILL, s.
PATIENCE_S = 10


class Child:
    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.pid = os.spawnv(os.P_NOWAIT, arguments[0], arguments)

    def ended(self) -> bool:
        return os.waitpid(self.pid, os.WNOHANG)[0] != 0

    def restart(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE_S
        while not self.ended():
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.001)
        self.pid = os.spawnv(os.P_NOWAIT, self.arguments[0], self.arguments)


def main() -> None:
    control, port, reload, program, *rules = sys.argv[1:]
    maker = os.path.join(os.path.dirname(__file__), "rules.py")
    # Another process makes the rules, so that their memory is not this one's.
    if os.spawnv(os.P_WAIT, sys.executable, [sys.executable, maker, *rules]) != 0:
        sys.exit("engine.py: the rules could not be made")
    arguments = [program, "run", "-c", "proxy.json"]
    if control == "none":
        os.execv(program, arguments)
    if control == "start":
        starter = os.path.join(os.path.dirname(__file__), "..", "at_connection.py")
        os.execv(sys.executable, [sys.executable, starter, port, *arguments])
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        listener.settimeout(0.1)
        child = Child(arguments)
        while not child.ended():
            try:
                listener.accept()[0].close()
            except TimeoutError:
                continue
            if reload == "signal":
                os.kill(child.pid, signal.SIGHUP)
            else:
                child.restart()
        sys.exit("engine.py: the program has ended")


if __name__ == "__main__":
    main()
