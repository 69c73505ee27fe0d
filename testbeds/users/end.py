#!/usr/bin/env python3
"""end.py server|client ENGINE PROTOCOL USERS SERVER_PORT GATE_PORT PROGRAM [PORT]

Writes the configuration of one end, and becomes PROGRAM. With a gate (GATE_PORT above 0), the program
starts at the first connection to the gate. PORT is where the client takes SOCKS for the first user.

With CHARGED_PORT above 0, the server counts the bytes of each user, and tells them by gRPC at this port. It
has a parent then, which kills it at each connection to the gate, as a crash would, and starts it again. The
client takes SOCKS at this port with the name of a user as login and password, for all users.

With CHANGED_PORT above 0, xray takes changes of its users by gRPC at this port.

The key of user INDEX (from 0) is the first half of HMAC-SHA256(SEED, "user-INDEX") in hexadecimal. A key of
Shadowsocks 2022 is the first 16 of these letters, in base64. The server's own key is that of "server".
lib/users/testbed.js makes the same keys.
"""

import base64
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any, Never

METHOD_2022 = "2022-blake3-aes-128-gcm"
METHOD = "chacha20-ietf-poly1305"
CHARGED_PORT = int(os.environ.pop("CHARGED_PORT", "0"))
CHANGED_PORT = int(os.environ.pop("CHANGED_PORT", "0"))
# In PEM; empty without TLS.
CERTIFICATE, KEY = (os.environ.pop(f"TLS_{part}", "").split("|") for part in ("CERTIFICATE", "KEY"))
TLS = CERTIFICATE != [""]


def key_of(protocol: str, name: str) -> str:
    key = hmac.new(os.environ["SEED"].encode(), name.encode(), hashlib.sha256).hexdigest()[:32]
    return base64.b64encode(key[:16].encode()).decode() if protocol == "shadowsocks-2022" else key


def xray_server(protocol: str, keys: list[str], port: int) -> dict[str, Any]:
    field = {"vless": "id"}.get(protocol, "password")
    clients = [{field: key, "email": f"user-{index}"} for index, key in enumerate(keys)]
    settings: dict[str, Any] = {"clients": clients}
    if protocol == "vless":
        settings["decryption"] = "none"
    elif protocol == "shadowsocks-2022":
        settings |= {"method": METHOD_2022, "password": key_of(protocol, "server")}
    elif protocol == "shadowsocks":
        for client in clients:
            client["method"] = METHOD
    if protocol.startswith("shadowsocks"):
        settings["network"] = "tcp,udp"
    config: dict[str, Any] = {
        "log": {"loglevel": "warning", "access": "none"},
        "inbounds": [
            {
                "tag": "users",
                "listen": "127.0.0.1",
                "port": port,
                "protocol": protocol.removesuffix("-2022"),
                "settings": settings,
            }
        ],
        "outbounds": [{"protocol": "freedom"}],
    }
    if CHANGED_PORT:
        address = f"127.0.0.1:{CHANGED_PORT}"
        config["api"] = {"tag": "api", "listen": address, "services": ["HandlerService"]}
    if TLS:
        tls = {"certificates": [{"certificate": CERTIFICATE, "key": KEY}]}
        config["inbounds"][0]["streamSettings"] = {"security": "tls", "tlsSettings": tls}
    if CHARGED_PORT:
        address = f"127.0.0.1:{CHARGED_PORT}"
        counts = {"statsUserUplink": True, "statsUserDownlink": True}
        config |= {"stats": {}, "policy": {"levels": {"0": counts}}}
        config["api"] = {"tag": "api", "listen": address, "services": ["StatsService"]}
    return config


def sing_box_server(protocol: str, keys: list[str], port: int) -> dict[str, Any]:
    field = {"vless": "uuid"}.get(protocol, "password")
    users = [{"name": f"user-{index}", field: key} for index, key in enumerate(keys)]
    inbound: dict[str, Any] = {
        "type": protocol.removesuffix("-2022"),
        "listen": "127.0.0.1",
        "listen_port": port,
        "users": users,
    }
    if protocol == "shadowsocks":
        sys.exit("sing-box has many users of Shadowsocks only in the edition 2022: choose shadowsocks-2022")
    if protocol == "shadowsocks-2022":
        inbound |= {"method": METHOD_2022, "password": key_of(protocol, "server")}
    if TLS:
        inbound["tls"] = {"enabled": True, "certificate": CERTIFICATE, "key": KEY}
    config = {"log": {"level": "warn"}, "inbounds": [inbound], "outbounds": [{"type": "direct"}]}
    if CHARGED_PORT:
        counted = {"enabled": True, "users": [user["name"] for user in users]}
        api = {"listen": f"127.0.0.1:{CHARGED_PORT}", "stats": counted}
        config["experimental"] = {"v2ray_api": api}
    return config


