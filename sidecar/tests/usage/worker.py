"""Does each order once: a file in the folder of its argument. Then it writes the CPU seconds of the order.

burn: burns CPU time, in a thread and in a child that it waits for, too. allocate: takes and frees memory.
map: maps the file `mapped`, reads it, and unmaps it. keep: opens 30 files. quit: ends.
"""

import mmap
import os
import resource
import sys
import threading
import time
from pathlib import Path

ROOT = Path(sys.argv[1])
KEPT = []


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def used():
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def burn():
    pid = os.fork()
    if pid == 0:
        spin(0.4)
        os._exit(0)
    os.waitpid(pid, 0)
    thread = threading.Thread(target=spin, args=(0.3,))
    thread.start()
    thread.join()
    spin(0.3)


def allocate():
    block = b"x" * (200 * 1024 * 1024)
    del block


def map_file():
    mapped = mmap.mmap(os.open(ROOT / "mapped", os.O_RDONLY), 0, prot=mmap.PROT_READ)
    sum(mapped[at] for at in range(0, len(mapped), 4096))
    time.sleep(0.5)
    mapped.close()


def keep():
    KEPT.extend(os.open("/dev/null", os.O_RDONLY) for _ in range(30))


ORDERS = {"burn": burn, "allocate": allocate, "map": map_file, "keep": keep, "quit": lambda: spin(0.3)}
print("ready", flush=True)
while True:
    time.sleep(0.01)
    for order in [name for name in ORDERS if (ROOT / name).exists()]:
        before = used()
        ORDERS.pop(order)()
        written = ROOT / f"{order}.tmp"
        written.write_text(str(used() - before))
        written.rename(ROOT / f"{order}.done")
        if order == "quit":
            sys.exit(3)
