"""Is our meter as accurate and as cheap as established tools?

`make benchmark-meters` runs it inside `sidecar testbed run sing-box`: the meters take turns, ROUNDS
times, over the same loopback with the same payload and the same CPUs. It prints the median of
each figure and the ratios round by round. It needs sockperf and iperf3.
"""

import json
import os
import re
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

from measured import ROOT, run, server, spread, told

HERE = Path(__file__).parent
SIDECAR = str(ROOT / "bin/sidecar")
ROUNDS = int(os.environ.get("ROUNDS", "7"))
COUNT = int(os.environ.get("COUNT", "100000"))
PAYLOAD = 1024
HOST = "127.0.0.1"
LAST = max(os.sched_getaffinity(0))
FIRST = min(os.sched_getaffinity(0))
SOCKPERF_PORT = 21111
IPERF_PORT = 21112


def pinned(cpu: int, *command: str) -> list[str]:
    return ["taskset", "--cpu-list", str(cpu), *command]


@contextmanager
def echo(cpu: int, *more: str):
    """Our echo server; yields its ports."""
    with told([SIDECAR, "echo", "--cpus", str(cpu), *more]) as ports:
        yield {kind: ports[kind].rsplit(":", 1)[1] for kind in ("tcp", "udp")}


def probe(kind: str, target: str, *more: str, proxy: str = "", count: int = COUNT, cpu: int = LAST) -> dict:
    """Figures of our probe. The CPU time is of the whole program, including its start."""
    way = ["--proxy", proxy] if proxy else ["--direct"]
    command = [SIDECAR, "probe", kind, *way, "--target", f"{HOST}:{target}", "--cpus", str(cpu), "--json"]
    text, _, cpu_s = run([*command, "--count", str(count), *more])
    outcome = json.loads(text)["outcome"]
    series = {one["name"]: one for one in outcome["series"]}
    times = series.get("round_trip") or series["transfer"]
    return {
        "p50_us": times["p50_ns"] / 1e3,
        "p99_us": times["p99_ns"] / 1e3,
        "cpu_us": cpu_s / outcome["succeeded"] * 1e6,
        "rate": outcome["succeeded"] / outcome["duration_s"],
        "mbit": outcome["bytes"] * 8 / outcome["duration_s"] / 1e6,
        "lost": sum(outcome["errors"].values()),
    }


def sockperf(kind: str) -> dict:
    protocol = ["--tcp"] if kind == "tcp" else []
    with server(pinned(LAST, "sockperf", "server", "-i", HOST, "-p", str(SOCKPERF_PORT), *protocol)):
        command = ["sockperf", "ping-pong", "-i", HOST, "-p", str(SOCKPERF_PORT), *protocol]
        text, _, cpu = run(pinned(LAST, *command, "-m", str(PAYLOAD), "-t", "2", "--full-rtt"))
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    percentile = {
        name: float(value) for name, value in re.findall(r"percentile (\d+\.\d+) =\s*([\d.]+)", text)
    }
    received = int(re.search(r"ReceivedMessages=(\d+)", text)[1])
    return {"p50_us": percentile["50.000"], "p99_us": percentile["99.000"], "cpu_us": cpu / received * 1e6}


def plain(
    kind: str, target: str, proxy: str = "", count: int = COUNT, payload: int = PAYLOAD, window: int = 1
) -> dict:
    command = [sys.executable, str(HERE / "plain_client.py"), kind, target, proxy.rpartition(":")[2] or "0"]
    text, _, _ = run(pinned(LAST, *command, str(count), str(payload), str(window)))
    found = json.loads(text)
    return found | {"rate": (count - found["lost"]) / found["seconds"]}


def iperf3() -> dict:
    with server(pinned(FIRST, "iperf3", "-s", "-1", "-B", HOST, "-p", str(IPERF_PORT))):
        text, _, _ = run(
            pinned(LAST, "iperf3", "-c", HOST, "-p", str(IPERF_PORT), "-t", "2", "-l", "128K", "-J")
        )
    return {"mbit": json.loads(text)["end"]["sum_received"]["bits_per_second"] / 1e6}


