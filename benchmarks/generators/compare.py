"""How fast are our scenarios compared with a plain Python client and a bare k6 script?

`make benchmark-generators` runs it inside `sidecar testbed run pulsar-relay`: the three
generators publish to the same relay in turn, ROUNDS times. It prints the median rate of each,
the ratios pair by pair, and the CPU time of k6 per iteration with and without our lib. Then it
prints CPU time and memory that one more virtual user takes to start.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from measured import ROOT, run, spread

HERE = Path(__file__).parent
ROUNDS = int(os.environ.get("ROUNDS", "7"))
MESSAGES = int(os.environ.get("MESSAGES", "1000"))
SHAPES = {"ingest": (1, 10), "concurrent": (20, 20)}
# The cost of an iteration is the slope between a short and a long run: the start of k6 cancels out.
SHORT, LONG = 1000, 6000
# The cost of a virtual user is the slope between few and many that send the same number of messages.
FEW, MANY, SENT = 20, 220, 440


def seconds(text: str) -> float:
    found = re.search(r"seconds ([\d.]+)", text)
    if not found:
        sys.exit(f"no time in: {text}")
    return float(found[1])


def command(script: str) -> list[str]:
    return [str(ROOT / "bin/k6"), "run", "--quiet", "--no-usage-report", "--address", "", script]


def k6(script: str, **variables: str) -> tuple[str, float]:
    out, log, used = run(command(script), **variables)
    return out + log, used


def process(script: str, **variables: str) -> tuple[float, float]:
    """CPU time in ms and peak of resident memory in MiB of one k6 process."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"RESULT_DIR": folder, "RUN_ID": "benchmark"} | variables
        k6_process = subprocess.Popen(
            command(script),
            cwd=ROOT,
            env=os.environ | settings,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(k6_process.pid, 0)
    if status != 0:
        sys.exit(f"{script} with {variables}: exit code {os.waitstatus_to_exitcode(status)}")
    return (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024


def httpx_rate(name: str, messages: int, *more: str) -> float:
    clients, topics = SHAPES[name]
    arguments = [str(number) for number in (messages, clients, topics)]
    text, _, _ = run([sys.executable, str(HERE / "httpx_client.py"), *arguments, *more])
    return messages / seconds(text)


def bare(name: str, messages: int) -> tuple[float, float]:
    """Rate and CPU seconds of the bare script."""
    clients, topics = SHAPES[name]
    text, used = k6(str(HERE / "bare.js"), MESSAGES=str(messages), CLIENTS=str(clients), TOPICS=str(topics))
    return messages / seconds(text), used


def bundled(name: str, folder: str) -> str:
    """Our script as one module, as a bench runs it."""
    made, _, _ = run([str(ROOT / "bin/k6"), "x", "bundle", f"scripts/pulsar/{name}.js"])
    path = Path(folder) / f"{name}.js"
    path.write_text(made)
    return str(path)


def ours(name: str, messages: int) -> tuple[float, float]:
    """Rate and CPU seconds of our scenario."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            "PROFILE": "quick",
            "MESSAGES": str(messages),
            "RESULT_DIR": folder,
            "RUN_ID": "benchmark",
        }
        _, used = k6(bundled(name, folder), **variables)
        result = json.loads((Path(folder) / f"pulsar-{name}.json").read_text())
    return result["operations"][0]["rate_per_s"], used


def ratios(ours_first: list[float], others: list[float]) -> list[float]:
    return [own / other for own, other in zip(ours_first, others, strict=True)]


def compare(name: str) -> None:
    rates: dict[str, list[float]] = {"httpx": [], "httpx each": [], "bare k6": [], "ours": []}
    for _ in range(ROUNDS):
        rates["httpx"].append(httpx_rate(name, MESSAGES))
        rates["httpx each"].append(httpx_rate(name, MESSAGES, "each"))
        rates["bare k6"].append(bare(name, MESSAGES)[0])
        rates["ours"].append(ours(name, MESSAGES)[0])
    print(
        f"\n{name}: {MESSAGES} messages, {SHAPES[name][0]} clients, {ROUNDS} rounds in turn; median (min–max)"
    )
    for generator, values in rates.items():
        print(f"  {generator:10} {spread(values, 0)} messages/s")
    for other in ("httpx", "httpx each", "bare k6"):
        print(f"  ours / {other:10} {spread(ratios(rates['ours'], rates[other]), 2)}")


def cost(name: str) -> None:
    slopes: dict[str, list[float]] = {"bare k6": [], "ours": []}
    for _ in range(ROUNDS):
        for generator, measure in (("bare k6", bare), ("ours", ours)):
            used = measure(name, LONG)[1] - measure(name, SHORT)[1]
            slopes[generator].append(used / (LONG - SHORT) * 1e6)
    print(f"\n{name}: CPU of k6 for one iteration, µs; median (min–max)")
    for generator, values in slopes.items():
        print(f"  {generator:10} {spread(values, 0)}")
    print(f"  ours / bare k6  {spread(ratios(slopes['ours'], slopes['bare k6']), 2)}")


def cost_of_users(folder: str) -> None:
    scripts = {"bare k6": str(HERE / "bare.js"), "ours": bundled("concurrent", folder)}
    cpu: dict[str, list[float]] = {generator: [] for generator in scripts}
    memory: dict[str, list[float]] = {generator: [] for generator in scripts}
    for _ in range(ROUNDS):
        for generator, script in scripts.items():
            few, many = (
                process(script, PROFILE="quick", CLIENTS=str(users), TOPICS="20", MESSAGES=str(SENT))
                for users in (FEW, MANY)
            )
            cpu[generator].append((many[0] - few[0]) / (MANY - FEW))
            memory[generator].append((many[1] - few[1]) / (MANY - FEW))
    print(f"\none more virtual user, from {FEW} to {MANY}; median (min–max)")
    for generator in scripts:
        print(f"  {generator:10} {spread(cpu[generator], 2)} ms of CPU, {spread(memory[generator], 2)} MiB")


if __name__ == "__main__":
    for shape in SHAPES:
        compare(shape)
    for shape in SHAPES:
        cost(shape)
    with tempfile.TemporaryDirectory() as scripts:
        cost_of_users(scripts)
