"""Starts and reloads of a proxy: what footprint/start says, and perf, tcpdump and ss in the same run."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from threading import Event, Thread

from measured import ROOT, run

FLAGS = "-start-after 500ms -reload drop,keep -refuses 1s"
SCENARIO = {"ONLY": "footprint/start", "PROFILE": "smoke", "RULES": "0,10", "TURNS": "1", "RELOADS": "1"}
EVENTS = ("sched:sched_process_exec", "syscalls:sys_enter_listen", "signal:signal_generate")
EACH_S = 0.03
# The answers of SOCKS5 to a greeting and a request are not longer.
SOCKS_MOST = 10

Packet = tuple[float, int, int, str, int]


def bench(program: Path) -> dict:
    """The result of the scenario: each number of rules has a start, and a reload under load."""
    name = f"instruments-{os.getpid()}"
    testbed = f"rules:rules=0,rules_as=inline,binary={program}"
    variables = SCENARIO | {"TESTBED": testbed, "RULES_AS": "inline", "BESIDE": "1", "AGAIN": "0"}
    command = [str(ROOT / "bin/k6"), "x", "bench", "--run-id", name]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    folder = ROOT / "results" / name
    try:
        return json.loads((folder / "footprint-start.json").read_text())
    except FileNotFoundError:
        sys.exit(f"footprint/start has no result: {done.stdout}{done.stderr}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def column(result: dict, section: str, name: str) -> list[float]:
    """The values of the section's rows."""
    (found,) = [one for one in result["sections"] if one["name"] == section]
    at = [one["name"] for one in found["columns"]].index(name)
    return [row[at]["value"] if isinstance(row[at], dict) else row[at] for row in found["rows"]]


class Sockets:
    """Both ports of established TCP connections by ss, again and again."""

    def __init__(self, stack: ExitStack) -> None:
        self.seen: list[tuple[float, float, set[tuple[int, int]]]] = []
        self.over = Event()
        thread = Thread(target=self.look)
        thread.start()
        stack.callback(thread.join)
        stack.callback(self.over.set)

    def look(self) -> None:
        while not self.over.wait(EACH_S):
            began = time.time()
            told = run(["ss", "-H", "-t", "-n"])[0]
            pairs = re.findall(r"^ESTAB.*:(\d+) +\S+:(\d+)", told, re.MULTILINE)
            self.seen.append((began, time.time(), {(int(own), int(other)) for own, other in pairs}))

    def open(self, port: int, since: float, until: float) -> set[int]:
        """Clients of the port that are connected all the time."""
        seen = [pairs for began, ended, pairs in self.seen if since <= began and ended < until]
        if not seen:
            sys.exit("ss was too slow to see the reload: the machine is busy")
        return {other for own, other in set.intersection(*seen) if own == port}


class Proxies:
    """Processes of the program by perf: when each was executed, when it listened, and when it got SIGHUP."""

    def __init__(self, program: Path, text: str) -> None:
        self.execs: dict[int, float] = {}
        self.listens: dict[int, list[float]] = defaultdict(list)
        self.hangups: dict[int, float] = {}
        to_unix = time.time() - time.monotonic()
        for pid, at, event, rest in re.findall(r"^ *(\d+) +([\d.]+): +\w+:(\w+): (.*)$", text, re.MULTILINE):
            pid, at = int(pid), float(at) + to_unix
            if event == "sched_process_exec" and f"filename={program} " in rest:
                self.execs[pid] = at
            elif event == "sys_enter_listen" and pid in self.execs:
                self.listens[pid].append(at)
            elif event == "signal_generate":
                self.hangups[int(re.search(r" pid=(\d+)", rest)[1])] = at


def configured_port(file: Path) -> int:
    return json.loads(file.read_text())["inbounds"][0]["listen_port"]


def packets_of(capture: Path, ports: list[int]) -> list[Packet]:
    """Time, ports, flags and length of each packet."""
    wanted = " or ".join(f"port {port}" for port in ports)
    text, *_ = run(["tcpdump", "-r", str(capture), "-nn", "-tt", wanted])
    form = r"^([\d.]+) IP \S+\.(\d+) > \S+\.(\d+): Flags \[(\S+)\].* length (\d+)"
    return [
        (float(at), int(source), int(target), flags, int(length))
        for at, source, target, flags, length in re.findall(form, text, re.MULTILINE)
    ]


def refused(packets: list[Packet], port: int, since: float) -> tuple[float, float]:
    """The first connection that is refused, and the next one that is accepted."""
    asked: dict[int, float] = {}
    first = None
    for at, source, target, flags, _ in packets:
        if at < since:
            continue
        if target == port and flags == "S":
            asked[source] = at
        elif source == port and target in asked and flags in ("S.", "R."):
            dialled = asked.pop(target)
            if flags == "R.":
                first = first or dialled
            elif first:
                return first, dialled
    sys.exit("tcpdump saw no refused connection")


