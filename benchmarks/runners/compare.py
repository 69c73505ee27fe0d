"""Do 1, 2 and 4 runners measure the same on one relay, and what does a coordinator cost?

`make benchmark-runners` runs it. Each run has a new relay, and a coordinator in a separate process (`k6 x
coordinate`), so that its CPU time can be measured: the coordinator measures it over the load, and the kernel
over its whole life. The numbers of runners alternate, and each round begins with another number. The cost is
measured in pairs, A B B A: one runner with a coordinator, and a plain `k6 run`. It prints Markdown.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from intervals import LEAST, interval, shown

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NUMBERS = (1, 2, 4)
# Each room belongs to one client, so each runner needs a room.
SCENARIOS: dict[str, dict[str, str]] = {
    "pulsar/concurrent": {},
    "pulsar/delivery": {"CLIENTS": "4", "ROOMS": "4"},
}
PROFILES = [name for name in os.environ.get("PROFILES", "quick,full").split(",") if name]
# Multiplies a fixed number of requests, so that a run takes some seconds.
TIMES = os.environ.get("TIMES", "4")
FIXED = ("smoke", "quick")
# Least allowed rate with a coordinator, as a share of the rate without.
BOUND = 0.98
FIGURES = ("rate", "p50", "p95", "p99")

Run = dict[str, Any]


def whole(name: str, default: int, least: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdigit() or int(text) < least:
        sys.exit(f"{name}={text}: a whole number, {least} or more, is wanted")
    return int(text)


def measure(scenario: str, profile: str, runners: int) -> Run:
    """Run on a new relay; 0 runners: a plain run."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TIMES", "ROUNDS", "PAIRS", "PROFILES", "RUNNERS")
    }
    env |= SCENARIOS[scenario] | ({"TIMES": TIMES} if profile in FIXED else {})
    command = [str(ROOT / "bin/sidecar"), "testbed", "run", "pulsar-relay", "--"]
    command += [sys.executable, str(HERE / "one.py"), scenario, profile, str(runners)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{scenario}, {profile}, {runners} runners: {done.stderr}{done.stdout}")
    result: Run = json.loads(done.stdout.splitlines()[-1])
    return result


def in_turn(scenario: str, profile: str, rounds: int) -> dict[int, list[Run]]:
    measured: dict[int, list[Run]] = {runners: [] for runners in NUMBERS}
    for turn in range(rounds):
        first = turn % len(NUMBERS)
        for runners in NUMBERS[first:] + NUMBERS[:first]:
            measured[runners].append(measure(scenario, profile, runners))
    return measured


def median(runs: list[Run], figure: str) -> float | None:
    """The median of a figure over runs, or None if a run has too few samples for the figure."""
    values = [run[figure] for run in runs]
    return None if None in values else statistics.median(values)


def cell(value: float | None, digits: int) -> str:
    return "—" if value is None else f"{value:,.{digits}f}"


def ratio(runs: list[Run], base: list[Run], figure: str) -> str:
    """Median ratio of runs in the same round."""
    pairs = [(own[figure], one[figure]) for own, one in zip(runs, base, strict=True)]
    if any(None in pair for pair in pairs):
        return "—"
    return f"{statistics.median(own / one for own, one in pairs):.2f}"


def spread(values: list[float], digits: int) -> str:
    low, high = min(values), max(values)
    return f"{low:.{digits}f}" if low == high else f"{low:.{digits}f}–{high:.{digits}f}"


def row(runners: int, runs: list[Run], base: list[Run]) -> str:
    verdicts = ", ".join(sorted({run["verdict"] for run in runs}))
    skews = [run["skew"] for run in runs if run["skew"] is not None]
    used = statistics.median(run["coordinator"]["cpu_s"] for run in runs)
    share = statistics.median(run["coordinator"]["cpu_s"] / run["coordinator"]["load_s"] for run in runs)
    life = statistics.median(run["coordinator_life_cpu_s"] for run in runs)
    cells = [str(runners), verdicts]
    cells += [cell(median(runs, figure), 0 if figure == "rate" else 1) for figure in FIGURES]
    cells += [ratio(runs, base, figure) for figure in FIGURES]
    cells += [spread(skews, 1) if skews else "—", f"{used:.3f}", f"{share:.2%}", f"{life:.2f}"]
    return f"| {' | '.join(cells)} |"


COLUMNS = ["runners", "verdict", "rate/s", "P50 ms", "P95 ms", "P99 ms", "rate, times 1", "P50", "P95", "P99"]
COLUMNS += ["starts within ms", "coordinator: CPU s of the load", "of a core", "CPU s of its life"]
HEAD = f"| {' | '.join(COLUMNS)} |\n|---:|---|{'---:|' * (len(COLUMNS) - 2)}"


def table(scenario: str, profile: str, rounds: int) -> None:
    began = time.monotonic()
    measured = in_turn(scenario, profile, rounds)
    some = measured[1][0]
    times = f", TIMES={TIMES}" if profile in FIXED else ""
    more = "".join(f" {name}={value}" for name, value in SCENARIOS[scenario].items())
    title = (
        f"{scenario}, {profile}{times}{more}: {some['operation']}, about {some['requests']:,} requests a run"
    )
    print(f"\n### {title}\n\n{HEAD}")
    for runners, runs in measured.items():
        print(row(runners, runs, measured[1]))
    print(f"\nMedians of {rounds} round(s) in turn, {time.monotonic() - began:.0f} s; ratios round by round.")
    reasons = sorted({reason for runs in measured.values() for run in runs for reason in run["reasons"]})
    for reason in reasons[:6]:
        print(f"- {reason}")
    sys.stdout.flush()


def price(pairs: int) -> None:
    """Compare one runner with a coordinator with a plain run."""
    scenario, profile = "pulsar/concurrent", "quick"
    rates: dict[int, list[float]] = {0: [], 1: []}
    for turn in range(pairs):
        for runners in (0, 1) if turn % 2 == 0 else (1, 0):
            rates[runners].append(measure(scenario, profile, runners)["rate"])
    ratios = [one / none for none, one in zip(rates[0], rates[1], strict=True)]
    title = f"{scenario}, {profile}, TIMES={TIMES}, {pairs} pairs, A B B A"
    plain, one = (statistics.median(rates[runners]) for runners in (0, 1))
    print(f"\n### What a coordinator costs: {title}\n")
    print(f"Plain {plain:,.0f}/s, one runner with a coordinator {one:,.0f}/s (medians).")
    if pairs < LEAST:
        print(f"That is {statistics.median(ratios):.3f} of the rate; {LEAST} pairs or more have an interval.")
        return
    least = math.floor(interval(ratios)[0] * 1000) / 1000
    judged = "holds" if least >= BOUND else "is not shown by these pairs"
    print(f"With a coordinator {shown(ratios, 3)} of the rate: median and 95 % interval.")
    print(f"It is {least:.3f} of it at least; at most {1 - BOUND:.0%} lost: {judged}.")


def main() -> None:
    rounds, pairs = whole("ROUNDS", 3, 1), whole("PAIRS", 16, 0)
    given = f"PROFILES={','.join(PROFILES)} ROUNDS={rounds} TIMES={TIMES} PAIRS={pairs}"
    print(f"`make benchmark-runners {given}`, {os.cpu_count()} cores")
    for profile in PROFILES:
        for scenario in SCENARIOS:
            table(scenario, profile, rounds)
    if pairs > 0:
        price(pairs)


if __name__ == "__main__":
    main()
