"""Run a program that gets slower by a known share: slowed.py PERCENT PROGRAM [ARGUMENTS].

Of each 50 ms it stands still for as long as makes it slower by so many per cent. The periods are those of the
machine's clock, so that a client and a server stand still together: two that did so in turn would be twice as slow.
The program keeps the process's id, so that whoever started it meets, measures and ends the program itself; a helper
stops it and lets it go on.
"""

import os
import signal
import sys
import time

PERIOD_S = 0.05


def until(moment: float) -> None:
    """Sleep until then, by the clock that all processes of the machine share."""
    time.sleep(max(0.0, moment - time.monotonic()))


def hold(program: int, share: float) -> None:
    """Stop and continue the program until it has ended."""
    while os.getppid() == program:
        begin = (time.monotonic() // PERIOD_S + 1) * PERIOD_S
        until(begin)
        if os.getppid() != program:
            return
        os.kill(program, signal.SIGSTOP)
        until(begin + PERIOD_S * share)
        os.kill(program, signal.SIGCONT)


def main() -> None:
    slower = float(sys.argv[1]) / 100
    program = os.getpid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.closerange(0, 256)
        try:
            hold(program, slower / (1 + slower))
        finally:
            os._exit(0)
    os.execvp(sys.argv[2], sys.argv[2:])


main()
