"""One run against the relay that `sidecar testbed run pulsar-relay` has started: plain, or of runners that a
coordinator keeps together. Prints its figures as one line of JSON.

    one.py SCENARIO PROFILE RUNNERS     RUNNERS=0: a plain `k6 run`
"""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
K6 = str(ROOT / "bin/k6")
# That others use the machine, or a bound is missed, makes a run inconclusive or fail, not wrong.
FAIL, PASS, INCONCLUSIVE = 99, 0, 3


def variables(run_id: str, profile: str) -> dict[str, str]:
    return os.environ | {"RUN_ID": run_id, "PROFILE": profile, "ENV": "local"}


def k6_run(scenario: str, *more: str) -> list[str]:
    return [K6, "run", "--quiet", "--no-usage-report", "--address", "", *more, f"scripts/{scenario}.js"]


def segment(number: int, runners: int) -> list[str]:
    """Of one of several, as docs/how-to/runners.md writes it."""
    ends = ["0", *[f"{i}/{runners}" for i in range(1, runners)], "1"]
    return [
        f"--execution-segment={ends[number]}:{ends[number + 1]}",
        f"--execution-segment-sequence={','.join(ends)}",
    ]


def plain(scenario: str, env: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True)
    done = subprocess.run(
        k6_run(scenario), cwd=ROOT, env=env | {"RESULT_DIR": str(folder)}, capture_output=True, text=True
    )
    if done.returncode not in (PASS, FAIL):
        sys.exit(f"{scenario}: exit code {done.returncode}: {done.stderr}")


def listening(coordinator: subprocess.Popen[str]) -> str:
    """Where it listens, as its first line says."""
    assert coordinator.stdout
    line = coordinator.stdout.readline()
    found = re.search(r"coordinator at (\S+)", line)
    if not found:
        sys.exit(f"the coordinator does not listen: {line}{coordinator.communicate()[1]}")
    return found[1]


def together(scenario: str, runners: int, env: dict[str, str]) -> float:
    """CPU time of the coordinator's whole life, as the kernel counts it, in seconds."""
    env = env | {"COORDINATOR_TOKEN": secrets.token_hex()}
    asked = ["--only", scenario, "--runners", str(runners), "--listen", "127.0.0.1:0", "--root", str(ROOT)]
    coordinator = subprocess.Popen(
        [K6, "x", "coordinate", *asked],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    own = env | {"COORDINATOR_URL": listening(coordinator)}
    started = [
        subprocess.Popen(
            k6_run(scenario, *segment(number, runners)),
            cwd=ROOT,
            env=own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(runners)
    ]
    said = [child.communicate()[1].decode() for child in started]
    if any(child.returncode not in (PASS, FAIL) for child in started):
        sys.exit(f"{scenario}: a runner failed: {''.join(said)}")
    assert coordinator.stdout and coordinator.stderr
    told = coordinator.stdout.read() + coordinator.stderr.read()
    _, status, used = os.wait4(coordinator.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (PASS, FAIL, INCONCLUSIVE):
        sys.exit(f"{scenario}: the coordinator failed: {told}")
    return used.ru_utime + used.ru_stime


def figures(result: dict[str, Any]) -> dict[str, Any]:
    """Of its first operation, which in full is the closed loop."""
    operation = result["operations"][0]
    latency = operation["latency_ms"]
    starts = [one["start_offset_ms"] for one in result.get("runners", [])]
    return {
        "verdict": result["verdict"],
        "reasons": [reason["text"] for reason in result["reasons"]],
        "operation": operation["name"],
        "requests": operation["requests"],
        "rate": operation["rate_per_s"],
        "p50": latency["p50"],
        "p95": latency["p95"],
        "p99": latency["p99"],
        "skew": max(starts) - min(starts) if len(starts) > 1 else None,
    }


def main() -> None:
    scenario, profile, runners = sys.argv[1], sys.argv[2], int(sys.argv[3])
    run_id = f"benchmark-runners-{os.getpid()}"
    folder = ROOT / "results" / run_id
    env = variables(run_id, profile)
    try:
        total = None
        if runners == 0:
            plain(scenario, env, folder)
        else:
            total = together(scenario, runners, env)
        result = json.loads((folder / f"{scenario.replace('/', '-')}.json").read_text())
        told = figures(result)
        if runners > 0:
            entry = json.loads((folder / "run.json").read_text())["scenarios"][0]
            told |= {"coordinator": entry["coordinator"], "coordinator_life_cpu_s": total}
            if entry["coordinator"]["cpu_s"] > total:
                sys.exit("the coordinator counts more CPU time than the kernel does for its whole life")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
