"""What does the sidecar's sampling of processes cost, in percent of a CPU?

`make benchmark-sampler` runs it. A window over 20 processes samples ten times a second. The processes have
nine threads each. They are idle, or one thread of each wakes 50 times a second and writes to memory. Windows
of a run also tell who used each CPU. The cases take turns, ROUNDS times, EACH_S seconds each. The cost is the
CPU time of the sidecar, less that without a window.
"""

import os
import sys
import time
from contextlib import ExitStack
from typing import Any

from measured import Sidecar, spread, start

PROCESSES = 20
ROUNDS = int(os.environ.get("ROUNDS", "5"))
EACH_S = float(os.environ.get("EACH_S", "5"))
PROCESS = """
import sys, threading, time
for _ in range(7): threading.Thread(target=time.sleep, args=(86400,), daemon=True).start()
threading.Thread(target=lambda: (sys.stdin.read(), __import__("os")._exit(0)), daemon=True).start()
print("there", flush=True)
while True:
    time.sleep(float(sys.argv[1]))
    block = bytearray(65536)
"""
KINDS = {"idle": "86400", "busy": "0.02"}
CASES: dict[str, tuple[str, dict[str, Any]] | None] = {
    "no window": None,
    "20 idle processes": ("idle", {}),
    "20 busy processes": ("busy", {}),
    "20 busy processes, and who used each CPU": ("busy", {"by_cpu": True}),
}


def cpu_s(pid: int) -> float:
    """CPU time of a process so far, by its CPU clock (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def share(sidecar: Sidecar, case: tuple[str, dict[str, Any]] | None, pids: dict[str, list[int]]) -> float:
    """Percent of a CPU that the sidecar uses."""
    window = ""
    if case:
        kind, more = case
        named = {f"p{number}": pid for number, pid in enumerate(pids[kind])}
        window = sidecar.ask("/windows", {"pids": named, **more})["id"]
    time.sleep(0.3)
    used, since = cpu_s(sidecar.pid), time.monotonic()
    time.sleep(EACH_S)
    used, took = cpu_s(sidecar.pid) - used, time.monotonic() - since
    if window:
        sidecar.ask(f"/windows/{window}/close", {})
    return 100 * used / took


def main() -> None:
    with ExitStack() as stack:
        sidecar = Sidecar(stack)
        pids = {
            kind: [start(stack, [sys.executable, "-c", PROCESS, wait])[0].pid for _ in range(PROCESSES)]
            for kind, wait in KINDS.items()
        }
        shares: dict[str, list[float]] = {name: [] for name in CASES}
        for turn in range(ROUNDS):
            for name in list(CASES) if turn % 2 == 0 else reversed(CASES):
                shares[name].append(share(sidecar, CASES[name], pids))
    none, *_ = shares
    print(f"CPU time of the sidecar, percent of a CPU; {ROUNDS} rounds of {EACH_S:g} s; median (min–max)")
    for name, values in shares.items():
        less = [value - without for value, without in zip(values, shares[none], strict=True)]
        values = values if name == none else less
        print(f"  {name:42} {spread(values, 3)}")


if __name__ == "__main__":
    main()
