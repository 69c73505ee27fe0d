"""Does the sidecar read of a process what other instruments read?

`make benchmark-instruments` runs it. One proxy, tests/support/leaky-proxy, carries handshakes and round
trips, and then holds idle tunnels and associations. Each figure of the footprint is read by the sidecar and
by another instrument, and one table shows both. The same proxy is then limited (limited.py), and started and
reloaded (starts.py). It needs Go and root. A figure whose instrument is not installed has none. Debian's
packages are time, linux-perf, smem, procps, iproute2, lsof and tcpdump.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from limited import limited
from measured import ROOT, Sidecar, run
from starts import starts

HANDSHAKES, ROUND_TRIPS = 1_000, 20_000
TUNNELS, ASSOCIATIONS, IDLE_S = 100, 30, 4
MIB = 1 << 20

Row = tuple[str, float, float | None, str]
SWITCHES = ("voluntary_switches", "involuntary_switches")
FAULTS = ("minor_faults", "major_faults")


def build(folder: Path) -> Path:
    """The proxy whose tunnels send a datagram each second."""
    sources = ROOT / "tests/support/leaky-proxy"
    binary = folder / "leaky-proxy"
    run(["go", "build", "-o", str(binary), *map(str, sources.glob("*.go"))], CGO_ENABLED="0")
    return binary


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for(port: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise SystemExit("the proxy does not listen")


class Proxy:
    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.port, self.told = free_port(), folder / "time"
        timed = ["/usr/bin/time", "-v", "-o", str(self.told)] if Path("/usr/bin/time").exists() else []
        arguments = ["-listen", f"127.0.0.1:{self.port}", "-keep-alive", "-holds", "65536"]
        self.process = stack.enter_context(subprocess.Popen([*timed, str(build(folder)), *arguments]))
        self.pid = self.process.pid
        stack.callback(self.end)
        wait_for(self.port)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.pid = int(children.read_text()) if timed else self.process.pid

    def end(self) -> dict[str, float] | None:
        """The figures of time(1) for its whole life."""
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGTERM)
            self.process.wait()
        if not self.told.exists():
            return None
        lines = (line.strip().rpartition(": ") for line in self.told.read_text().splitlines())
        return {name: float(value) for name, _, value in lines if re.fullmatch(r"[\d.]+", value)}


def installed(program: str) -> bool:
    return shutil.which(program) is not None


class Load:
    """Probes through the proxy."""

    def __init__(self, sidecar: Sidecar, port: int) -> None:
        self.sidecar, self.proxy = sidecar, {"address": f"127.0.0.1:{port}"}
        echo = sidecar.ask("/echoes", {"engine": "events"})
        self.tcp, self.udp = echo["tcp"], echo["udp"]

    def begin(self, kind: str, **more) -> str:
        target = self.udp if kind == "associations" else self.tcp
        spec = {"kind": kind, "target": target, "proxy": self.proxy, "payload_bytes": 64, **more}
        return self.sidecar.ask("/probes", spec)["id"]

    def end(self, probe: str) -> dict:
        while (now := self.sidecar.ask(f"/probes/{probe}?wait_s=20"))["state"] == "running":
            pass
        if not now.get("outcome"):
            raise SystemExit(f"a probe failed: {now}")
        return now["outcome"]


def under_load(sidecar: Sidecar, load: Load, pid: int) -> list[Row]:
    """Switches and faults while the proxy works."""
    window = sidecar.ask("/windows", {"pids": {"proxy": pid}})["id"]
    events = "context-switches,page-faults"
    perf = None
    if installed("perf"):
        command = ["perf", "stat", "-x", ";", "-e", events, "-p", str(pid)]
        perf = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
    load.end(load.begin("handshake", count=HANDSHAKES))
    load.end(load.begin("tcp", count=ROUND_TRIPS))
    counted: dict[str, float] = {}
    if perf:
        perf.send_signal(signal.SIGINT)
        lines = (line.split(";") for line in perf.communicate()[1].splitlines())
        counted = {line[2]: float(line[0]) for line in lines if re.fullmatch(r"[\d.]+", line[0])}
    (ours,) = sidecar.ask(f"/windows/{window}/close", {})["processes"]
    by = "perf stat"
    return [
        ("load: context switches", sum(ours[name] for name in SWITCHES), counted.get("context-switches"), by),
        ("load: page faults", sum(ours[name] for name in FAULTS), counted.get("page-faults"), by),
    ]


def by_ss(flags: str, pid: int) -> Counter | None:
    """Sockets of a process by state."""
    if not installed("ss"):
        return None
    lines = run(["ss", "-H", flags, "-a", "-n", "-p"])[0].splitlines()
    own = [line.split()[0] for line in lines if f"pid={pid}," in line]
    return Counter(state.lower().replace("-", "_").replace("estab", "established") for state in own)


def by_lsof(pid: int) -> Counter | None:
    """Open descriptors of a process by type."""
    if not installed("lsof"):
        return None
    found = subprocess.run(
        ["lsof", "-nP", "-p", str(pid), "-F", "ft"], capture_output=True, text=True, check=False
    )
    return Counter(re.findall(r"^f\d+\nt(.*)$", found.stdout, re.MULTILINE))


def by_smem(pid: int) -> dict[str, float]:
    """Memory of a process in bytes."""
    if not installed("smem"):
        return {}
    lines = run(["smem", "-H", "-P", "leaky-proxy", "-c", "pid uss pss rss"])[0].splitlines()
    (values,) = [line.split()[1:] for line in lines if line.split()[0] == str(pid)]
    return {name: float(value) * 1024 for name, value in zip(("uss", "pss", "rss"), values, strict=True)}


def holding(sidecar: Sidecar, window: str) -> dict:
    return sidecar.ask(f"/windows/{window}/holding")["processes"][0]


def at_rest(sidecar: Sidecar, window: str, pid: int) -> list[Row]:
    """Memory, threads and descriptors while tunnels and associations are open."""
    held = holding(sidecar, window)
    resident = sidecar.ask(f"/windows/{window}")["processes"][0]["rss_bytes"]
    open_ = held["descriptors"]
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    anonymous = int(re.search(r"^Anonymous: +(\d+)", rollup, re.MULTILINE)[1]) * 1024
    smem, tcp, udp, files = by_smem(pid), by_ss("-t", pid), by_ss("-u", pid), by_lsof(pid)
    threads = float(run(["ps", "-o", "nlwp=", "-p", str(pid)])[0]) if installed("ps") else None

    def mib(name: str) -> float | None:
        return smem[name] / MIB if smem else None

    return [
        ("own memory, MiB", held["anon_bytes"] / MIB, anonymous / MIB, "smaps_rollup, Anonymous"),
        ("the same", held["anon_bytes"] / MIB, mib("uss"), "smem, USS: with its own pages of files"),
        ("resident memory, MiB", resident / MIB, mib("rss"), "smem, RSS"),
        ("the same", resident / MIB, mib("pss"), "smem, PSS: with its part of shared pages"),
        ("threads", held["threads"], threads, "ps"),
        *(
            (f"TCP sockets, {state}", count, None if tcp is None else tcp[state], "ss -t")
            for state, count in open_["tcp"].items()
        ),
        ("UDP sockets", open_["udp"], None if udp is None else udp.total(), "ss -u"),
        ("pipes", open_["pipes"], None if files is None else files["FIFO"], "lsof"),
        ("descriptors", open_["all"], None if files is None else files.total(), "lsof"),
    ]


def while_idle(sidecar: Sidecar, load: Load, window: str, pid: int, folder: Path) -> list[Row]:
    """Also the packets on the wire."""
    idle = {"settle_s": 0.5, "seconds": IDLE_S}
    datagrams = {"connections": ASSOCIATIONS, "count": ASSOCIATIONS, "loop": {"open": {"rate_per_s": 200}}}
    others = load.begin("associations", idle={**idle, "seconds": IDLE_S + 4}, timeout_ms=1000, **datagrams)
    time.sleep(1)
    ports = " or ".join(f"port {address.rpartition(':')[2]}" for address in (load.proxy["address"], load.tcp))
    seen, capture = folder / "packets", None
    if installed("tcpdump"):
        with seen.open("w") as output:
            command = ["tcpdump", "-i", "lo", "-nn", "-tt", "-q", "-l", ports]
            capture = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
    tunnels = load.begin("concurrency", connections=TUNNELS, count=TUNNELS, idle=idle)
    time.sleep(1.5)
    rows = at_rest(sidecar, window, pid)
    wire = load.end(tunnels)["idle"]["wire"]
    load.end(others)
    packets = sizes = None
    if capture:
        capture.send_signal(signal.SIGINT)
        capture.wait()
        packets, sizes = in_idle_time(seen.read_text())
    if wire is None:
        print("the sidecar could not capture packets: run it as root")
        return rows
    return [
        *rows,
        ("idle: packets", wire["packets"], packets, "tcpdump"),
        ("idle: bytes, from IP on", wire["bytes"], sizes, "tcpdump"),
    ]


def in_idle_time(text: str) -> tuple[int, int]:
    """Packets and bytes in the last IDLE_S seconds before the tunnels carry data again.

    TCP is silent for longest then.
    """
    lines = re.findall(r"^([\d.]+) IP .*: (tcp|UDP, length) (\d+)$", text, re.MULTILINE)
    times = [float(at) for at, kind, _ in lines if kind == "tcp"]
    _, again = max(pairwise(times), key=lambda pair: pair[1] - pair[0])
    own = [line for line in lines if again - IDLE_S <= float(line[0]) < again]
    headers = {"tcp": 52, "UDP, length": 28}
    return len(own), sum(headers[kind] + int(size) for _, kind, size in own)


def in_whole(held: dict, peak: float, life: dict[str, float] | None) -> list[Row]:
    """From the proxy's start to its end."""
    told = life or {}
    user, system = told.get("User time (seconds)"), told.get("System time (seconds)")
    cpu = None if user is None or system is None else (user + system) * 1e3
    most = told.get("Maximum resident set size (kbytes)")
    names = {
        "voluntary_switches": "Voluntary context switches",
        "involuntary_switches": "Involuntary context switches",
        "minor_faults": "Minor (reclaiming a frame) page faults",
        "major_faults": "Major (requiring I/O) page faults",
    }
    return [
        ("peak of resident memory, MiB", peak / MIB, most and most / 1024, "time -v"),
        ("life: CPU time, ms", held["cpu_s"] * 1e3, cpu, "time -v, in steps of 10 ms"),
        *(
            (f"life: {name.replace('_', ' ')}", held[name], told.get(title), "time -v")
            for name, title in names.items()
        ),
    ]


def show(rows: list[Row]) -> None:
    print("| figure | ours | theirs | ratio | by |\n|---|---:|---:|---:|---|")
    for figure, ours, theirs, by in rows:
        digits = 0 if float(ours).is_integer() else 1
        other = "not installed" if theirs is None else f"{theirs:,.{digits}f}"
        ratio = f"{ours / theirs:.3f}" if theirs else "—"
        print(f"| {figure} | {ours:,.{digits}f} | {other} | {ratio} | {by} |")


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        proxy, sidecar = Proxy(stack, folder), Sidecar(stack)
        window = sidecar.ask("/windows", {"pids": {"proxy": proxy.pid}})["id"]
        load = Load(sidecar, proxy.port)
        rows = under_load(sidecar, load, proxy.pid)
        rows += while_idle(sidecar, load, window, proxy.pid, folder)
        held = holding(sidecar, window)
        (whole,) = sidecar.ask(f"/windows/{window}/close", {})["processes"]
        rows += in_whole(held, whole["peak_rss_bytes"], proxy.end())
        rows += limited(sidecar, Load, folder, folder / "leaky-proxy")
        rows += starts(folder, folder / "leaky-proxy")
        show(rows)


if __name__ == "__main__":
    main()
