"""Slow programs by a known share: slowed.py PERCENT FOLDER.

A file in FOLDER is called by the id of a process that is to be slowed; one that has ended is removed. Of
each 250 ms all of them stand still together for as long as makes them slower by so many per cent, were
nothing made good after each stop. A little is: the comparison says by how much they were slower in fact. It
ends with its standard input. It is no child of theirs, nor they of it: what it takes is none of what they
take.
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
    """To all that are listed."""
    for entry in folder.iterdir():
        try:
            os.kill(int(entry.name), what)
        except ProcessLookupError:
            entry.unlink(missing_ok=True)


def until(moment: float) -> bool:
    """Wait until then; false once the input has ended."""
    readable, _, _ = select.select([sys.stdin], [], [], max(0.0, moment - time.monotonic()))
    return not readable


def first_in_turn() -> None:
    """Where it may: what waits for a CPU lets programs stand still for longer than it says."""
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
