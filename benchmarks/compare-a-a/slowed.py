"""Run a program that gets slower by a known share: slowed.py PERCENT PROGRAM [ARGUMENTS].

Of each 20 ms it stands still for as long as makes it slower by so many per cent. The program keeps the
process's id, so that whoever started it meets, measures and ends the program itself; a helper stops it and
lets it go on.
"""

import os
import signal
import sys
import time

PERIOD_S = 0.02


def hold(program: int, share: float) -> None:
    """Stop and continue the program until it has ended."""
    while os.getppid() == program:
        time.sleep(PERIOD_S * (1 - share))
        if os.getppid() != program:
            return
        os.kill(program, signal.SIGSTOP)
        time.sleep(PERIOD_S * share)
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