def watched(folder: Path, program: Path) -> tuple[dict, Proxies, Path, Sockets]:
    """The scenario's result, and what the instruments saw meanwhile."""
    traced, capture = folder / "perf.data", folder / "capture"
    trace = ["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-o", str(traced)]
    events = [word for event in EVENTS for word in ("-e", event)]
    sniff = ["tcpdump", "-i", "lo", "-s", "128", "-B", "16384", "-w", "-", "tcp"]
    with capture.open("wb") as output:
        others = [
            # The filter is of the last event.
            subprocess.Popen([*trace, *events, "--filter", "sig==1"]),
            subprocess.Popen(sniff, stdout=output, stderr=subprocess.DEVNULL),
        ]
    time.sleep(1)
    with ExitStack() as looking:
        sockets = Sockets(looking)
        result = bench(program)
    for other in others:
        other.send_signal(signal.SIGINT)
        other.wait()
    script = run(["perf", "script", "--ns", "-F", "pid,time,event,trace", "-i", str(traced)])[0]
    return result, Proxies(program, script), capture, sockets


def starts(folder: Path, proxy: Path) -> list[tuple[str, float, float, str]]:
    """Means of the starts and sums of the reloads. Each has a separate process."""
    missing = [name for name in ("perf", "tcpdump", "ss") if not shutil.which(name)]
    if missing:
        print(f"starts and reloads have no rows: {', '.join(missing)} is not installed")
        return []
    program = folder / "wrapped"
    # Each process leaves its configuration. `version` has none.
    program.write_text(f"#!/bin/sh\ncp \"$3\" '{folder}'/$$.json\nexec '{proxy}' {FLAGS} \"$@\"\n")
    program.chmod(0o755)
    result, seen, capture, sockets = watched(folder, program)
    ports = {pid: configured_port(folder / f"{pid}.json") for pid in seen.listens}
    packets = packets_of(capture, list(ports.values()))
    reloaded = [pid for pid in seen.listens if pid in seen.hangups]
    if not reloaded:
        sys.exit(f"footprint/start made no reload: {[one['text'] for one in result['reasons']]}")
    # The first process is the run's own testbed.
    started = [pid for pid in seen.listens if pid not in seen.hangups][1:]

    def first(pid: int, is_it: Callable[[Packet], bool]) -> float:
        """Time of a process's first such packet after its exec."""
        sent = (one for one in packets if one[1] == ports[pid] and one[0] > seen.execs[pid])
        return next(one[0] for one in sent if is_it(one))

    def after_exec(at: Callable[[int], float]) -> float:
        return mean(at(pid) - seen.execs[pid] for pid in started) * 1e3

    listens = after_exec(lambda pid: seen.listens[pid][0])
    accepts = after_exec(lambda pid: first(pid, lambda one: one[3] == "S."))
    carries = after_exec(lambda pid: first(pid, lambda one: one[4] > SOCKS_MOST))
    gaps = {pid: refused(packets, ports[pid], seen.hangups[pid]) for pid in reloaded}
    back = mean(seen.listens[pid][1] - seen.hangups[pid] for pid in reloaded) * 1e3
    kept = lost = 0
    for pid, (since, until) in gaps.items():
        before = sockets.open(ports[pid], seen.hangups[pid] - 0.25, seen.hangups[pid])
        after = sockets.open(ports[pid], since + 0.1, until)
        kept, lost = kept + len(before & after), lost + len(before - after)
    gap = mean(until - since for since, until in gaps.values()) * 1e3
    listen_ms, start_ms = (mean(column(result, "start", name)) for name in ("listen_ms", "start_ms"))
    survived, dropped = (sum(column(result, "reload", name)) for name in ("survived", "dropped"))
    refused_ms = mean(column(result, "reload", "refused_ms"))
    return [
        ("start: listens after, ms", listen_ms, listens, "perf: exec to listen(2)"),
        ("the same", listen_ms, accepts, "perf's exec to tcpdump's first SYN-ACK"),
        ("start: first byte after, ms", start_ms, carries, "perf's exec to tcpdump's first payload"),
        ("reload: tunnels that survive", survived, kept, "ss -t"),
        ("reload: dropped tunnels", dropped, lost, "ss -t"),
        ("reload: connections fail for, ms", refused_ms, gap, "tcpdump: refused to accepted SYN"),
        ("the same", refused_ms, back, "perf: SIGHUP to the next listen(2)"),
    ]
