"""A proxy inside of limits: kills for memory and throttled periods, by the sidecar and by others."""

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measured import Sidecar, run

KILLS = 3
LIMITS = "cpu:20%,memory:48mib"
ROUND_TRIPS = 10_000


def killed_at_first(folder: Path, proxy: Path) -> Path:
    """A proxy that needs too much memory for so many starts."""
    program = folder / "killed-at-first"
    starts = "64 " * KILLS + "0"
    program.write_text(f'#!/bin/sh\nfor mib in {starts}; do "{proxy}" -needs "$mib" "$@"; done\n')
    program.chmod(0o755)
    return program


def groups_of(pid: int) -> list[Path]:
    """Folders of the process's control groups with limits."""
    found = subprocess.run(
        ["grep", "-rlxs", "--include=cgroup.procs", str(pid), "/sys/fs/cgroup"],
        capture_output=True,
        text=True,
        check=False,
    )
    folders = [Path(line).parent for line in found.stdout.splitlines()]
    return [folder for folder in folders if folder.name.startswith("windtunnel-")]


def by_cat(groups: list[Path], *names: str) -> dict[str, float]:
    """The numbers of a file of the groups, whichever name it has."""
    files = [str(folder / name) for folder in groups for name in names if (folder / name).exists()]
    text = run(["cat", *files])[0]
    return {word: float(value) for word, value in re.findall(r"^(\w+) (\d+)$", text, re.MULTILINE)}


def by_kernel_log(group: Path) -> int | None:
    """Processes of the group that the kernel's log says were killed."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False)
    killed = rf"oom-kill:.*/{re.escape(group.name)},task="
    return None if log.returncode else len(re.findall(killed, log.stdout))


def limited(
    sidecar: Sidecar, load_of: Callable[[Sidecar, int], Any], folder: Path, proxy: Path
) -> list[tuple[str, float, float | None, str]]:
    variables = {"binary": str(killed_at_first(folder, proxy)), "arguments": "-listen 127.0.0.1:PORT"}
    started = sidecar.ask("/testbeds/own-proxy/start", {"variables": variables, "limits": LIMITS})
    load = load_of(sidecar, int(started["outputs"]["FOOTPRINT_URL"].rpartition(":")[2]))
    load.end(load.begin("tcp", count=ROUND_TRIPS))
    time.sleep(0.5)  # An idle group has no more periods.
    state = sidecar.ask(f"/instances/{started['id']}")
    ours = state["limits"]
    groups = groups_of(state["processes"][0]["alive"][0]["pid"])
    kills = by_cat(groups, "memory.oom_control", "memory.events")["oom_kill"]
    quota = by_cat([group for group in groups if (group / "cpu.stat").exists()], "cpu.stat")
    stopped_ms = quota.get("throttled_usec", 0) / 1e3 or quota.get("throttled_time", 0) / 1e6
    return [
        ("kills for memory", ours["killed"], by_kernel_log(groups[0]), "dmesg"),
        ("the same", ours["killed"], kills, "cat of the group's memory.oom_control or memory.events"),
        ("periods of a quota", ours["periods"], quota["nr_periods"], "cat cpu.stat"),
        ("throttled periods", ours["throttled_periods"], quota["nr_throttled"], "cat cpu.stat"),
        ("throttled time, ms", ours["throttled_s"] * 1e3, stopped_ms, "cat cpu.stat"),
    ]
