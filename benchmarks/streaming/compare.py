"""What does streaming to InfluxDB cost a run?

`make benchmark-streaming` runs it inside `sidecar testbed run influxdb`: `k6 x bench` publishes the same
messages to a new relay, ROUNDS times each without streaming, with ours, and with k6's own InfluxDB output.
Each round begins with another of them. It prints the median rate and CPU time of k6 over the load, the
ratios round by round, and whether they show that ours keeps to BOUND.
"""

import base64
import json
import math
import os
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

from measured import LEAST, ROOT, interval, shown

ROUNDS = int(os.environ.get("ROUNDS", "15"))
MESSAGES = os.environ.get("MESSAGES", "10000")
BOUND = 0.95  # of the rate without streaming
STREAMS = ("INFLUX", "INFLUX_USERNAME", "INFLUX_PASSWORD", "INFLUX_DATABASE")
# Variables of the caller that would stream in all three cases.
OTHERS = ("INFLUX_TOKEN", "K6_OUT", "ROUNDS")
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


def requests_in_influx(run_id: str) -> int:
    """Number of points of k6's metric http_reqs that a run has stored."""
    query = f"SELECT count(*) FROM http_reqs WHERE testid='{run_id}'"
    parameters = urllib.parse.urlencode({"db": os.environ["INFLUX_DATABASE"], "q": query})
    login = f"{os.environ['INFLUX_USERNAME']}:{os.environ['INFLUX_PASSWORD']}".encode()
    request = urllib.request.Request(
        f"{os.environ['INFLUX']}/query?{parameters}",
        headers={"Authorization": "Basic " + base64.b64encode(login).decode()},
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on loopback
    with direct.open(request, timeout=10) as answer:
        series = json.load(answer)["results"][0].get("series", [])
    return sum(count or 0 for one in series for row in one["values"] for count in row[1:])


def measure(way: str, turn: int) -> dict[str, float]:
    """Messages per second, and CPU time of k6 per message in µs."""
    place = list(WAYS).index(way)
    run_id = f"benchmark-streaming-{os.getpid()}-{turn}-{place}"
    dropped = STREAMS + OTHERS
    variables = {name: value for name, value in os.environ.items() if name not in dropped}
    variables |= {"PROFILE": "quick", "MESSAGES": MESSAGES, **WAYS[way]()}
    command = [str(ROOT / "bin/k6"), "x", "bench", "--only", "pulsar/ingest", "--run-id", run_id]
    folder = ROOT / "results" / run_id
    try:
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        # Other programs on the machine make a run inconclusive, but its figures are still valid.
        if done.returncode not in (PASS, INCONCLUSIVE) or done.stderr:
            sys.exit(f"{way}: exit code {done.returncode}: {done.stderr}{done.stdout}")
        result = json.loads((folder / "pulsar-ingest.json").read_text())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    streamed = requests_in_influx(run_id) > 0
    if streamed != (way != "none"):
        sys.exit(f"{way}: InfluxDB has {'' if streamed else 'no '}points of run {run_id}")
    operation = result["operations"][0]
    generator = next(row for row in result["processes"] if row["role"] == "generator")
    return {"rate": operation["rate_per_s"], "cpu": generator["cpu_s"] / operation["success"] * 1e6}


def main() -> None:
    if any(name not in os.environ for name in STREAMS):
        sys.exit("there is no InfluxDB: run `make benchmark-streaming`")
    if ROUNDS < LEAST:
        sys.exit(f"ROUNDS={ROUNDS} is too few for an interval; give {LEAST} or more")
    rounds: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for turn in range(ROUNDS):
        first = turn % len(WAYS)
        for way in list(WAYS)[first:] + list(WAYS)[:first]:
            rounds[way].append(measure(way, turn))
    print(f"pulsar/ingest, {MESSAGES} messages, {ROUNDS} rounds in turn; median (95 % interval)")
    for way, measured in rounds.items():
        rate, cpu = ([one[figure] for one in measured] for figure in ("rate", "cpu"))
        print(f"  {way:9} {shown(rate, 0):>22} messages/s {shown(cpu, 0):>20} µs CPU of k6 for each")
    least = {}
    for way in list(WAYS)[1:]:
        pairs = list(zip(rounds[way], rounds["none"], strict=True))
        rate, cpu = ([own[figure] / bare[figure] for own, bare in pairs] for figure in ("rate", "cpu"))
        print(f"  {way + ' / none':16} rate {shown(rate, 3)}, CPU of k6 {shown(cpu, 3)}")
        least[way] = math.floor(interval(rate)[0] * 1000) / 1000
    judged = "holds" if least["ours"] >= BOUND else "is not shown by these rounds"
    print(f"the rate with ours is at least {least['ours']:.3f} of that without (bound {BOUND}): {judged}")


if __name__ == "__main__":
    main()
