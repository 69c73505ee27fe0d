#!/usr/bin/env python3
"""rules.py ENGINE COUNT binary|source|inline SEED SOCKS_PORT SING_BOX

Writes the configuration of ENGINE into the current folder: SOCKS in, direct out, and COUNT rules that reject
their matches. Half of them are domain suffixes below .test, .example and .invalid (RFC 2606), half are IP
ranges from 11.0.0.0 to 126.255.255.0. A loopback address matches no rule, nor does `localhost`: a search
covers all.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

ZONES = ("test", "example", "invalid")
FIRST = 11 << 16
NETWORKS = 116 << 16
PREFIXES = (24, 26, 28)
XRAY_TAG = "WINDTUNNEL"  # xray looks for a tag in capitals


def domains(count: int, draw: random.Random) -> list[str]:
    step, start = draw.getrandbits(40) | 1, draw.getrandbits(40)
    return [f"x{(start + index * step) & 0xFFFFFFFFFF:010x}.{ZONES[index % 3]}" for index in range(count)]


def networks(count: int, draw: random.Random) -> list[tuple[int, int]]:
    """Different /24 networks, and the length of the prefix."""
    # NETWORKS is 2^18 times 29, so that the step has no factor in common with it.
    step = draw.randrange(NETWORKS // 4, NETWORKS // 2) * 58 + 1
    return [(FIRST + index * step % NETWORKS, PREFIXES[index % 3]) for index in range(count)]


def written(network: tuple[int, int]) -> str:
    number, prefix = network
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}.0/{prefix}"


def varint(number: int) -> bytes:
    low, more = number & 127, number >> 7
    return bytes([low | 128]) + varint(more) if more else bytes([low])


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that has a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def listed(entries: Iterable[bytes]) -> bytes:
    """A GeoSiteList or a GeoIPList of xray (common/geodata) with one entry."""
    return field(1, field(1, XRAY_TAG.encode()) + b"".join(field(2, entry) for entry in entries))


def xray_files(names: list[str], ranges: list[tuple[int, int]]) -> tuple[list[str], list[str]]:
    suffix = b"\x08\x02"  # field 1, type: 2 is a domain with its subdomains
    with open("names.dat", "wb") as file:
        file.write(listed(suffix + field(2, name.encode()) for name in names))
    entries = (field(1, (number << 8).to_bytes(4)) + b"\x10" + varint(prefix) for number, prefix in ranges)
    with open("ranges.dat", "wb") as file:
        file.write(listed(entries))
    return [f"ext:names.dat:{XRAY_TAG}"], [f"ext:ranges.dat:{XRAY_TAG}"]


def xray(names: list[str], ranges: list[tuple[int, int]], form: str, port: int) -> dict[str, Any]:
    if form == "binary":
        domain, ip = xray_files(names, ranges)
    else:
        domain, ip = [f"domain:{name}" for name in names], [written(one) for one in ranges]
    rules = [{"domain": domain, "outboundTag": "reject"}, {"ip": ip, "outboundTag": "reject"}]
    return {
        "log": {"loglevel": "warning", "access": "none"},
        "inbounds": [
            {"listen": "127.0.0.1", "port": port, "protocol": "socks", "settings": {"auth": "noauth"}}
        ],
        "outbounds": [
            {"protocol": "freedom", "tag": "direct"},
            {"protocol": "blackhole", "tag": "reject"},
        ],
        "routing": {"domainStrategy": "AsIs", "rules": rules if names else []},
    }


def sing_box(
    names: list[str], ranges: list[tuple[int, int]], form: str, port: int, program: str
) -> dict[str, Any]:
    match: dict[str, Any] = {"domain_suffix": names, "ip_cidr": [written(one) for one in ranges]}
    # sing-box 1.14 ignores the system's file of hosts for localhost.
    hosts = {"type": "hosts", "tag": "hosts", "predefined": {"localhost": ["127.0.0.1"]}}
    route: dict[str, Any] = {"final": "direct", "default_domain_resolver": "hosts"}
    if names and form != "inline":
        with open("rules.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "rules": [match]}, file)
        if form == "binary":
            compiles = [program, "rule-set", "compile", "--output", "rules.srs", "rules.json"]
            subprocess.run(compiles, check=True)
        path = "rules.srs" if form == "binary" else "rules.json"
        route["rule_set"] = [{"type": "local", "tag": "rules", "format": form, "path": path}]
        match = {"rule_set": ["rules"]}
    if names:
        route["rules"] = [match | {"action": "reject"}]
    return {
        "log": {"level": "warn"},
        "dns": {"servers": [hosts]},
        "inbounds": [{"type": "socks", "tag": "socks", "listen": "127.0.0.1", "listen_port": port}],
        "outbounds": [{"type": "direct", "tag": "direct"}],
        "route": route,
    }


def main() -> None:
    engine, count, form, seed, port, program = sys.argv[1:]
    draw = random.Random(int(seed))
    names = domains((int(count) + 1) // 2, draw)
    ranges = networks(int(count) // 2, draw)
    if engine == "xray":
        config = xray(names, ranges, form, int(port))
    else:
        config = sing_box(names, ranges, form, int(port), program)
    with open("proxy.json", "w", encoding="utf-8") as file:
        json.dump(config, file)


if __name__ == "__main__":
    main()
