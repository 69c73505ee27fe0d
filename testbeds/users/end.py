#!/usr/bin/env python3
"""end.py server|client ENGINE PROTOCOL USERS SERVER_PORT GATE_PORT PROGRAM PORT…

Writes the configuration of one end, and becomes PROGRAM. With a gate (GATE_PORT above 0), the program
starts at the first connection to the gate. PORTs are where the client takes SOCKS: for the first, the
middle and the last user.

The key of user INDEX (from 0) is HMAC-SHA256(SEED, "user-INDEX"), as the protocol writes keys. The server's
own key is that of "server".
"""

import base64
import hashlib
import hmac
import json
import os
import socket
import sys
import uuid
from typing import Any

METHOD_2022 = "2022-blake3-aes-128-gcm"
METHOD = "chacha20-ietf-poly1305"


def key_of(protocol: str, name: str) -> str:
    drawn = hmac.digest(os.environ["SEED"].encode(), name.encode(), hashlib.sha256)
    if protocol == "vless":
        return str(uuid.UUID(bytes=drawn[:16], version=4))
    if protocol == "shadowsocks-2022":
        return base64.b64encode(drawn[:16]).decode()
    return drawn[:16].hex()


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
    return {
        "log": {"loglevel": "warning", "access": "none"},
        "inbounds": [
            {
                "listen": "127.0.0.1",
                "port": port,
                "protocol": protocol.removesuffix("-2022"),
                "settings": settings,
            }
        ],
        "outbounds": [{"protocol": "freedom"}],
    }


def sing_box_server(protocol: str, keys: list[str], port: int) -> dict[str, Any]:
    field = {"vless": "uuid"}.get(protocol, "password")
    users = [{"name": f"user-{index}", field: key} for index, key in enumerate(keys)]
    inbound = {
        "type": protocol.removesuffix("-2022"),
        "listen": "127.0.0.1",
        "listen_port": port,
        "users": users,
    }
    if protocol == "shadowsocks":
        sys.exit("sing-box has many users of Shadowsocks only in the edition 2022: choose shadowsocks-2022")
    if protocol == "shadowsocks-2022":
        inbound |= {"method": METHOD_2022, "password": key_of(protocol, "server")}
    return {"log": {"level": "warn"}, "inbounds": [inbound], "outbounds": [{"type": "direct"}]}


def client(protocol: str, keys: list[str], server_port: int, ports: list[int]) -> dict[str, Any]:
    """One sing-box, whatever the server is, so that the client is the same for all servers."""
    server = {"type": protocol.removesuffix("-2022"), "server": "127.0.0.1", "server_port": server_port}
    outbounds = []
    for index, port in zip((0, (len(keys) - 1) // 2, len(keys) - 1), ports, strict=True):
        own = {"uuid": keys[index]} if protocol == "vless" else {"password": keys[index]}
        if protocol == "shadowsocks":
            own["method"] = METHOD
        elif protocol == "shadowsocks-2022":
            own = {"method": METHOD_2022, "password": f"{key_of(protocol, 'server')}:{keys[index]}"}
        outbounds.append(server | own | {"tag": f"out-{port}"})
    return {
        "log": {"level": "fatal"},
        "inbounds": [
            {"type": "socks", "tag": f"in-{port}", "listen": "127.0.0.1", "listen_port": port}
            for port in ports
        ],
        "outbounds": outbounds,
        "route": {"rules": [{"inbound": f"in-{port}", "outbound": f"out-{port}"} for port in ports]},
    }


def main() -> None:
    end, engine, protocol, users, server_port, gate, program, *ports = sys.argv[1:]
    keys = [key_of(protocol, f"user-{index}") for index in range(int(users))]
    if end == "client":
        config = client(protocol, keys, int(server_port), [int(port) for port in ports])
    else:
        config = (xray_server if engine == "xray" else sing_box_server)(protocol, keys, int(server_port))
    path = f"{end}.json"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(config, file)
    if int(gate):
        with socket.create_server(("127.0.0.1", int(gate))) as listener:
            listener.accept()[0].close()
    del os.environ["SEED"]
    os.execv(program, [program, "run", "-c", path])


if __name__ == "__main__":
    main()
