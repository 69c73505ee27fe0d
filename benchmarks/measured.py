"""Commands that benchmarks measure, and how their figures are shown."""

import math
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONFIDENCE = 0.95
LEAST = 6  # fewer values have no interval with that confidence


def run(command: list[str], **variables: str) -> tuple[str, str, float]:
    """Both outputs of a command, and its CPU time in seconds. A failure ends the benchmark."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}{done.stdout}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, done.stderr, used


def spread(values: list[float], digits: int) -> str:
    """The median, with the least and the greatest value."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def interval(values: list[float]) -> tuple[float, float]:
    """The narrowest interval of the median with CONFIDENCE, by order statistics."""
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
