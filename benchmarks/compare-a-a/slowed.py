"""Slow programs by a known share: slowed.py PERCENT FOLDER.

A process that is to be slowed has a file in FOLDER, named by its id; a file of an ended process is removed.
In each 250 ms all of them are stopped together, for the time that makes them slower by PERCENT. Programs
make up for a part of a stop, so the comparison reports by how much they were slower in fact. The script ends
with its standard input. It is neither parent nor child of the programs, so its CPU time does not count as
theirs.
"""

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path

PERIOD_S = 0.25


def send(folder: Path, what: signal.Signals) -> None:
    """Send a signal to all listed processes."""
    for entry in folder.iterdir():
        try:
            os.kill(int(entry.name), what)
        except ProcessLookupError:
            entry.unlink(missing_ok=True)


def until(moment: float) -> bool:
    """Wait until a moment; false if the input has ended."""
    readable, _, _ = select.select([sys.stdin], [], [], max(0.0, moment - time.monotonic()))
    return not readable


def first_in_turn() -> None:
    """Take real-time priority if allowed. Without it, a wait for a CPU would lengthen the stops."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def main() -> None:
    slower, folder = float(sys.argv[1]) / 100, Path(sys.argv[2])
    still_s = PERIOD_S * slower / (1 + slower)
    first_in_turn()
    begin = time.monotonic()
    goes_on = True
    while goes_on:
        begin = max(begin + PERIOD_S, time.monotonic())
        goes_on = until(begin)
        if not goes_on:
            break
        send(folder, signal.SIGSTOP)
        goes_on = until(begin + still_s)
        send(folder, signal.SIGCONT)


with contextlib.suppress(KeyboardInterrupt):
    main()
