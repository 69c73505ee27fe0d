"""Commands that benchmarks measure, and how their figures are shown."""

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

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


def start(stack: ExitStack, command: list[str]) -> tuple[subprocess.Popen, str]:
    """A process that ends with its standard input, and its first line."""
    process = stack.enter_context(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    )
    stack.callback(process.stdin.close)
    return process, process.stdout.readline()


class Sidecar:
    """A sidecar that serves; SIDECAR is another one than bin/sidecar."""

    def __init__(self, stack: ExitStack) -> None:
        program = os.environ.get("SIDECAR") or str(ROOT / "bin/sidecar")
        logs = stack.enter_context(tempfile.TemporaryDirectory())
        process, line = start(stack, [program, "serve", "--exit-with-stdin", "--log-dir", logs])
        told = json.loads(line)
        self.pid, self.url = process.pid, told["url"]
        self.headers = {"Authorization": f"Bearer {told.get('token') or ''}"}

    def ask(self, path: str, body: dict | None = None) -> dict:
        """The answer to a POST with the body, or to a GET without one."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


@contextmanager
def server(command: list[str]) -> Iterator[None]:
    """A server that has had time to start."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(0.5)
            yield
        finally:
            process.terminate()


@contextmanager
def told(command: list[str]) -> Iterator[dict[str, Any]]:
    """A program that goes on, and what its first line tells in JSON."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                sys.exit(f"{' '.join(command)}: it did not start")
            yield json.loads(line)
        finally:
            process.terminate()


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
