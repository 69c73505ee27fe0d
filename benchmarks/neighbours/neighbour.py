"""A neighbour that uses a share of a CPU: python3 neighbour.py CPU PERCENT PERIOD_MS.

It burns CPU for that share of each period, by its own CPU clock, and sleeps for the rest. It prints `there`
when it has started, and ends with its standard input.
"""

import os
import sys
import threading
import time

cpu, percent, period_ms = (int(text) for text in sys.argv[1:])
os.sched_setaffinity(0, {cpu})
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print("there", flush=True)
while True:
    begun, used = time.monotonic(), time.process_time()
    while time.process_time() - used < percent * period_ms / 1e5:
        pass
    time.sleep(max(0.0, period_ms / 1000 - (time.monotonic() - begun)))
