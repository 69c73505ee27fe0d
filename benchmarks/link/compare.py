"""Does a link have the properties of its file, and do independent tools confirm it?

`make benchmark-link` runs it. For each link of links/ it runs the sidecar's own calibration, then ping,
iperf3 and sockperf through the same kind of link, at the two ends with nsenter. It prints one table, which
docs/benchmarks.md has together with the machine. It needs ping, iperf3 and sockperf, and root or
`unshare -Ur`.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from measured import ROOT, run, server, told

SIDECAR = str(ROOT / "bin/sidecar")
PINGS = 100
SECONDS = 6
# Above this rate, iperf3 over UDP loses packets on its own.
UDP_MOST_MBIT_S = 100


@contextmanager
def link(words: str) -> Iterator[tuple[list[str], list[str], str]]:
    """Start a link; give the commands that run at each end, and the far end's address."""
    with told([SIDECAR, "link", "up", words]) as ends:
        at = {end: ["nsenter", f"--net={ends[end]['namespace']}", "--"] for end in ("near", "far")}
        yield at["near"], at["far"], ends["far"]["address"]


def without_chance(name: str) -> str:
    """The link without random effects, for delay and rate."""
    return f"{name},jitter:0ms,loss:0%"


def ping(name: str) -> float:
    with link(without_chance(name)) as (near, _, far):
        out, _, _ = run([*near, "ping", "-q", "-i", "0.02", "-c", str(PINGS), far])
    found = re.search(r"= [\d.]+/([\d.]+)/", out)
    return float(found[1]) if found else float("nan")


def ping_loss(name: str) -> str:
    """Share of lost pings over both ways, percent."""
    with link(name) as (near, _, far):
        out = subprocess.run(
            [*near, "ping", "-q", "-i", "0.002", "-c", "3000", "-W", "3", far],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    found = re.search(r"([\d.]+)% packet loss", out)
    return found[1] if found else "?"


def iperf3(name: str, down: bool, rate_mbit_s: float) -> float:
    """Received rate of UDP sent 5 % above the rate, or of TCP at high rates; in IP packets."""
    if rate_mbit_s > UDP_MOST_MBIT_S:
        return iperf3_tcp(name, down)
    payload = 1472
    with link(without_chance(name)) as (near, far_end, far):
        serve = [*far_end, "iperf3", "-s", "-1"]
        send = ["-u", "-b", f"{rate_mbit_s * 1.05}M", "-l", str(payload), "-t", str(SECONDS), "-O", "2", "-J"]
        with server(serve):
            out, _, _ = run([*near, "iperf3", "-c", far, *send, *(["-R"] if down else [])])
    end = json.loads(out)["end"]["sum_received"]
    return float(end["bits_per_second"]) / 1e6 * (payload + 28) / payload


def iperf3_tcp(name: str, down: bool) -> float:
    """One connection with the machine's congestion control."""
    with link(without_chance(name)) as (near, far_end, far), server([*far_end, "iperf3", "-s", "-1"]):
        out, _, _ = run(
            [*near, "iperf3", "-c", far, "-t", str(SECONDS), "-O", "2", "-J", *(["-R"] if down else [])]
        )
    found = json.loads(out)
    # A packet has 20 bytes of IP header, and 32 of TCP header with time stamps.
    segment = float(found["start"]["tcp_mss_default"])
    return float(found["end"]["sum_received"]["bits_per_second"]) / 1e6 * (segment + 52) / segment


def sockperf(name: str) -> float:
    """Median round trip, ms: sockperf reports half of it."""
    at = ["-i", "198.18.2.2", "-p", "11111"]
    load = ["-t", str(SECONDS), "--msg-size", "16"]
    with link(without_chance(name)) as (near, far_end, _), server([*far_end, "sockperf", "server", *at]):
        out, _, _ = run([*near, "sockperf", "ping-pong", *at, *load])
    found = re.search(r"percentile 50\.0+ =\s+([\d.]+)", out)
    return 2 * float(found[1]) / 1000 if found else float("nan")


def calibration(name: str) -> dict[str, Any]:
    done = subprocess.run(
        [SIDECAR, "link", "calibrate", "--json", name], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figure(found: dict[str, Any] | None, digits: int = 2) -> str:
    return "–" if found is None else f"{found['measured']:.{digits}f}"


def row(name: str) -> str:
    found = calibration(name)
    up, down = found["up"], found["down"]
    asked_ms = up["delay_ms"]["asked"] + down["delay_ms"]["asked"]
    rates = [side["rate_mbit_s"]["asked"] if side["rate_mbit_s"] else None for side in (up, down)]
    seen = [iperf3(name, way == 1, rate) if rate else None for way, rate in enumerate(rates)]
    cells = [
        name,
        f"{asked_ms:.2f}",
        f"{up['delay_ms']['measured'] + down['delay_ms']['measured']:.2f}",
        f"{ping(name):.2f}",
        f"{sockperf(name):.2f}",
        " / ".join("–" if rate is None else f"{rate:g}" for rate in rates),
        " / ".join(figure(side["rate_mbit_s"]) for side in (up, down)),
        " / ".join("–" if rate is None else f"{rate:.2f}" for rate in seen),
        " / ".join(
            "–" if side["queue_ms"] is None else f"{side['queue_ms']['asked']:.1f}" for side in (up, down)
        ),
        " / ".join(figure(side["queue_ms"], 1) for side in (up, down)),
        f"{up['loss']['per_1000']['asked']:g}",
        " / ".join(f"{side['loss']['per_1000']['measured']:g}" for side in (up, down)),
        ping_loss(name),
        str(up["own_lost"] + down["own_lost"]),
        f"{found['carries']['mbit_s']:.0f}",
        "; ".join(found["wrong"]) or "as asked",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = [
    "link",
    "RTT asked, ms",
    "own meter",
    "ping",
    "sockperf",
    "rate asked, Mbit/s up / down",
    "own meter",
    "iperf3",
    "full queue asked, ms",
    "own meter",
    "loss asked of 1,000",
    "counted",
    "ping: lost both ways, %",
    "lost by itself",
    "carries, Mbit/s",
    "verdict",
]


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in (ROOT / "links").glob("*.toml"))
    print("| " + " | ".join(HEAD) + " |")
    print("|" + "---|" * len(HEAD))
    for name in names:
        print(row(name), flush=True)


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    main()