def compare(title: str, meters: dict, figures: dict[str, str]) -> None:
    """Compare meters. meters: names and functions, ours first. figures: keys and units."""
    rounds: dict[str, list[dict]] = {name: [] for name in meters}
    for turn in range(ROUNDS):
        order = list(meters) if turn % 2 == 0 else list(reversed(meters))
        for name in order:
            rounds[name].append(meters[name]())
    print(f"\n{title}; {ROUNDS} rounds in turn; median (min–max)")
    ours, *others = meters
    for figure, unit in figures.items():
        for name in meters:
            print(f"  {name:22} {spread([one[figure] for one in rounds[name]], 1)} {unit}")
        for other in others:
            pairs = zip(rounds[ours], rounds[other], strict=True)
            print(f"    ours / {other:13} {spread([own[figure] / one[figure] for own, one in pairs], 3)}")


def direct_round_trips() -> None:
    with echo(LAST) as ports:
        for kind in ("tcp", "udp"):
            compare(
                f"{kind.upper()} direct, one round trip of {PAYLOAD} bytes at a time, one CPU",
                {
                    "ours": lambda kind=kind: probe(
                        kind, ports[kind], "--payload", str(PAYLOAD), "--warmup", "1000"
                    ),
                    "sockperf": lambda kind=kind: sockperf(kind),
                },
                {"p50_us": "µs p50", "p99_us": "µs p99", "cpu_us": "µs CPU each"},
            )


def direct_window() -> None:
    many = COUNT * 2
    with echo(LAST) as ports:
        compare(
            "UDP direct, 32 datagrams of 512 bytes in flight, one CPU",
            {
                "ours": lambda: probe("udp", ports["udp"], "--payload", "512", "--window", "32", count=many),
                "plain Python": lambda: plain("udp", ports["udp"], count=many, payload=512, window=32),
            },
            {"rate": "datagrams/s"},
        )


def bulk() -> None:
    size = str(4 << 30)
    with echo(FIRST) as ports:
        compare(
            "TCP bulk, one connection, writes of 128 KiB, two CPUs",
            {
                "ours": lambda: probe(
                    "throughput", ports["tcp"], "--bytes", size, "--write-bytes", "131072", count=1
                ),
                "iperf3": iperf3,
            },
            {"mbit": "Mbit/s"},
        )


def through_proxy(proxy: str) -> None:
    few = COUNT // 4
    with echo(LAST) as ports:
        for kind in ("tcp", "udp"):
            compare(
                f"{kind.upper()} through sing-box, one round trip of {PAYLOAD} bytes at a time",
                {
                    "ours": lambda kind=kind: probe(
                        kind, ports[kind], "--warmup", "200", proxy=proxy, count=few
                    ),
                    "plain Python": lambda kind=kind: plain(kind, ports[kind], proxy, count=few),
                },
                {"p50_us": "µs p50", "p99_us": "µs p99", "cpu_us": "µs CPU each"},
            )


def many_connections() -> None:
    with echo(LAST, "--engine", "events") as ports:
        compare(
            "TCP direct at 5,000 a second, one CPU: 1,000 connections at 5 each against one",
            {
                "1,000 connections": lambda: probe(
                    "concurrency", ports["tcp"], "--connections", "1000", "--rate", "5000", count=15000
                ),
                "1 connection": lambda: probe("tcp", ports["tcp"], "--rate", "5000", count=15000),
            },
            {"p50_us": "µs p50", "p99_us": "µs p99"},
        )


def main() -> None:
    for program, package in (("sockperf", "sockperf"), ("iperf3", "iperf3"), ("taskset", "util-linux")):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed: apt-get install {package}")
    proxy = os.environ.get("DATAPLANE_URL", "").removeprefix("socks5://")
    if not proxy:
        sys.exit("DATAPLANE_URL is not set: run `make benchmark-meters`")
    direct_round_trips()
    direct_window()
    bulk()
    through_proxy(proxy)
    many_connections()


if __name__ == "__main__":
    main()
