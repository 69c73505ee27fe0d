"""What does streaming to InfluxDB cost the run that is watched?

Run by `make benchmark-streaming`, inside `sidecar testbed run influxdb`: `k6 x bench` publishes
the same messages to a fresh relay in turn, ROUNDS times: without streaming, with ours, and with
k6's own InfluxDB output. Prints the median rate and CPU time of k6 over the load, and the ratios
round by round.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ROUNDS = int(os.environ.get("ROUNDS", "9"))
MESSAGES = os.environ.get("MESSAGES", "5000")
CONFIDENCE = 0.95
STREAMS = ("INFLUX", "INFLUX_USERNAME", "INFLUX_PASSWORD", "INFLUX_DATABASE")
PASS, INCONCLUSIVE = 0, 3


def none() -> dict[str, str]:
    return {}


def ours() -> dict[str, str]:
    return {name: os.environ[name] for name in STREAMS}


def k6_own() -> dict[str, str]:
    return {
        "K6_OUT": f"influxdb={os.environ['INFLUX']}/{os.environ['INFLUX_DATABASE']}",
        "K6_INFLUXDB_USERNAME": os.environ["INFLUX_USERNAME"],
        "K6_INFLUXDB_PASSWORD": os.environ["INFLUX_PASSWORD"],
    }


WAYS = {"none": none, "ours": ours, "k6's own": k6_own}


def measure(way: str) -> dict[str, float]:
    """Messages a second, and the CPU time of k6 for one, µs."""
    run_id = f"benchmark-streaming-{os.getpid()}"
    variables = {name: value for name, value in os.environ.items() if name not in STREAMS}
    variables |= {"PROFILE": "quick", "MESSAGES": MESSAGES, **WAYS[way]()}
    command = [str(ROOT / "bin/k6"), "x", "bench", "--only", "pulsar/ingest", "--run-id", run_id]
    folder = ROOT / "results" / run_id
    try:
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        # That others use the machine, too, makes a run inconclusive, not wrong.
        if done.returncode not in (PASS, INCONCLUSIVE) or done.stderr:
            sys.exit(f"{way}: exit code {done.returncode}: {done.stderr}{done.stdout}")
        result = json.loads((folder / "pulsar-ingest.json").read_text())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    operation = result["operations"][0]
    generator = next(row for row in result["processes"] if row["role"] == "generator")
    return {"rate": operation["rate_per_s"], "cpu": generator["cpu_s"] / operation["success"] * 1e6}


def interval(values: list[float]) -> tuple[float, float]:
    """Of the median, by order statistics: the narrowest that holds with CONFIDENCE, else all values."""
    ordered, n = sorted(values), len(values)
    outside = 0.0
    rank = 0
    while rank < (n - 1) // 2:
        outside += 2 * math.comb(n, rank) / 2**n
        if outside > 1 - CONFIDENCE:
            break
        rank += 1
    rank = max(0, rank - 1)
    return ordered[rank], ordered[n - 1 - rank]


def shown(values: list[float], digits: int) -> str:
    low, high = interval(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main() -> None:
    if any(name not in os.environ for name in STREAMS):
        sys.exit("there is no InfluxDB: run `make benchmark-streaming`")
    rounds: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for turn in range(ROUNDS):
        for way in WAYS if turn % 2 == 0 else reversed(WAYS):
            rounds[way].append(measure(way))
    print(f"pulsar/ingest, {MESSAGES} messages, {ROUNDS} rounds in turn; median (95 % interval)")
    for way, measured in rounds.items():
        rate, cpu = ([one[figure] for one in measured] for figure in ("rate", "cpu"))
        print(f"  {way:9} {shown(rate, 0):>22} messages/s {shown(cpu, 0):>20} µs CPU of k6 for each")
    for way in list(WAYS)[1:]:
        pairs = list(zip(rounds[way], rounds["none"], strict=True))
        rate, cpu = ([own[figure] / bare[figure] for own, bare in pairs] for figure in ("rate", "cpu"))
        print(f"  {way + ' / none':16} rate {shown(rate, 3)}, CPU of k6 {shown(cpu, 3)}")


if __name__ == "__main__":
    main()
