"""Runs 3x-ui in the working folder, with one Shadowsocks inbound, on loopback.

Usage: start.py BIN HTTP_PORT XRAY_API_PORT INBOUND_PORT    BIN has the programs 3x-ui and xray

The settings go into its database before it starts: its own ones listen everywhere, and need geoip.dat. 3x-ui
cannot store an inbound without clients, so the inbound has one that stays.
"""

import json
import os
import secrets
import sqlite3
import subprocess
import sys
from typing import Any

INBOUND = 1
METHOD = "chacha20-ietf-poly1305"
UNLIMITED = {"enable": 1, "up": 0, "down": 0, "total": 0, "expiry_time": 0}


def xray_config(api_port: int) -> dict[str, Any]:
    """3x-ui adds its inbounds to this. It finds the API by the tag."""
    api = {
        "tag": "api",
        "listen": "127.0.0.1",
        "port": api_port,
        "protocol": "dokodemo-door",
        "settings": {"address": "127.0.0.1"},
    }
    return {
        "log": {"loglevel": "warning", "access": "none"},
        "api": {"tag": "api", "services": ["HandlerService", "StatsService"]},
        "stats": {},
        "policy": {"levels": {"0": {"statsUserUplink": True, "statsUserDownlink": True}}},
        "inbounds": [api],
        "outbounds": [{"protocol": "freedom"}],
        "routing": {"rules": [{"type": "field", "inboundTag": ["api"], "outboundTag": "api"}]},
    }


def insert(database: sqlite3.Connection, table: str, **row: str | int) -> None:
    """Adds a row. Names of tables and columns are constants of this file."""
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


def fill(http_port: int, api_port: int, inbound_port: int) -> None:
    """Fills the database."""
    keeper = {"email": "keeper", "password": secrets.token_hex(16), "method": METHOD, "enable": True}
    settings = {
        "webListen": "127.0.0.1",
        "webPort": str(http_port),
        "timeLocation": "UTC",
        "xrayTemplateConfig": json.dumps(xray_config(api_port)),
    }
    with sqlite3.connect("x-ui.db") as database:
        database.execute("UPDATE users SET username = 'admin', password = ?", [os.environ["PANEL_PASSWORD"]])
        for key, value in settings.items():
            database.execute("DELETE FROM settings WHERE key = ?", [key])
            insert(database, "settings", key=key, value=value)
        insert(
            database,
            "inbounds",
            id=INBOUND,
            user_id=1,
            remark="",
            listen="127.0.0.1",
            port=inbound_port,
            protocol="shadowsocks",
            settings=json.dumps({"method": METHOD, "network": "tcp", "clients": [keeper]}),
            stream_settings=json.dumps({"network": "tcp"}),
            tag=f"inbound-{inbound_port}",
            sniffing="{}",
            **UNLIMITED,
        )
        insert(database, "client_traffics", inbound_id=INBOUND, email="keeper", **UNLIMITED)


def main() -> None:
    """Makes the database, fills it, and becomes 3x-ui."""
    folder, *ports = sys.argv[1:]
    program = f"{folder}/3x-ui"
    os.mkdir("bin")
    for architecture in ("amd64", "arm64"):
        os.symlink(f"{folder}/xray", f"bin/xray-linux-{architecture}")
    subprocess.run([program, "setting"], check=True)
    fill(*map(int, ports))
    os.execv(program, [program, "run"])


main()