def mihomo_server(protocol: str, keys: list[str], port: int) -> dict[str, Any]:
    if not TLS or CHARGED_PORT:
        sys.exit(
            "mihomo has many users only in TLS, and no statistics of users: set tls=true, without charged"
        )
    field = {"vless": "uuid"}.get(protocol, "password")
    listener = {
        # mihomo refuses a name that is also a field here.
        "name": "hop",
        "type": protocol,
        "listen": "127.0.0.1",
        "port": port,
        "users": [{"username": f"user-{index}", field: key} for index, key in enumerate(keys)],
        "certificate": "\n".join(CERTIFICATE),
        "private-key": "\n".join(KEY),
    }
    return {
        "log-level": "warning",
        "ipv6": True,
        "find-process-mode": "off",
        "profile": {"store-selected": False},
        "listeners": [listener],
        "rules": ["MATCH,DIRECT"],
    }


SERVERS = {"xray": xray_server, "sing-box": sing_box_server, "mihomo": mihomo_server}


def client(protocol: str, keys: list[str], server_port: int, port: int) -> dict[str, Any]:
    """One sing-box, whatever the server is, so that the client is the same for all servers."""
    server = {"type": protocol.removesuffix("-2022"), "server": "127.0.0.1", "server_port": server_port}

    def outbound(tag: str, key: str) -> dict[str, Any]:
        own: dict[str, Any] = {"uuid": key} if protocol == "vless" else {"password": key}
        if protocol == "shadowsocks":
            own["method"] = METHOD
        elif protocol == "shadowsocks-2022":
            own = {"method": METHOD_2022, "password": f"{key_of(protocol, 'server')}:{key}"}
        if TLS:
            own["tls"] = {"enabled": True, "insecure": True}
        return server | own | {"tag": tag}

    def socks(tag: str, port: int) -> dict[str, Any]:
        return {"type": "socks", "tag": tag, "listen": "127.0.0.1", "listen_port": port}

    config: dict[str, Any] = {
        "log": {"level": "fatal"},
        "inbounds": [socks("first", port)],
        "outbounds": [outbound("first", keys[0])],
        "route": {"rules": []},
    }
    if CHARGED_PORT:
        names = [f"user-{index}" for index in range(len(keys))]
        logins = [{"username": name, "password": name} for name in names]
        config["inbounds"].append(socks("users", CHARGED_PORT) | {"users": logins})
        config["outbounds"] += [outbound(name, key) for name, key in zip(names, keys, strict=True)]
        config["route"]["rules"] += [
            {"inbound": "users", "auth_user": [name], "outbound": name} for name in names
        ]
    return config


def run_again(command: list[str], gate: int) -> Never:
    """Runs a program, and kills it and starts it again at each connection to the gate. Ends with it."""
    child = subprocess.Popen(command)
    restarting = False

    def ended(*_: object) -> None:
        if not restarting and child.poll() is not None:
            sys.exit(1)

    def end(*_: object) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        child.terminate()
        child.wait()
        sys.exit(0)

    signal.signal(signal.SIGCHLD, ended)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with socket.create_server(("127.0.0.1", gate)) as listener:
        while True:
            connection, _ = listener.accept()
            restarting = True
            child.kill()
            child.wait()
            child = subprocess.Popen(command)
            restarting = False
            connection.close()


def main() -> None:
    end, engine, protocol, users, server_port, gate, program, *port = sys.argv[1:]
    keys = [key_of(protocol, f"user-{index}") for index in range(int(users))]
    if TLS and protocol.startswith("shadowsocks"):
        sys.exit("Shadowsocks has no TLS: choose vless or trojan, or leave tls out")
    if end == "client":
        config = client(protocol, keys, int(server_port), int(port[0]))
    else:
        config = SERVERS[engine](protocol, keys, int(server_port))
    path = f"{end}.json"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(config, file)
    command = [program, *(["-d", ".", "-f"] if engine == "mihomo" else ["run", "-c"]), path]
    del os.environ["SEED"]
    if CHARGED_PORT and end == "server":
        run_again(command, int(gate))
    if int(gate):
        with socket.create_server(("127.0.0.1", int(gate))) as listener:
            listener.accept()[0].close()
    os.execv(program, command)


if __name__ == "__main__":
    main()
